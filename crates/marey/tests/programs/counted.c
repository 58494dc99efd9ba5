/* Counts of its own: each function asks the kernel what it has used, before and after its work, and at the end each
 * line says what, where and how much. Functions are regions by -finstrument-functions. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HELPER __attribute__((no_instrument_function)) static
#define REGION __attribute__((noinline)) static

struct used {
    long faults, waits, migrations;
    double time;
};

HELPER double processor_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

/* Whether functions ask how often their thread was moved to another processor, which takes some time. */
static int asks_moves;

/* How often it was, as the kernel tells whoever reads its file; nobody is to take this for work on files. 0
 * where the kernel has none. */
HELPER long moves(void) {
    static const char name[] = "se.nr_migrations";
    char text[4096];
    if (!asks_moves) return 0;
    int file = syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/sched", O_RDONLY);
    long len = syscall(SYS_read, file, text, sizeof text - 1);
    syscall(SYS_close, file);
    text[len < 0 ? 0 : len] = 0;
    char *at = strstr(text, name);
    at = at ? strchr(at, ':') : 0;
    return at ? atol(at + 1) : 0;
}

HELPER struct used used(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    struct used now = { usage.ru_minflt + usage.ru_majflt, usage.ru_nvcsw, moves(), processor_time() };
    return now;
}

/* Touches so many pages for the first time. */
HELPER void pages(int number) {
    char *at = mmap(0, number * 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(at, number * 4096L, MADV_NOHUGEPAGE);
    for (int page = 0; page < number; page++) at[page * 4096L] = 1;
    munmap(at, number * 4096L);
}

HELPER void add(struct used *sum, struct used before) {
    struct used after = used();
    sum->faults += after.faults - before.faults;
    sum->waits += after.waits - before.waits;
    sum->migrations += after.migrations - before.migrations;
    sum->time += after.time - before.time;
}

static struct used in_few, in_many, in_burn, in_nap, in_migrate, in_join;

REGION void few(void) {
    struct used before = used();
    pages(100);
    add(&in_few, before);
}

REGION void many(void) {
    struct used before = used();
    pages(1000);
    add(&in_many, before);
}

/* Works for so long, ns of processor time. */
REGION void burn(long ns) {
    struct used before = used();
    volatile double number = 1;
    while (processor_time() - before.time < ns * 1e-9)
        for (int i = 0; i < 5000; i++) number *= 1.0000001;
    add(&in_burn, before);
}

static struct used in_touch;

/* Touches new pages for so long. */
REGION void touch(long ns) {
    struct used before = used();
    while (processor_time() - before.time < ns * 1e-9) pages(50);
    add(&in_touch, before);
}

REGION void nap(int times) {
    struct used before = used();
    for (int i = 0; i < times; i++) {
        struct timespec time = { 0, 200000 };
        nanosleep(&time, 0);
    }
    add(&in_nap, before);
}

/* Goes to and fro between the first two processors that it may use. */
REGION void migrate(int times) {
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    int found[2], n = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
        if (CPU_ISSET(cpu, &all)) found[n++] = cpu;
    for (int i = 0; n == 2 && i < times; i++) {
        int here = sched_getcpu();
        CPU_ZERO(&one);
        CPU_SET(found[here == found[0]], &one);
        sched_setaffinity(0, sizeof one, &one);
        in_migrate.migrations += sched_getcpu() != here;
    }
    sched_setaffinity(0, sizeof all, &all);
}

HELPER void say(const char *name, struct used *sum) {
    printf("%s %ld %.0f %ld %ld\n", name, sum->faults, sum->time * 1e9, sum->waits, sum->migrations);
}

HELPER void say_all(void) {
    say("few", &in_few);
    say("many", &in_many);
    say("burn", &in_burn);
    say("nap", &in_nap);
    say("migrate", &in_migrate);
}

HELPER void all(void) {
    for (int i = 0; i < 10; i++) few();
    for (int i = 0; i < 3; i++) many();
    burn(200000000);
    nap(20);
    migrate(51);
}

HELPER void *few_in_thread(void *unused) {
    for (int i = 0; i < 10; i++) few();
    /* Whoever joins must wait. */
    usleep(3000);
    return unused;
}

HELPER void threads(void) {
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, few_in_thread, 0);
        struct used before = used();
        pthread_join(thread, 0);
        add(&in_join, before);
    }
}

/* Takes every number for a file of its own. What it reads there must be what it wrote. */
HELPER void takes_descriptors(void) {
    migrate(5);
    int file = open("numbers", O_CREAT | O_RDWR | O_TRUNC, 0600);
    for (int i = 0; i < 4096; i++)
        if (write(file, &i, sizeof i) != sizeof i) abort();
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    long most = limit.rlim_cur < 5000 ? limit.rlim_cur : 5000;
    lseek(file, 0, SEEK_SET);
    for (int number = file + 1; number < most; number++) dup2(file, number);
    int wrong = 0, found;
    for (int i = 0; i < 4096; i++) {
        if (i % 64 == 0) few();
        wrong += read(file, &found, sizeof found) != sizeof found || found != i;
    }
    printf("wrong %d\n", wrong);
}

static sigjmp_buf out;
static volatile int inside, jumps;

REGION void handled(void) {
    pages(1);
}

HELPER void handler(int signal) {
    handled();
    if (inside && ++jumps % 2) siglongjmp(out, signal);
}

/* A handler that is measured itself, and left by a jump every other time. */
HELPER void interrupted(void) {
    struct sigaction action = { .sa_handler = handler };
    sigaction(SIGALRM, &action, 0);
    struct itimerval timer = { { 0, 300 }, { 0, 300 } };
    setitimer(ITIMER_REAL, &timer, 0);
    for (double begin = processor_time(); processor_time() - begin < 0.5;) {
        if (!sigsetjmp(out, 1)) {
            inside = 1;
            for (int i = 0; i < 1000; i++) nap(0);
        }
        inside = 0;
    }
    memset(&timer, 0, sizeof timer);
    setitimer(ITIMER_REAL, &timer, 0);
    struct used now = used();
    say("whole", &now);
}

__attribute__((no_instrument_function)) int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "all";
    asks_moves = !strcmp(what, "all") || !strcmp(what, "threads");
    if (!strcmp(what, "all")) {
        all();
        say_all();
    } else if (!strcmp(what, "threads")) {
        threads();
        say("few", &in_few);
        say("join", &in_join);
    } else if (!strcmp(what, "descriptors")) {
        takes_descriptors();
    } else if (!strcmp(what, "fork")) {
        few();
        if (!fork()) {
            many();
            exit(0);
        }
        wait(0);
        few();
        say("few", &in_few);
    } else if (!strcmp(what, "killed")) {
        few();
        many();
        raise(SIGKILL);
    } else if (!strcmp(what, "interrupted")) {
        interrupted();
    } else if (!strcmp(what, "shares")) {
        for (int i = 0; i < 10; i++) {
            touch(30000000);
            burn(30000000);
        }
        say("touch", &in_touch);
        say("burn", &in_burn);
    }
    return 0;
}
