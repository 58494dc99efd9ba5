/* Whatever a program may do with signals, timers and stacks, while samples interrupt it. Each case uses
 * processor time; what it prints must not tell whether anybody took samples meanwhile. */
#include "odd.h"
#include <dlfcn.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

/* The signal that samples come with, unless somebody has it. */
#define SAMPLES (SIGRTMAX - 4)

static volatile double sink;

/* Processor time of the calling thread, ms. */
static double used(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}
static __attribute__((noinline)) void compute(int rounds) {
    double sum = 0;
    for (int i = 1; i < rounds; i++) sum += exp(-i * 1e-3) / i;
    sink = sum;
}
static void burn(double ms) {
    for (double until = used() + ms; used() < until;) compute(200);
}

static void *stays(void *until) {
    while (sem_wait(until) != 0) {}
    return 0;
}

/* Calls that wait for a moment, of which no sample may make one return early. In a program of several threads the C
 * library makes them otherwise. */
static void waits(void) {
    sem_t end;
    sigset_t none;
    pthread_t thread;
    sigemptyset(&none);
    CHECK(!sem_init(&end, 0, 0) && !pthread_create(&thread, 0, stays, &end));
    unsigned interrupted = 0, early = 0;
    int epoll = epoll_create1(EPOLL_CLOEXEC), ends[2];
    sem_t sem;
    CHECK(epoll >= 0 && !sem_init(&sem, 0, 0) && !pipe(ends));
    /* So many that looking at them takes a while before it waits. */
    static struct pollfd many[1000];
    for (int i = 0; i < 1000; i++) many[i] = (struct pollfd){ends[0], POLLIN, 0};
    for (double until = used() + 250; used() < until;) {
        struct timespec no_time = {0, 1000}, now;
        struct timeval no_timeval = {0, 1};
        errno = 0;
        for (int i = 0; i < 20; i++) interrupted += poll(many, 1000, i == 0) < 0;
        interrupted += select(0, 0, 0, 0, &no_timeval) < 0;
        interrupted += nanosleep(&no_time, 0) < 0;
        struct epoll_event event;
        interrupted += epoll_wait(epoll, &event, 1, 0) < 0;
        interrupted += usleep(1) < 0;
        interrupted += ppoll(0, 0, &no_time, 0) < 0;
        interrupted += pselect(0, 0, 0, 0, &no_time, &none) < 0;
        interrupted += epoll_pwait(epoll, &event, 1, 1, &none) < 0;
        clock_gettime(CLOCK_REALTIME, &now);
        interrupted += sem_timedwait(&sem, &now) < 0 && errno == EINTR;
        early += clock_nanosleep(CLOCK_MONOTONIC, 0, &no_time, 0) != 0;
    }
    close(epoll), close(ends[0]), close(ends[1]);
    CHECK(!sem_post(&end) && !pthread_join(thread, 0));
    printf("%u interrupted, %u early\n", interrupted, early);
}

static volatile sig_atomic_t counted;
static void counts(int signal) { (void)signal, counted++; }
static void handle(int signal, void (*handler)(int), int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    CHECK(!sigaction(signal, &action, 0));
}

/* Its own timers of both kinds. */
static void timers(void) {
    struct itimerval every = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
    handle(SIGPROF, counts, SA_RESTART);
    CHECK(!setitimer(ITIMER_PROF, &every, 0));
    burn(210);
    CHECK(!setitimer(ITIMER_PROF, &never, 0));
    /* Alone it is 10, and some more on a loaded machine: the kernel counts ticks. */
    int profiled = counted;
    timer_t timer;
    struct sigevent event;
    sigset_t set;
    siginfo_t info;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGRTMIN + 1;
    event.sigev_value.sival_int = 77;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 1);
    CHECK(!pthread_sigmask(SIG_BLOCK, &set, 0));
    CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer));
    struct itimerspec times = {{0, 2000000}, {0, 2000000}};
    CHECK(!timer_settime(timer, 0, &times, 0));
    for (int i = 0; i < 10; i++) {
        CHECK(sigwaitinfo(&set, &info) == SIGRTMIN + 1);
        CHECK(info.si_value.sival_int == 77);
        burn(1);
    }
    CHECK(!timer_delete(timer));
    printf("%s\n", profiled >= 1 && profiled <= 20 ? "as many as there should be" : "too many or too few");
}

