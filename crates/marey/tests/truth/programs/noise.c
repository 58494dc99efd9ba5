/* A thread that others wait for, and that is late for one of two reasons: a rival has its processor half of the time, or it
 * has twice as much to compute. What it had of the processor it measures itself. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static double read_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Uses so much of the processor, by the thread's own clock. It reads that rarely: a kernel that finds a thread's turn over
 * when the thread asks for its time takes the processor away just there, and the reading would be where the time went. */
static __attribute__((noinline)) void compute(double seconds) {
    volatile double sum = 0;
    double end = read_clock(CLOCK_THREAD_CPUTIME_ID) + seconds;
    while (read_clock(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 1; i < 4000000; i++) sum += 1.0 / i;
}

static void keep_to(int processor) {
    cpu_set_t may, own;
    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof may, &may);
    for (int at = 0, n = 0; at < CPU_SETSIZE; at++)
        if (CPU_ISSET(at, &may) && n++ == processor) CPU_SET(at, &own);
    if (CPU_COUNT(&own)) sched_setaffinity(0, sizeof own, &own);
}

static int rival;
static double wall, processor;

static void *late(void *seconds) {
    keep_to(0);
    double began = read_clock(CLOCK_MONOTONIC), used = read_clock(CLOCK_THREAD_CPUTIME_ID);
    compute(*(double *)seconds);
    wall = read_clock(CLOCK_MONOTONIC) - began, processor = read_clock(CLOCK_THREAD_CPUTIME_ID) - used;
    return 0;
}

int main(int count, char **words) {
    int is_rivalled = count > 1 && !strcmp(words[1], "rival");
    double seconds = is_rivalled ? 0.4 : 0.8;
    if (is_rivalled && !(rival = fork())) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(20);
        keep_to(0);
        for (;;) compute(1);
    }
    pthread_t thread;
    pthread_create(&thread, 0, late, &seconds);
    keep_to(1);
    compute(0.4);
    pthread_join(thread, 0);
    if (rival) kill(rival, SIGKILL);
    FILE *truth = fopen(getenv("TRUTH"), "w");
    fprintf(truth, "{\"wall\":%.6f,\"processor\":%.6f}\n", wall, processor);
    return fclose(truth);
}
