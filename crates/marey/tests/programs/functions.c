/* Functions that call MPI, and functions that MPI calls. A rank counts each path of calls. */
#include <mpi.h>
#include <stdio.h>

static long reductions, deletions;

static void add(void *in, void *inout, int *len, MPI_Datatype *type) {
  (void)type;
  reductions++;
  for (int i = 0; i < *len; i++) ((long *)inout)[i] += ((long *)in)[i];
}

static int forget(MPI_Comm comm, int key, void *value, void *extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  deletions++;
  return MPI_SUCCESS;
}

static long reduce(MPI_Op op, int n) {
  long sum = 0;
  for (long i = 0; i < n; i++) {
    long all;
    MPI_Allreduce(&i, &all, 1, MPI_LONG, op, MPI_COMM_WORLD);
    sum += all;
  }
  return sum;
}

int main(int argc, char **argv) {
  MPI_Op op;
  int key, rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Op_create(add, 1, &op);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, 0);
  for (int i = 0; i < 5; i++) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_attr(copy, key, &key);
    MPI_Comm_free(&copy);
  }
  long sum = reduce(op, 20);
  MPI_Op_free(&op);
  printf("rank %d: main/reduce/MPI_Allreduce 20\n", rank);
  printf("rank %d: main/reduce/MPI_Allreduce/add %ld\n", rank, reductions);
  printf("rank %d: main/MPI_Comm_free/forget %ld\n", rank, deletions);
  fflush(stdout);
  MPI_Finalize();
  return sum != 190L * size;
}