/* The very signal that samples come with, unless somebody has it: from a timer of its own, from a descriptor, and as its
 * end. */
static void shares(void) {
    timer_t timer;
    struct sigevent event;
    sigset_t set;
    siginfo_t info;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SAMPLES;
    event.sigev_value.sival_int = 77;
    burn(20);
    pid_t child = fork();
    if (child == 0) {
        VISIT("child");
        burn(20);
        raise(SAMPLES);
        _exit(3);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    sigemptyset(&set);
    sigaddset(&set, SAMPLES);
    CHECK(!pthread_sigmask(SIG_BLOCK, &set, 0));
    CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer));
    struct itimerspec times = {{0, 2000000}, {0, 2000000}};
    CHECK(!timer_settime(timer, 0, &times, 0));
    for (int i = 0; i < 10; i++) {
        CHECK(sigwaitinfo(&set, &info) == SAMPLES);
        CHECK(info.si_value.sival_int == 77);
        burn(1);
    }
    CHECK(!timer_delete(timer));
    while (sigtimedwait(&set, 0, &(struct timespec){0, 0}) > 0) {}
    struct signalfd_siginfo read_info;
    int file = signalfd(-1, &set, SFD_CLOEXEC);
    union sigval value = {.sival_int = 5};
    CHECK(file >= 0 && !sigqueue(getpid(), SAMPLES, value));
    CHECK(read(file, &read_info, sizeof read_info) == sizeof read_info && read_info.ssi_int == 5);
    close(file);
    printf("%d, and got all\n", WIFSIGNALED(status) ? WTERMSIG(status) - SIGRTMAX : 99);
}

/* Blocks everything, and looks whether it is so. */
static void blocks(void) {
    sigset_t all, now, pending;
    sigfillset(&all);
    CHECK(!pthread_sigmask(SIG_SETMASK, &all, 0));
    burn(60);
    CHECK(!pthread_sigmask(SIG_BLOCK, 0, &now) && !sigpending(&pending));
    int blocked = 0, waiting = 0;
    for (int signal = 1; signal < NSIG; signal++) {
        blocked += sigismember(&now, signal) == 1;
        waiting += sigismember(&pending, signal) == 1;
    }
    sigemptyset(&all);
    sigaddset(&all, SAMPLES);
    CHECK(!sigprocmask(SIG_UNBLOCK, &all, 0) && !sigprocmask(SIG_BLOCK, 0, &now));
    printf("%d blocked, %d pending, %d after\n", blocked, waiting, sigismember(&now, SAMPLES));
    burn(20);
}

/* Has no handler for anything, whatever there was. */
static void resets(void) {
    struct sigaction before;
    int handlers = 0;
    for (int signal_ = 1; signal_ < NSIG; signal_++) {
        if (signal_ == SIGKILL || signal_ == SIGSTOP || signal_ == 32 || signal_ == 33) continue;
        CHECK(!sigaction(signal_, 0, &before));
        handlers += before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN;
        CHECK(signal(signal_, SIG_DFL) != SIG_ERR);
    }
    burn(100);
    printf("%d handlers\n", handlers);
}

/* Wants the very signal. */
static void takes(void) {
    burn(20);
    handle(SAMPLES, counts, SA_RESTART);
    burn(40);
    raise(SAMPLES);
    burn(40);
    printf("%d\n", counted);
}

