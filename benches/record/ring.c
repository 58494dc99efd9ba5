/* Ranks in a ring hand numbers on without waiting in a call of their own, and now and then add them all up: what an
 * analysis of waits has most to do with. Called as PROGRAM STEPS; rank 0 prints one figure a line. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  long steps = atol(argv[1]);
  int rank, size;
  double mine, next = 0, sum = 0;
  MPI_Request requests[2];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  mine = rank;
  for (long step = 0; step < steps; step++) {
    MPI_Irecv(&next, 1, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&mine, 1, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (step % 4 == 0) MPI_Allreduce(&next, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("steps %ld\n", steps);
  MPI_Finalize();
  return sum < 0;
}
