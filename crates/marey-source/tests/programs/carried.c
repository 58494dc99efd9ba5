/* One loop in which each iteration needs the one before, and the same without. */
#include <stdio.h>

#define N 4096

static float grid[N], source[N], result[N];

__attribute__((noinline)) static void carry(float factor) {
    for (int i = 1; i < N; i++) { /* loop carried */
        grid[i] = grid[i - 1] * factor + source[i];
    }
}

__attribute__((noinline)) static void spread(float factor) {
    for (int i = 1; i < N; i++) { /* loop free */
        result[i] = grid[i - 1] * factor + source[i];
    }
}

int main(int argc, char **argv) {
    (void)argv;
    source[argc] = 1;
    carry(0.5F);
    spread(0.5F);
    printf("%f %f\n", grid[N - 1], result[N - 1]);
    return 0;
}
