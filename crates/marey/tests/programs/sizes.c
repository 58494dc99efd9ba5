/* Two ranks that exchange messages and take part in collectives of sizes that the test works out itself. */
#include <mpi.h>

enum { ROUNDS = 6000, MOST = 1 << 16 };
static char out[MOST], in[MOST];

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < ROUNDS; k++) {
        int bytes = (int)((long)k * k % 5003), other = 1 - rank;
        MPI_Request request;
        if (rank == 0) {
            MPI_Send(out, bytes, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
        } else {
            MPI_Recv(in, MOST, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Irecv(in, MOST, MPI_CHAR, other, 8, MPI_COMM_WORLD, &request);
        MPI_Send(out, k % 3 ? 0 : 100, MPI_CHAR, other, 8, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (k % 10 == 0) MPI_Bcast(out, 1 << k / 10 % 16, MPI_CHAR, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
