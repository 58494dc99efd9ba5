/* Cost of an enter and a leave from C: `pairs N` runs N pairs of 50 regions at depth 2 and prints
 * `ns_per_pair` (wall) and `cpu_ns_per_pair` (this thread). `pairs N floor` does what no recorder
 * can do without: two clock readings and two 16-byte stores a pair, into a ring of a megabyte.
 * `pairs N empty` is the loop alone. Build with: cc -O2 -I<include> pairs.c */
#define _POSIX_C_SOURCE 200809L
#include "marey.h"

#include <stdio.h>
#include <time.h>

#define FIVE(n) MAREY_REGION("region " #n "0"), MAREY_REGION("region " #n "1"), MAREY_REGION("region " #n "2"), \
                MAREY_REGION("region " #n "3"), MAREY_REGION("region " #n "4")

static marey_region regions[50] = { FIVE(0), FIVE(1), FIVE(2), FIVE(3), FIVE(4), FIVE(5), FIVE(6), FIVE(7), FIVE(8), FIVE(9) };

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void pairs(long n) {
    unsigned outer = 0, inner = 0;
    for (long idx = 0; idx < n / 2; idx++) {
        marey_enter(&regions[outer]);
        marey_enter(&regions[inner]);
        marey_leave(&regions[inner]);
        marey_leave(&regions[outer]);
        outer = outer == 49 ? 0 : outer + 1;
        inner = inner + 7 < 50 ? inner + 7 : inner + 7 - 50;
    }
}

static void empty(long n) {
    unsigned outer = 0, inner = 0;
    for (long idx = 0; idx < n / 2; idx++) {
        __asm__ volatile("" : : "r"(&regions[outer]), "r"(&regions[inner]) : "memory");
        outer = outer == 49 ? 0 : outer + 1;
        inner = inner + 7 < 50 ? inner + 7 : inner + 7 - 50;
    }
}

#ifdef __x86_64__
static void floor_(long n) {
    static uint64_t ring[1 << 17];
    unsigned at = 0;
    for (long idx = 0; idx < n; idx++) {
        for (int half = 0; half < 2; half++) {
            ring[at] = __builtin_ia32_rdtsc();
            ring[at + 1] = (uint64_t)half;
            at = (at + 2) & ((1 << 17) - 1);
            __asm__ volatile("" : : "r"(ring) : "memory");
        }
    }
}
#endif

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 10000000;
    void (*body)(long) = pairs;
    double wall, cpu;
#ifdef __x86_64__
    if (argc > 2 && strcmp(argv[2], "floor") == 0) body = floor_;
#endif
    if (argc > 2 && strcmp(argv[2], "empty") == 0) body = empty;
    body(1000);
    wall = now(CLOCK_MONOTONIC);
    cpu = now(CLOCK_THREAD_CPUTIME_ID);
    body(n);
    cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
    wall = now(CLOCK_MONOTONIC) - wall;
    printf("ns_per_pair %.2f\ncpu_ns_per_pair %.2f\n", wall / (double)n, cpu / (double)n);
    return 0;
}
