/* A region that is visited far too often to be recorded each time, and in one of 32 visits of which MPI is called. Called
 * as PROGRAM VISITS, a multiple of 32, on two ranks. Each rank prints a line: visits, exchanges, and the time of all visits
 * without MPI, ns, by its own clock.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "marey.h"

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

int main(int argc, char **argv) {
    static marey_region step = MAREY_REGION("step"), all = MAREY_REGION("all");
    static volatile unsigned long sink;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long visits = atol(argv[1]), exchanges = 0;
    double mpi = 0, began = now();
    marey_enter(&all);
    for (long i = 0; i < visits; i++) {
        marey_enter(&step);
        for (int j = 0; j < 8; j++) sink = sink + 1;
        if (i % 32 == 31) {
            char out = 1, in;
            double before = now();
            MPI_Sendrecv(&out, 1, MPI_CHAR, 1 - rank, 0, &in, 1, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            mpi += now() - before;
            exchanges++;
        }
        marey_leave(&step);
    }
    marey_leave(&all);
    printf("%ld %ld %.0f\n", visits, exchanges, now() - began - mpi);
    return MPI_Finalize();
}
