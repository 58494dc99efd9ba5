/* Functions and loops of C that must have no guard, each with the reason behind it, and others. */
#include "heads.h"
#include <stdio.h>
#include <stdlib.h>

#define PRAGMA(text) _Pragma(#text)
#define EACH PRAGMA(omp parallel for)

static int local(int x) { // it begins with a label or a pragma that must be first
    /* It must be first. */
    __label__ out;
    if (x) goto out;
    x = 3;
out:
    return x;
}

static double contracted(double x) { // it begins with a label or a pragma that must be first
#pragma STDC FP_CONTRACT OFF
    return x * x + 1.0;
}

static int many(int *all, int n) {
    int i, sum = 0;
    EACH
    for (i = 0; i < n; i++) // what stands before it may be a macro for a directive
        all[i] = i;
    PRAGMA(omp parallel for collapse(2))
    for (int j = 0; j < n; j++) /* no loop for the grammar, which the macro has torn */
        for (int k = 0; k < 1; k++) // a directive is about the nest that it is part of
            all[j] += k;
#ifdef _OPENMP
    EACH // of all that it has
#else
    sum += 0;
#endif
    for (i = 0; i < n; i++) // what stands before it may be a macro for a directive
        all[i] += 1;
#ifdef _OPENMP
#pragma omp parallel for
#else
    sum += 0;
#endif
    for (i = 0; i < n; i++) // the directive before it is about the loop itself
        all[i] += 2;
    sum = 0; // http://of.no/one
#ifdef NEVER
    sum = 1;
#else
    sum = 2;
#endif
    for (i = 0; i < n; i++) { /* it has a guard */
        if (i > 3)
            for (int j = 0; j < 2; j++) sum += j; /* and this one */
        sum += all[i];
    }
    return sum;
}

static int untold(int x) { return x + 1; } // it may run on another device
#pragma acc routine(untold) seq
#pragma omp declare target
static int on_device(int x) { return x + 2; } // it may run on another device
#pragma omp end declare target
static int on_host(int x) { return x + 3; }

__attribute__((no_instrument_function)) static int quiet(int x) // no_instrument_function is written beside it
{ return x + 4; }
QUIET static int hidden(int x) // no_instrument_function is written beside it
{ return x + 5; }

#if defined(__x86_64__)
__attribute__((naked, noinline)) static int bare(void) { // naked: it has no frame
    __asm__("movl $6, %eax\n\tret");
}
#endif

static int chosen(void) { return 7; }
static int (*choose(void))(void) { return chosen; } // ifunc: it runs before the program is linked
int called(void) __attribute__((ifunc("choose")));

inline int shared(int x) { return x + 8; } // inline and not static: C allows it no static data
extern int shared(int x);

void *aligned_alloc(size_t alignment, size_t size) { // the recorder needs it itself
    void *block;
    return posix_memalign(&block, alignment, size) ? NULL : block;
}

int main(void) {
    int all[9];
    printf("%d %d %g %d\n", local(0), local(1), contracted(2), many(all, 9));
    printf("%d %d %d %d %d\n", untold(1), on_device(1), on_host(1), quiet(1), hidden(1));
    printf("%d %d %d\n", bare(), called(), shared(1));
    return 0;
}
