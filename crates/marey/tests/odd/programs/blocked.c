/* Whatever may become of a program that is blocked in a call of the system: it is cancelled, interrupted, jumps out of a
 * handler, forks, or has such a function of its own. What it prints must not tell whether anybody looked. */
#include "odd.h"
#include <limits.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

static int ends[2], pair[2], queue, semaphore, epoll;
static sigset_t one;
static void prepare(void) {
    struct sockaddr_in nowhere;
    memset(&nowhere, 0, sizeof nowhere);
    sigemptyset(&one), sigaddset(&one, SIGUSR2);
    CHECK(!pipe(ends) && !socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    queue = msgget(IPC_PRIVATE, 0600), semaphore = semget(IPC_PRIVATE, 1, 0600), epoll = epoll_create1(0);
    CHECK(queue >= 0 && semaphore >= 0 && epoll >= 0);
}
static void tidy(void) { msgctl(queue, IPC_RMID, 0), semctl(semaphore, 0, IPC_RMID); }

/* Each blocks for as long as nobody comes. */
static void b_nanosleep(void) { nanosleep(&(struct timespec){1000, 0}, 0); }
static void b_clock(void) { clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){1000, 0}, 0); }
static void b_sleep(void) { sleep(1000); }
static void b_poll(void) { poll(&(struct pollfd){ends[0], POLLIN, 0}, 1, -1); }
static void b_ppoll(void) { ppoll(&(struct pollfd){ends[0], POLLIN, 0}, 1, 0, 0); }
static void b_select(void) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    select(ends[0] + 1, &set, 0, 0, 0);
}
static void b_epoll(void) { epoll_wait(epoll, &(struct epoll_event){0}, 1, -1); }
static void b_recv(void) { recv(pair[0], (char[4]){0}, 4, 0); }
static void b_recvmsg(void) {
    char byte;
    struct iovec to = {&byte, 1};
    recvmsg(pair[0], &(struct msghdr){.msg_iov = &to, .msg_iovlen = 1}, 0);
}
static void b_sigwait(void) { sigwait(&one, &(int){0}); }
static void b_sigtimedwait(void) { sigtimedwait(&one, 0, &(struct timespec){1000, 0}); }
static void b_pause(void) { pause(); }
static void b_msgrcv(void) { msgrcv(queue, &(struct { long type; char byte; }){0, 0}, 1, 0, 0); }
static void (*const blocks[])(void) = {b_nanosleep, b_clock, b_sleep,   b_poll,         b_ppoll, b_select, b_epoll,
                                       b_recv,      b_recvmsg, b_sigwait, b_sigtimedwait, b_pause, b_msgrcv};
enum { BLOCKS = sizeof blocks / sizeof *blocks };

static volatile int started;
static void cleans(void *nothing) {
    (void)nothing;
    VISIT("cleans");
    usleep(1);
}
static void *blocked(void *which) {
    long n = (long)which;
    pthread_cleanup_push(cleans, 0);
    VISIT("thread");
    if (n >= BLOCKS) CHECK(!pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0));
    __atomic_store_n(&started, 1, __ATOMIC_SEQ_CST);
    for (;;) blocks[n % BLOCKS]();
    pthread_cleanup_pop(0);
    return 0;
}
static void cancels(long from) {
    for (long n = from; n < from + BLOCKS; n++) {
        pthread_t thread;
        void *result = 0;
        started = 0;
        CHECK(!pthread_create(&thread, 0, blocked, (void *)n));
        while (!started) sched_yield();
        usleep(odd_below(2000));
        CHECK(!pthread_cancel(thread) && !pthread_join(thread, &result) && result == PTHREAD_CANCELED);
        VISIT("joined");
    }
}
/* So fast that the cancellation comes into everything that is done before and after. */
static void *hurries(void *way) {
    int before;
    if (way) CHECK(!pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before));
    __atomic_store_n(&started, 1, __ATOMIC_SEQ_CST);
    for (;;) poll(0, 0, 0), recv(pair[0], (char[4]){0}, 4, MSG_DONTWAIT), nanosleep(&(struct timespec){0, 1}, 0);
    return way;
}
static void hurried(int is_asynchronous) {
    for (int i = 0; i < 60; i++) {
        pthread_t thread;
        void *result = 0;
        started = 0;
        CHECK(!pthread_create(&thread, 0, hurries, is_asynchronous ? &one : 0));
        while (!started) sched_yield();
        for (volatile unsigned n = odd_below(20000); n; n--) continue;
        CHECK(!pthread_cancel(thread) && !pthread_join(thread, &result) && result == PTHREAD_CANCELED);
    }
}

