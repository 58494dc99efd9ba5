/* Two ranks that send a word there and back until CLOCK_MONOTONIC has reached as many ns as the last
 * argument says, with a pause of a tenth of a millisecond now and then. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int argc, char **argv) {
    int rank, go = 1;
    long long until = atoll(argv[argc - 1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while (go) {
        if (rank == 0) {
            go = now() < until;
            MPI_Send(&go, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(&go, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            nanosleep(&(struct timespec){0, 100000}, NULL);
        } else {
            MPI_Recv(&go, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&go, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