static void *sends(void *to) {
    for (int i = 0; i < 20; i++) {
        burn(2);
        CHECK(!pthread_kill(*(pthread_t *)to, SIGUSR1));
        CHECK(!pthread_kill(*(pthread_t *)to, SIGUSR2));
    }
    return 0;
}
/* Waits for every signal there is, by three ways. */
static void receives(void) {
    sigset_t all;
    pthread_t me = pthread_self(), thread;
    int seen[3] = {0, 0, 0}, number;
    sigfillset(&all);
    sigdelset(&all, SIGINT), sigdelset(&all, SIGTERM), sigdelset(&all, SIGALRM);
    CHECK(!pthread_sigmask(SIG_BLOCK, &all, 0));
    int fd = signalfd(-1, &all, SFD_CLOEXEC);
    CHECK(fd >= 0 && !pthread_create(&thread, 0, sends, &me));
    struct timespec soon = {0, 1000000};
    for (int way = 0; seen[0] + seen[1] < 4 && seen[2] == 0; way++) {
        burn(1);
        if (way % 3 == 0) {
            struct signalfd_siginfo info;
            struct pollfd ready = {fd, POLLIN, 0};
            if (poll(&ready, 1, 1) != 1) continue;
            CHECK(read(fd, &info, sizeof info) == sizeof info);
            number = (int)info.ssi_signo;
        } else if ((number = sigtimedwait(&all, 0, &soon)) < 0) {
            continue;
        }
        seen[number == SIGUSR1 ? 0 : number == SIGUSR2 ? 1 : 2]++;
    }
    CHECK(!pthread_join(thread, 0));
    close(fd);
    printf("%d others\n", seen[2]);
}