static sigjmp_buf back;
static volatile sig_atomic_t may_jump, handled;
static void jumps(int number) {
    (void)number;
    handled++;
    if (may_jump) {
        may_jump = 0;
        siglongjmp(back, 1);
    }
}
static void counts(int number) { (void)number, handled++; }
static void waits(int number) {
    (void)number;
    int before = errno;
    poll(0, 0, 0), usleep(1), waitpid(-1, 0, WNOHANG), recv(pair[0], (char[4]){0}, 4, MSG_DONTWAIT);
    errno = before, handled++;
}
static void handle(int number, void (*handler)(int), int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler, action.sa_flags = flags;
    CHECK(!sigaction(number, &action, 0));
}
static void tick(unsigned us) {
    struct itimerval every = {{0, us}, {0, us}};
    CHECK(!setitimer(ITIMER_REAL, &every, 0));
}
static void once(unsigned us) {
    struct itimerval soon = {{0, 0}, {0, us}};
    CHECK(!setitimer(ITIMER_REAL, &soon, 0));
}
static void out_of_calls(int flags) {
    VISIT("landed");
    handle(SIGALRM, jumps, flags);
    for (volatile int i = 0; i < 4 * BLOCKS; i++) {
        if (sigsetjmp(back, 1) == 0) {
            may_jump = 1;
            once(500 + odd_below(3000));
            for (;;) blocks[i % BLOCKS]();
        }
        /* Were the call still open, this would be within it. */
        VISIT("landed");
    }
    printf("%d\n", handled == 4 * BLOCKS);
}
/* The jump comes out of the recorder's own code as well as out of the call. */
static void out_of_anything(void) {
    handle(SIGALRM, jumps, 0);
    volatile int landed = 0;
    for (volatile int i = 0; i < 1000; i++) {
        if (sigsetjmp(back, 1) == 0) {
            may_jump = 1;
            once(100 + odd_below(200));
            for (;;) poll(0, 0, 0), usleep(1);
        }
        landed++;
    }
    pthread_t thread;
    void *result = 0;
    CHECK(!pthread_create(&thread, 0, blocked, 0) && !pthread_cancel(thread) && !pthread_join(thread, &result));
    int state = -1;
    CHECK(!pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state));
    printf("%d landed, %d\n", landed, state == PTHREAD_CANCEL_ENABLE);
}
static void handlers(void) {
    handle(SIGALRM, waits, SA_RESTART);
    tick(300 + odd_below(700));
    unsigned rounds = 0, wrong = 0;
    while (handled < 300) {
        struct timespec left = {0, 100000};
        errno = 77;
        /* An alarm on the way is enough for it to be interrupted. */
        int result = poll(0, 0, 0);
        wrong += result == 0 ? errno != 77 : result != -1 || errno != EINTR;
        while (nanosleep(&left, &left)) wrong += errno != EINTR;
        wrong += recv(pair[0], (char[4]){0}, 4, MSG_DONTWAIT) != -1 || errno != EAGAIN;
        usleep(20), rounds++;
    }
    tick(0);
    printf("%d, %u wrong\n", rounds > 0, wrong);
}
static void *writes(void *nothing) {
    while (handled < 3) sched_yield();
    CHECK(write(pair[1], "x", 1) == 1);
    return nothing;
}
/* What is made anew after a handler, and what is not. */
static void restarts(void) {
    pthread_t thread;
    sigset_t alarm;
    sigemptyset(&alarm), sigaddset(&alarm, SIGALRM);
    handle(SIGALRM, counts, SA_RESTART);
    CHECK(!pthread_sigmask(SIG_BLOCK, &alarm, 0) && !pthread_create(&thread, 0, writes, 0));
    CHECK(!pthread_sigmask(SIG_UNBLOCK, &alarm, 0));
    tick(2000);
    printf("recv %zd\n", recv(pair[0], (char[4]){0}, 4, 0));
    CHECK(!pthread_join(thread, 0));
    errno = 0, printf("poll %d", poll(0, 0, -1)), printf(" %d\n", errno == EINTR);
    struct timespec left = {0, 0};
    errno = 0, printf("nanosleep %d", nanosleep(&(struct timespec){100, 0}, &left));
    printf(" %d %d\n", errno == EINTR, left.tv_sec >= 99);
    printf("sleep %d\n", sleep(100) >= 99);
    errno = 0, printf("pause %d", pause()), printf(" %d\n", errno == EINTR);
    struct sembuf takes = {0, -1, 0};
    errno = 0, printf("semop %d", semop(semaphore, &takes, 1)), printf(" %d\n", errno == EINTR);
    int interrupted = clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){100, 0}, 0);
    printf("clock_nanosleep %d\n", interrupted == EINTR);
    tick(0);
    handle(SIGALRM, counts, 0);
    tick(2000);
    errno = 0, printf("recv %zd", recv(pair[0], (char[4]){0}, 4, 0)), printf(" %d\n", errno == EINTR);
    pid_t child = fork();
    if (child == 0) for (;;) pause();
    errno = 0, printf("waitpid %d", waitpid(child, 0, 0)), printf(" %d\n", errno == EINTR);
    tick(0);
    CHECK(!kill(child, SIGKILL));
    printf("child %d\n", odd_wait(child));
}

