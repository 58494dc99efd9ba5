/* A loop in which each iteration needs the one before; a line is exchanged to make it free of that. */
#include <stdio.h>
#include <stdlib.h>

#define N 4096

static float grid[N], source[N], old[N];

__attribute__((noinline)) static void sweep(float factor) {
    for (int i = 1; i < N; i++) { /* the loop */
        grid[i] = grid[i - 1] * factor + source[i];
    }
}

int main(int argc, char **argv) {
    long times = argc > 1 ? atol(argv[1]) : 1;
    for (int i = 0; i < N; i++) {
        source[i] = (float)(i % 7);
        old[i] = (float)(i % 5);
    }
    for (long k = 0; k < times; k++) {
        sweep(0.5F);
    }
    printf("%f\n", grid[N - 1]);
    return 0;
}
