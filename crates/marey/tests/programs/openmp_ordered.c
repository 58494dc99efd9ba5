// A nest of seven loops whose iterations wait for the one before in each: paths through a lattice are counted, which comes
// out right only if every wait is for the iteration that the source names.
#include <stdio.h>

#define N 3
#define AT(a, b, c, d, e, f, g) paths[a][b][c][d][e][f][g]

static volatile long paths[N + 1][N + 1][N + 1][N + 1][N + 1][N + 1][N + 1];

int main(void) {
    long waits = 0;
    AT(0, 1, 1, 1, 1, 1, 1) = 1;
#pragma omp parallel for ordered(7) schedule(dynamic, 1) num_threads(3) reduction(+ : waits)
    for (int a = 1; a <= N; a++)
        for (int b = 1; b <= N; b++)
            for (int c = 1; c <= N; c++)
                for (int d = 1; d <= N; d++)
                    for (int e = 1; e <= N; e++)
                        for (int f = 1; f <= N; f++)
                            for (int g = 1; g <= N; g++) {
#pragma omp ordered depend(sink : a - 1, b, c, d, e, f, g) depend(sink : a, b, c, d, e, f, g - 1)
                                AT(a, b, c, d, e, f, g) += AT(a - 1, b, c, d, e, f, g) + AT(a, b - 1, c, d, e, f, g) +
                                                           AT(a, b, c - 1, d, e, f, g) + AT(a, b, c, d - 1, e, f, g) +
                                                           AT(a, b, c, d, e - 1, f, g) + AT(a, b, c, d, e, f - 1, g) +
                                                           AT(a, b, c, d, e, f, g - 1);
                                waits += (a > 1) + (g > 1);
#pragma omp ordered depend(source)
                            }
    // Seven times N - 1 steps in any order: 14! / (2!)^7.
    printf("paths %ld\nwaits %ld\n", AT(N, N, N, N, N, N, N), waits);
    return 0;
}