/* Stacks that are nobody's, with a page before and behind that may not be touched. */
static ucontext_t main_context, contexts[4];
static void climbs(int depth) {
    compute(60);
    if (depth > 0) climbs(depth - 1);
    else swapcontext(&contexts[0], &main_context);
    sink = sink + 1;
}
static void coroutine(void) {
    for (;;) climbs(20);
}
static void coroutines(void) {
    size_t page = 4096, stack = 8 * page;
    char *at = mmap(0, stack + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(at != MAP_FAILED && !mprotect(at + page, stack, PROT_READ | PROT_WRITE));
    CHECK(!getcontext(&contexts[0]));
    contexts[0].uc_stack.ss_sp = at + page;
    contexts[0].uc_stack.ss_size = stack;
    makecontext(&contexts[0], coroutine, 0);
    for (double until = used() + 150; used() < until;) CHECK(!swapcontext(&main_context, &contexts[0]));
    puts("switched");
}

static jmp_buf back;
static void falls(int depth) {
    compute(20);
    if (depth == 0) longjmp(back, 1);
    if (depth > 0) falls(depth - 1);
    sink = sink + 1;
}
static void jumps(void) {
    for (volatile int i = 0; i < 20000; i++)
        if (!setjmp(back)) WITHIN("falls", falls(30));
    puts("fallen");
}

static int deeper(int depth) {
    compute(2);
    int below = depth > 0 ? deeper(depth - 1) : 0;
    sink = sink + below;
    return below + 1;
}
static void deep(void) {
    int depth = 0;
    for (double until = used() + 150; used() < until;) depth = deeper(50000);
    printf("%d deep\n", depth);
}

/* Registers and a stack that lead nowhere. */
static void corrupt(void) {
    static uint64_t nowhere[8192]; /* the kernel puts a signal's record there */
    for (int i = 0; i < 8192; i++)
        nowhere[i] = odd_below(2) ? (uint64_t)&nowhere[odd_below(8192)] : 0x7fff00001000u + i;
#ifdef __x86_64__
    for (double until = used() + 100; used() < until;) {
        uint64_t rounds = 300000;
        __asm__ volatile(
            "mov %%rsp, %%r12\n\t"
            "mov %%rbp, %%r13\n\t"
            "mov %1, %%rsp\n\t"
            "mov %2, %%rbp\n"
            "1:\n\t"
            "dec %0\n\t"
            "jnz 1b\n\t"
            "mov %%r12, %%rsp\n\t"
            "mov %%r13, %%rbp\n\t"
            : "+a"(rounds)
            : "c"(&nowhere[4096]), "d"(odd_below(2) ? 0x10u : (uint64_t)&nowhere[4100])
            : "r12", "r13", "memory", "cc");
    }
#endif
    puts("unharmed");
}

static void burns(int signal) {
    (void)signal;
    WITHIN("handler", burn(30));
}
static void altstack(void) {
    stack_t own = {.ss_sp = malloc(65536), .ss_size = 65536}, before;
    CHECK(own.ss_sp && !sigaltstack(&own, &before));
    handle(SIGUSR1, burns, SA_ONSTACK);
    for (int i = 0; i < 4; i++) raise(SIGUSR1);
    printf("%d\n", before.ss_flags == SS_DISABLE);
}

/* Code that no table knows, which calls code that some does. */
static void generated(void) {
    /* sub rsp, 8; mov rax, rdi; mov edi, esi; call rax; add rsp, 8; then a loop, and ret */
    static const unsigned char code[] = {0x48, 0x83, 0xec, 8,    0x48, 0x89, 0xf8, 0x89, 0xf7, 0xff, 0xd0, 0x48,
                                         0x83, 0xc4, 8,    0xb9, 0,    0,    2,    0,    0xff, 0xc9, 0x75, 0xfc,
                                         0xc3};
    void *at = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(at != MAP_FAILED);
    memcpy(at, code, sizeof code);
    CHECK(!mprotect(at, 4096, PROT_READ | PROT_EXEC));
#ifdef __x86_64__
    for (double until = used() + 100; used() < until;) ((void (*)(void (*)(int), int))at)(compute, 5000);
#endif
    puts("called");
}

static void forks(void) {
    int sum = 0;
    for (int i = 0; i < 8; i++) {
        burn(6);
        pid_t child = fork();
        if (child == 0) {
            burn(12);
            if (i % 2) VISIT("child");
            burn(12);
            if (i % 4 == 3) _exit(i);
            exit(i);
        }
        CHECK(child > 0);
        sum += odd_wait(child);
    }
    printf("%d\n", sum);
}

static void *burns_a_little(void *way) {
    VISIT("thread");
    burn(4);
    if ((long)way % 3 == 0) pthread_exit(0);
    return 0;
}
static void threads(void) {
    for (long i = 0; i < 60; i++) {
        pthread_t thread;
        CHECK(!pthread_create(&thread, 0, burns_a_little, (void *)i));
        CHECK(!pthread_join(thread, 0));
    }
    puts("joined");
}
static void *spins(void *nothing) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);
    for (;;) compute(100);
    return nothing;
}
static void cancels(void) {
    for (int i = 0; i < 10; i++) {
        pthread_t thread;
        void *result = 0;
        CHECK(!pthread_create(&thread, 0, spins, 0));
        burn(5 + odd_below(5));
        CHECK(!pthread_cancel(thread) && !pthread_join(thread, &result));
        CHECK(result == PTHREAD_CANCELED);
    }
    puts("cancelled");
}

static void *loads(void *until) {
    while (!*(volatile int *)until) {
        void *library = dlopen("libutil.so.1", RTLD_NOW), *other = dlopen("libresolv.so.2", RTLD_NOW);
        if (other) dlclose(other);
        if (library) dlclose(library);
    }
    return 0;
}
static void loaded(void) {
    int end = 0;
    pthread_t thread;
    CHECK(!pthread_create(&thread, 0, loads, &end));
    burn(150);
    end = 1;
    CHECK(!pthread_join(thread, 0));
    puts("loaded");
}

/* A mask of its own while it waits, and nothing that is missed. */
static void suspends(void) {
    sigset_t alarm, before;
    struct itimerval every = {{0, 3000}, {0, 3000}}, never = {{0, 0}, {0, 0}};
    handle(SIGALRM, counts, 0);
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    CHECK(!sigprocmask(SIG_BLOCK, &alarm, &before));
    CHECK(!setitimer(ITIMER_REAL, &every, 0));
    int rounds = 0;
    for (; rounds < 40; rounds++) {
        int until = counted + 1;
        burn(2);
        while (counted < until) CHECK(sigsuspend(&before) < 0 && errno == EINTR);
    }
    CHECK(!setitimer(ITIMER_REAL, &never, 0));
    printf("%d\n", rounds);
}

