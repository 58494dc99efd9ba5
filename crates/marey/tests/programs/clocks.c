/* Does nothing for half a second, in which clocks of different speed drift apart. It sends no message,
 * so nothing but the exchanges after MPI_Init and before MPI_Finalize can tell by how much. */
#include <mpi.h>
#include <time.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    nanosleep(&(struct timespec){0, 500000000}, NULL);
    MPI_Finalize();
    return 0;
}
