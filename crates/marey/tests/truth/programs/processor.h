/* The processor of a program that is to be rivalled for it. */
#pragma once
#include <sched.h>
#include <time.h>

#define UNSEEN __attribute__((no_instrument_function))

static UNSEEN double read_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Uses so much of the processor, by its own clock. */
static UNSEEN void compute(double seconds) {
    volatile double sum = 0;
    double end = read_clock(CLOCK_PROCESS_CPUTIME_ID) + seconds;
    while (read_clock(CLOCK_PROCESS_CPUTIME_ID) < end)
        for (int i = 1; i < 20000; i++) sum += 1.0 / i;
}

/* All on one processor, of which each gets its share. */
static UNSEEN void keep_to_one(void) {
    cpu_set_t may, own;
    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof may, &may);
    for (int at = 0; at < CPU_SETSIZE && !CPU_COUNT(&own); at++)
        if (CPU_ISSET(at, &may)) CPU_SET(at, &own);
    sched_setaffinity(0, sizeof own, &own);
}