/* Functions of the program's own, and what they are called by. */
static int called;
int lockf(int fd, int command, off_t len) { return called++, fd + command + (int)len; }

static void *runs(void *nothing) {
    for (int i = 0; i < 3; i++) {
        CHECK(WEXITSTATUS(system("exit 5")) == 5);
        FILE *stream = popen("exit 6", "r");
        CHECK(stream && WEXITSTATUS(pclose(stream)) == 6);
    }
    return nothing;
}
static void forks(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) CHECK(!pthread_create(&threads[i], 0, runs, 0));
    int sum = 0;
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (child == 0) {
            usleep(100);
            pid_t further = fork();
            if (further == 0) usleep(50), _exit(3);
            _exit(odd_wait(further) + i);
        }
        CHECK(child > 0);
        sum += odd_wait(child);
    }
    for (int i = 0; i < 2; i++) CHECK(!pthread_join(threads[i], 0));
    printf("%d\n", sum);
}
static void vforks(void) {
    int sum = 0;
    for (int i = 0; i < 20; i++) {
        pid_t child = vfork();
        if (child == 0) {
            usleep(50);
            poll(0, 0, 1);
            _exit(i);
        }
        CHECK(child > 0);
        sum += odd_wait(child);
        VISIT("joined");
    }
    printf("%d\n", sum);
}
static void forks_in_handler(int number) {
    (void)number;
    pid_t child = fork();
    if (child == 0) return;
    int status, before = errno;
    while (waitpid(child, &status, 0) < 0) continue;
    handled += WEXITSTATUS(status), errno = before;
}
/* The child comes out of a call that its parent made. */
static void inside(void) {
    pid_t me = getpid();
    handle(SIGUSR1, forks_in_handler, 0);
    for (int i = 0; i < 5; i++) {
        pid_t sends = fork();
        if (sends == 0) usleep(3000), kill(me, SIGUSR1), _exit(0);
        int result = poll(0, 0, 200);
        if (getpid() != me) {
            usleep(10);
            // Where others have the processor the signal may come before the call does.
            _exit(result == 0 || (result == -1 && errno == EINTR) ? 1 : 0);
        }
        odd_wait(sends);
        VISIT("joined");
    }
    printf("%d\n", handled);
}
/* Asks again and again, and is left by a jump in whatever moment of a call. */
static sigjmp_buf asked;
static volatile sig_atomic_t is_asking;
static void gives_up(int number) {
    if (is_asking) is_asking = 0, siglongjmp(asked, number);
}
static void asks(void) {
    handle(SIGALRM, gives_up, 0);
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    CHECK(!setitimer(ITIMER_REAL, &often, 0));
    for (volatile int i = 0; i < 2000; i++) {
        if (!sigsetjmp(asked, 1))
            for (is_asking = 1;;) poll(0, 0, 0);
    }
    CHECK(!setitimer(ITIMER_REAL, &never, 0));
    VISIT("asked");
}
static void leaves(int number) {
    (void)number;
    VISIT("handler");
    exit(33);
}
static ucontext_t outer, inner;
static void switches(int number) {
    (void)number;
    handled++;
    swapcontext(&inner, &outer);
}
static void naps(void) {
    for (;;) {
        usleep(200), poll(0, 0, 1);
    }
}
/* A scheduler of its own: it leaves one stack amid a call and comes back to it later. */
static void contexts(void) {
    static char memory[1 << 17];
    handle(SIGALRM, switches, SA_NODEFER);
    CHECK(!getcontext(&inner));
    inner.uc_stack.ss_sp = memory, inner.uc_stack.ss_size = sizeof memory;
    makecontext(&inner, naps, 0);
    for (int i = 0; i < 40; i++) {
        struct itimerval once = {{0, 0}, {0, 500 + odd_below(2000)}};
        CHECK(!setitimer(ITIMER_REAL, &once, 0));
        CHECK(!swapcontext(&outer, &inner));
        struct timespec left = {0, 200000};
        while (nanosleep(&left, &left)) continue;
    }
    printf("%d\n", handled);
}
static void *briefly(void *nothing) {
    for (int i = 0; i < 20; i++) poll(0, 0, 0), usleep(1);
    return nothing;
}
static void small(void) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN + 16384);
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        CHECK(!pthread_create(&thread, &attributes, briefly, 0) && !pthread_join(thread, 0));
    }
}
static void names(void) {
    struct addrinfo *found = 0;
    CHECK(!getaddrinfo("127.0.0.1", "80", 0, &found) && found);
    freeaddrinfo(found);
    int result = getaddrinfo("no.such.name.invalid", 0, 0, &found);
    printf("%d\n", result != 0);
    /* Nothing to read at is an error as ever. */
    errno = 0;
    struct pollfd *volatile nowhere = (struct pollfd *)8;
    printf("%d", poll(nowhere, 1, 0)), printf(" %d\n", errno == EFAULT);
}

