/* What the programs share: parts that take their time, one of which, `force`, is as many times as fast as the command line
 * says, and the time that the program took by its own clock.
 *
 * The one idea: the changed program is the same program with another argument, so what was predicted can be measured.
 * Parts sleep, or compute, until so much time has passed: so a busy machine hardly makes them longer. */
#ifndef PARTS_H
#define PARTS_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define APART static __attribute__((noinline))

/* How many times as fast `force` is; whether all useful time of rank 0 is so instead, or is evened out. */
static double faster = 1;
static int whole_rank, evened;
/* Whether parts compute; else they sleep. */
static int computes;
static int is_rank_0 = 1;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static volatile double sink = 1;

/* No call but of the clock now and then, so that the function around it is the one that is sampled. */
#define TAKE(ms)                                                                                                        \
    do {                                                                                                                \
        double ms_ = (ms), end_ = now() + ms_ * 1e-3, x_ = sink;                                                        \
        while (computes && now() < end_)                                                                                \
            for (int i_ = 0; i_ < 20000; i_++) x_ = x_ * 1.0000001 + 1e-9;                                              \
        sink = x_;                                                                                                      \
        if (!computes && ms_ > 0) {                                                                                     \
            struct timespec time_ = {(long)(ms_ / 1000), (long)((ms_ - 1000 * (long)(ms_ / 1000)) * 1e6)};              \
            nanosleep(&time_, NULL);                                                                                    \
        }                                                                                                               \
    } while (0)

static double of_rank(double ms) { return whole_rank && is_rank_0 ? ms / faster : ms; }

APART void force(double ms) { TAKE(whole_rank ? of_rank(ms) : ms / faster); }
APART void update(double ms) { TAKE(of_rank(ms)); }
APART void other(double ms) { TAKE(of_rank(ms)); }

/* CASE, how many times as fast, what, how parts pass. */
static const char *begin(int count, char **words) {
    if (count < 5) {
        fprintf(stderr, "CASE FASTER force|rank|balance sleeps|computes\n");
        _exit(99);
    }
    faster = atof(words[2]);
    whole_rank = !strcmp(words[3], "rank");
    evened = !strcmp(words[3], "balance") && faster > 1;
    computes = !strcmp(words[4], "computes");
    return words[1];
}

/* A rank or thread that spins keeps to a processor of its own, where there are two. */
static void keep_to(int which) {
    cpu_set_t may, own;
    CPU_ZERO(&own);
    if (sched_getaffinity(0, sizeof may, &may) || CPU_COUNT(&may) < 2) return;
    for (int processor = 0, n = 0; processor < CPU_SETSIZE; processor++)
        if (CPU_ISSET(processor, &may) && n++ == which) CPU_SET(processor, &own);
    sched_setaffinity(0, sizeof own, &own);
}
#endif