/* Waits for a signal that comes once and then no more, as often as is said. */
static void awaits(void) {
    sigset_t alarm, none;
    struct itimerval once = {{0, 0}, {0, 300}};
    const int rounds = 2000;
    handle(SIGALRM, counts, 0);
    sigemptyset(&none);
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    CHECK(!sigprocmask(SIG_BLOCK, &alarm, 0));
    for (int i = 0; i < rounds; i++) {
        CHECK(!setitimer(ITIMER_REAL, &once, 0));
        CHECK(sigsuspend(&none) < 0 && errno == EINTR);
    }
    struct sigaction known;
    CHECK(!sigaction(SIGALRM, 0, &known) && known.sa_handler == counts);
    CHECK(signal(SIGALRM, SIG_DFL) == counts);
    printf("%d of %d\n", counted, rounds);
}

/* The same for a call that the kernel may restart: the signal wakes the thread, and so may let a sample be due. Another
 * thread sends it when it has seen the first wait, and once more if that goes on waiting. */
static volatile int woken, lost;
static void *wakens(void *rounds) {
    char path[64], text[8];
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", getpid());
    int file = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(file >= 0);
    for (int round = 0; round < *(int *)rounds; round++) {
        for (int seen = 0; seen < 2;) seen = pread(file, text, 2, 0) == 2 && !memcmp(text, "0 ", 2) ? seen + 1 : 0;
        CHECK(!kill(getpid(), SIGUSR1));
        for (int naps = 1; woken <= round; naps++) {
            usleep(50);
            if (naps % 40000) continue;
            lost++;
            CHECK(!kill(getpid(), SIGUSR1));
        }
    }
    close(file);
    return 0;
}
static void wakes(void) {
    int rounds = 6000, ends[2];
    sigset_t signals;
    pthread_t thread;
    char byte;
    handle(SIGUSR1, counts, 0);
    CHECK(!pipe(ends));
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    CHECK(!pthread_sigmask(SIG_BLOCK, &signals, 0) && !pthread_create(&thread, 0, wakens, &rounds));
    CHECK(!pthread_sigmask(SIG_UNBLOCK, &signals, 0));
    for (; woken < rounds; woken++) CHECK(read(ends[0], &byte, 1) < 0 && errno == EINTR);
    CHECK(!pthread_join(thread, 0));
    close(ends[0]), close(ends[1]);
    printf("%d of %d, %d lost\n", counted, rounds, lost);
}

/* Ignores the signal that samples come with. */
static void ignores(void) {
    struct sigaction known;
    CHECK(signal(SAMPLES, SIG_IGN) == SIG_DFL);
    burn(20);
    CHECK(!raise(SAMPLES) && !kill(getpid(), SAMPLES));
    CHECK(!sigaction(SAMPLES, 0, &known) && known.sa_handler == SIG_IGN);
    burn(20);
    CHECK(signal(SAMPLES, SIG_DFL) == SIG_IGN);
    puts("alive");
}

int main(int count, char **words) {
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"waits", waits},         {"timers", timers},       {"blocks", blocks},   {"resets", resets},
                 {"takes", takes},         {"receives", receives},   {"coroutines", coroutines},
                 {"jumps", jumps},         {"deep", deep},           {"corrupt", corrupt}, {"altstack", altstack},
                 {"generated", generated}, {"forks", forks},         {"threads", threads}, {"cancels", cancels},
                 {"loaded", loaded},       {"suspends", suspends},   {"shares", shares},
                 {"awaits", awaits},       {"wakes", wakes},       {"ignores", ignores}};
    odd_seed(words[count - 1]);
    VISIT("main");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (IS(cases[i].name)) {
            cases[i].run();
            VISIT("main");
            return 7;
        }
    return 99;
}
