/* Allocates on each rank as much as its number says, by itself and by way of MPI. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static char *own(size_t size) {
  char *at = malloc(size);
  memset(at, 1, size);
  return at;
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char *buffer = own(100000 * (rank + 1)), *given;
  MPI_Alloc_mem(600000, MPI_INFO_NULL, &given);
  memset(given, 2, 600000);
  /* Larger than what is sent at once, so that MPI needs room of its own. */
  for (int i = 0; i < 10; i++)
    MPI_Sendrecv(buffer, 100000, MPI_CHAR, (rank + 1) % size, 0, given, 100000, MPI_CHAR, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i <= rank; i++) free(own(50000));
  MPI_Free_mem(given);
  MPI_Finalize();
  if (rank == 0) free(buffer);
  return 0;
}
