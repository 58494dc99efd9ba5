/* Inlining on several levels, tail calls, clones, cold parts and, with -fopenmp, outlined regions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nested.h"

#define N 64
#define NOINLINE __attribute__((noinline))

struct body { double at[3]; double mass; int kind; };

static struct body bodies[N];

INLINE double pull(const struct body *a, const struct body *b) {
    return a->mass * b->mass / clamp(distance(a->at, b->at), 1e-3, 1e3);
}

/* Called with the same last argument throughout: the compiler makes a copy for it. */
static NOINLINE double energy_of(const struct body *all, int n, int step) {
    double sum = 0;
    for (int i = 0; i < n; i += step)
        for (int j = 0; j < i; j += step)
            sum += pull(&all[i], &all[j]);
    return sum;
}

static NOINLINE double energy(int n) {
    double sum = 0;
#ifdef _OPENMP
#pragma omp parallel for reduction(+ : sum)
#endif
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            sum += pull(&bodies[i], &bodies[j]);
    return sum + energy_of(bodies, n, 2);
}

static int by_mass(const void *a, const void *b) {
    const struct body *left = a, *right = b;
    return (left->mass > right->mass) - (left->mass < right->mass);
}

static NOINLINE int kind_of(double mass) {
    switch ((int)mass % 7) {
    case 0: return puts("zero");
    case 1: return (int)strlen("one");
    case 2: return (int)(mass * 3);
    case 3: return rand();
    case 4: return getenv("HOME") ? 1 : 0;
    case 5: return (int)square(mass);
    default: return -1;
    }
}

__attribute__((cold)) static NOINLINE void give_up(const char *why) {
    fprintf(stderr, "cannot go on: %s\n", why);
    exit(1);
}

static NOINLINE void fill(int n) {
    for (int i = 0; i < n; i++) {
        bodies[i].mass = 1 + i * 5 % 11;
        bodies[i].kind = kind_of(bodies[i].mass);
        for (int d = 0; d < 3; d++)
            bodies[i].at[d] = clamp(i * (d + 1) % 17, 0, 10);
        if (__builtin_expect(bodies[i].mass > 1e9, 0))
            give_up("too heavy");
    }
}

static NOINLINE long steps(long n) {
    return n < 2 ? 1 : n % 2 ? steps(3 * n + 1) + 1 : steps(n / 2) + 1;
}

int ENTRY(void) {
    fill(N);
    qsort(bodies, N, sizeof bodies[0], by_mass);
    printf("%f %ld\n", energy(N), steps(27));
    return 0;
}