int main(int count, char **words) {
    odd_seed(words[count - 1]);
    prepare();
    VISIT("main");
    CHECK(!pthread_sigmask(SIG_BLOCK, &one, 0));
    if (IS("cancels")) cancels(0);
    else if (IS("asynchronous")) cancels(BLOCKS);
    else if (IS("hurried")) hurried(0);
    else if (IS("torn")) hurried(1);
    else if (IS("jumps")) out_of_calls(0);
    else if (IS("altstack")) {
        static char memory[1 << 16];
        stack_t stack = {memory, 0, sizeof memory};
        CHECK(!sigaltstack(&stack, 0));
        out_of_calls(SA_ONSTACK);
    } else if (IS("anywhere")) out_of_anything();
    else if (IS("handlers")) handlers();
    else if (IS("restarts")) restarts();
    else if (IS("forks")) forks();
    else if (IS("vforks")) vforks();
    else if (IS("inside")) inside();
    else if (IS("asks")) asks();
    else if (IS("contexts")) contexts();
    else if (IS("small")) small();
    else if (IS("names")) names();
    else if (IS("own")) printf("%d %d\n", lockf(1, 2, 3), called);
    else if (IS("exits")) {
        handle(SIGALRM, leaves, 0);
        tidy();
        tick(5000);
        b_poll();
    }
    tidy();
    VISIT("main");
    printf("%s done\n", words[1]);
    return 40;
}
