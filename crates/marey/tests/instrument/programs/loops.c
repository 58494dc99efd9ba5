/* Loops that cannot be made blocks of, each with the reason behind it, and others. */
#include <stdio.h>

static int in_parallel(int n) {
    int i, j, all = 0;
#pragma omp parallel for collapse(2) reduction(+ : all)
    for (i = 0; i < n; i++) // the directive before it is about the loop itself
        for (j = 0; j < n; j++) // a directive is about the nest that it is part of
            all += i * j;
#pragma omp parallel reduction(+ : all) private(j)
    {
#if defined(_OPENMP)
#pragma omp for \
    schedule(static)
#endif
        /* What this does is
           not said here. */
        for (i = 0; i < n; i++) { // the directive before it is about the loop itself
            for (j = 0; j < i; j++) all += 1;
        }
        for (j = 0; j < 1; j++) all += 0;
    }
    return all;
}

static int jumps(int n) {
    int all = 0;
    if (n > 3) goto inside;
    while (n < 100) { // a goto leads into it
        all += n;
    inside:
        n += 7;
    }
    for (n = 0; n < 9; n++) {
        int m;
        for (m = 0; m < 9; m++) {
            if (m == 4) goto next;
            if (n == 7) goto out;
            all += m;
        }
    next:;
    }
out:
    return all;
}

static int computed(int n) {
    static void *const places[] = {&&one, &&two};
    int all = 0;
    while (n > 0) { // its function jumps to where an expression says
        goto *places[n % 2];
    one:
        all += 1;
    two:
        n -= 1;
    }
    return all;
}

static int without_braces(int n) {
    int all = 0;
    if (n > 2)
        for (; n > 0; n--)
            if (n % 2) all += n;
            else all -= 1;
    else
        do all++;
        while (all < 5);
    switch (n) {
    default:
        for (;;) {
            switch (all++) {
            case 3: continue;
            }
            if (all > 20) break;
        }
    }
    return all;
}

int main(void) {
    printf("%d %d %d\n", in_parallel(5), jumps(0), jumps(5));
    printf("%d %d %d\n", computed(9), without_braces(9), without_braces(1));
    return 0;
}
