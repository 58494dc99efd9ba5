/* A function that takes the processor's time, into which another one of another file is put. */
#include <stdio.h>
#include <stdlib.h>
#include "machine.h"

__attribute__((noinline)) static double sweep(double *cells, int number)
{
    double least = cells[0];
    for (int it = 0; it + 1 < number; it++) {
        cells[it] = relax(cells[it], cells[it + 1]);
        if (cells[it] < least)                       /* compared */
            least = cells[it];
    }
    return least;
}

int main(int argc, char **argv)
{
    static double cells[4096];
    int sweeps = argc > 1 ? atoi(argv[1]) : 100;
    double least = 0;
    for (int it = 0; it < 4096; it++)
        cells[it] = it * 0.25;
    for (int it = 0; it < sweeps; it++)
        least += sweep(cells, 4096);                 /* called */
    printf("%f\n", least);
}
