// Data that is laid out otherwise in three ways, and data that is only passed on: what is moved, and how long its calls
// take by a clock of the program's own.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STEPS = 5, BLOCK = 100, MOST = 8 };

static double rows[MOST * BLOCK], columns[MOST * BLOCK], pipe[4][MOST * BLOCK], halo[BLOCK], inner[BLOCK];
static int by_hand[MOST * BLOCK], transposed[MOST * BLOCK];

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void wait_for(long ms) {
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int counts[MOST], places[MOST];
    for (int to = 0; to < ranks; to++) {
        counts[to] = to + 1;
        places[to] = to * BLOCK;
    }
    int own[MOST];
    for (int from = 0; from < ranks; from++) own[from] = rank + 1;
    double spent[3] = {0, 0, 0};
    for (int step = 0; step < STEPS; step++) {
        // The last one comes late, so the others' calls take long.
        if (rank == ranks - 1) wait_for(20);
        double begin = now();
        MPI_Alltoall(rows, BLOCK, MPI_DOUBLE, columns, BLOCK, MPI_DOUBLE, MPI_COMM_WORLD);
        spent[0] += now() - begin;

        if (rank == ranks - 1) wait_for(20);
        MPI_Request request;
        MPI_Ialltoallv(columns, counts, places, MPI_DOUBLE, rows, own, places, MPI_DOUBLE, MPI_COMM_WORLD, &request);
        begin = now();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        spent[1] += now() - begin;

        // Two at once, which one call waits for: its time is that of both together.
        if (rank == ranks - 1) wait_for(20);
        MPI_Request both[2];
        for (int at = 0; at < 2; at++) {
            double(*part)[MOST * BLOCK] = pipe + 2 * at;
            MPI_Ialltoall(part[0], BLOCK, MPI_DOUBLE, part[1], BLOCK, MPI_DOUBLE, MPI_COMM_WORLD, &both[at]);
        }
        begin = now();
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        spent[2] += now() - begin;

        // Each with each, by messages.
        MPI_Request all[2 * MOST];
        for (int other = 0; other < ranks; other++) {
            MPI_Irecv(transposed + other * BLOCK, BLOCK, MPI_INT, other, 1, MPI_COMM_WORLD, &all[2 * other]);
            MPI_Isend(by_hand + other * BLOCK, BLOCK, MPI_INT, other, 1, MPI_COMM_WORLD, &all[2 * other + 1]);
        }
        MPI_Waitall(2 * ranks, all, MPI_STATUSES_IGNORE);

        // Passed on to the right, which is none.
        MPI_Sendrecv(inner, BLOCK, MPI_DOUBLE, (rank + 1) % ranks, 2, halo, BLOCK, MPI_DOUBLE,
                     (rank + ranks - 1) % ranks, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        // Nor is what all have afterwards.
        MPI_Allgather(inner, 10, MPI_DOUBLE, columns, 10, MPI_DOUBLE, MPI_COMM_WORLD);
    }
    // One of them is an array of all processes, too.
    MPI_Win window;
    MPI_Win_create(rows, sizeof rows, sizeof *rows, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(inner, 1, MPI_DOUBLE, (rank + 1) % ranks, 0, 1, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    double sums[3];
    MPI_Reduce(spent, sums, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%.0f %.0f %.0f\n", sums[0], sums[1], sums[2]);
    MPI_Finalize();
    return 0;
}
