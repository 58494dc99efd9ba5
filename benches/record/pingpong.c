/* Two ranks send each other a message of 8 bytes, over and over: what a recorder adds to a call
 * that is as short as calls of MPI get. Called as PROGRAM MESSAGES; rank 0 prints one figure a line.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  long messages = atol(argv[1]) / 2 * 2;
  int rank;
  double payload = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  for (long i = 0; i < messages / 2; i++) {
    if (rank == 0) {
      MPI_Send(&payload, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(&payload, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
      MPI_Recv(&payload, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&payload, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
  }
  double elapsed = MPI_Wtime() - start;
  if (rank == 0) printf("ns_per_message %.3f\nmessages %ld\n", elapsed * 1e9 / messages, messages);
  MPI_Finalize();
  return 0;
}
