/* Rank 0 sends rank 1 3 000 messages on one channel, the k-th from and into the k-th place of an array. Rank 0
 * switches recording off from message 1000 to 2000, rank 1 from 1500 to 2500. Two ranks; each prints where its
 * array begins. */
#include <mpi.h>
#include <stdio.h>

enum { MESSAGES = 3000 };
static long place[MESSAGES];

int main(int argc, char **argv) {
    int rank, k, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int off = rank ? 1500 : 1000;
    for (k = 0; k < MESSAGES; k++) {
        if (k == off) MPI_Pcontrol(0);
        if (k == off + 1000) MPI_Pcontrol(1);
        if (rank == 0) {
            place[k] = k;
            MPI_Send(&place[k], 1, MPI_LONG, 1, 7, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(&place[k], 1, MPI_LONG, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            wrong += place[k] != k;
        }
        if (k % 100 == 99) MPI_Barrier(MPI_COMM_WORLD);
    }
    printf("rank %d: places from %ld, %d wrong\n", rank, (long)&place[0], wrong);
    MPI_Finalize();
    return 0;
}
