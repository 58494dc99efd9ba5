/* Constructs of which runtimes tell little, or do more for them than the program says. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void nap(int ms) {
    struct timespec time = {0, ms * 1000000L};
    nanosleep(&time, NULL);
}

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static long me(void) { return syscall(SYS_gettid); }

/* Tasks of a region take part in its reduction: 3 threads, a task each. */
static void reductions(void) {
    int sum = 0;
#pragma omp parallel num_threads(3) reduction(task, + : sum)
    {
        sum++;
#pragma omp task in_reduction(+ : sum)
        sum += 10;
    }
    printf("%d\n", sum);
}

/* Locks for which nobody ever waits: tries that fail, locks that nest, many at once. */
static void locks(void) {
    enum { MANY = 1000 };
    static omp_lock_t many[MANY];
    omp_lock_t lock;
    omp_nest_lock_t nest;
    int failed = 0;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0) omp_set_lock(&lock);
#pragma omp barrier
        if (omp_get_thread_num() == 1)
            for (int i = 0; i < 3; i++) failed += !omp_test_lock(&lock);
#pragma omp barrier
        if (omp_get_thread_num() == 0) omp_unset_lock(&lock);
    }
    for (int round = 0; round < 4; round++) {
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 0) {
            for (int i = 0; i < 3; i++) omp_set_nest_lock(&nest);
            nap(2);
            for (int i = 0; i < 3; i++) omp_unset_nest_lock(&nest);
        }
    }
    for (int i = 0; i < MANY; i++) {
        omp_init_lock(&many[i]);
        omp_set_lock(&many[i]);
    }
    for (int i = 0; i < MANY; i++) omp_unset_lock(&many[i]);
    printf("%d\n", failed);
}

/* A league of two teams, each of which has a region of one thread. */
static void league(void) {
    int teams = 0, threads = 0;
#pragma omp teams num_teams(2) thread_limit(1) reduction(+ : teams, threads)
    {
        teams++;
#pragma omp parallel reduction(+ : threads)
        threads++;
    }
    printf("%d %d\n", teams, threads);
}

/* Regions that have no thread but the one that comes to them, one after the other. */
static void serial(int is_parallel) {
    for (int i = 0; i < 3; i++) {
#pragma omp parallel if (is_parallel)
        nap(2);
        nap(2);
    }
}

/* A league in the region of each of two threads: 5 of the 17 ms of a thread. */
static void within(void) {
#pragma omp parallel num_threads(2)
    {
        nap(2);
#pragma omp target teams num_teams(2)
        nap(5);
        nap(10);
    }
}

/* A league between two regions, whose threads are those of the regions, too. Nobody waits for long. */
static void between(void) {
#pragma omp parallel num_threads(4)
    nap(2);
#pragma omp teams num_teams(2) thread_limit(2)
    {
        nap(30);
#pragma omp parallel num_threads(2)
        nap(30);
    }
#pragma omp parallel num_threads(4)
    nap(2);
}

/* What two threads on one processor wait for what the other has for 5 ms: all of it in ns. Who has it gives it back and
   goes on; the other one may have it before that. */
static void contended(int is_lock) {
    long all = 0;
    cpu_set_t one;
    omp_lock_t lock;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2) reduction(+ : all)
    for (int i = 0; i < 20; i++) {
#pragma omp barrier
        if (omp_get_thread_num() == 1) nap(1);
        long before = now(), after;
        if (is_lock) {
            omp_set_lock(&lock);
            after = now();
            nap(5);
            omp_unset_lock(&lock);
        } else {
#pragma omp critical
            {
                after = now();
                nap(5);
            }
        }
        if (1000000 < after - before) all += after - before;
    }
    printf("%ld\n", all);
}

/* A thread waits for 200 ms when the process is killed. */
static void killed(void) {
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 1) nap(5);
#pragma omp critical
        {
            nap(200);
            raise(SIGKILL);
        }
    }
}

/* Two tasks of one function. */
static void lines(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task /* first */
        nap(1);
#pragma omp task /* second */
        nap(2);
    }
}

/* Says who waited in what for whom, no shorter than the first and no longer than the second time. */
static void waited(const char *what, long who, long whom, long least, long most) {
    printf("%s %ld %ld %ld %ld\n", what, who, whom, least, most);
}

/* A group of tasks is cancelled, after which the second thread waits for the first, which naps. */
static void group(void) {
    long id[2], from[2], to[2];
#pragma omp parallel num_threads(2)
    {
        int t = omp_get_thread_num();
        id[t] = me();
        if (t == 0) {
#pragma omp taskgroup
            {
#pragma omp task
                {
#pragma omp cancel taskgroup
                }
            }
            nap(40);
        }
        from[t] = now();
#pragma omp barrier
        to[t] = now();
        nap(1);
    }
    waited("barrier", id[1], id[0], from[0] - from[1] - 10000000, to[1] - from[1]);
}

/* In the last barrier of all, the second thread executes a task and then waits for the first. */
static void last(void) {
    long id[2] = {0}, arrived = 0, ended = 0, executed = 0;
#pragma omp parallel num_threads(2)
    {
        int t = omp_get_thread_num();
        id[t] = me();
        if (t == 0) {
#pragma omp task
            {
                executed = me();
                nap(40);
                ended = now();
            }
            nap(90);
            arrived = now();
        }
    }
    if (executed == id[1]) waited("rests", id[1], id[0], arrived - ended - 5000000, arrived - ended + 5000000);
}

int main(int argc, char **argv) {
    const char *what = 1 < argc ? argv[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(what, "reductions")) reductions();
    else if (!strcmp(what, "locks")) locks();
    else if (!strcmp(what, "league")) league();
    else if (!strcmp(what, "serial")) serial(10 < argc);
    else if (!strcmp(what, "within")) within();
    else if (!strcmp(what, "between")) between();
    else if (!strcmp(what, "critical")) contended(0);
    else if (!strcmp(what, "lock")) contended(1);
    else if (!strcmp(what, "killed")) killed();
    else if (!strcmp(what, "lines")) lines();
    else if (!strcmp(what, "group")) group();
    else if (!strcmp(what, "last")) last();
    else return 2;
}
