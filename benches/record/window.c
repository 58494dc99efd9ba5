/* One-sided operations on elements of 8 bytes, over and over, within one epoch: what a recorder adds to each. Their buffer is
 * one and the same, or EACH take turns: elements of a variable, of a block and of an array on the stack, and blocks of their
 * own. Called as PROGRAM OPERATIONS; rank 0 makes them and prints one figure a line.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEN = 1024, EACH = 512, BLOCK = 8192 };

static double memory[LEN];
static double own[4], variable[EACH];
static double *block, *on_stack, *blocks[EACH];
static MPI_Win win;
static MPI_Datatype vector;

static void get(int target, int i) { MPI_Get(own, 1, MPI_DOUBLE, target, i, 1, MPI_DOUBLE, win); }
static void put(int target, int i) { MPI_Put(own, 1, MPI_DOUBLE, target, i, 1, MPI_DOUBLE, win); }
static void get_vector(int target, int i) { MPI_Get(own, 4, MPI_DOUBLE, target, i, 1, vector, win); }

static void put_variable(int target, int i) { MPI_Put(&variable[i], 1, MPI_DOUBLE, target, i, 1, MPI_DOUBLE, win); }
static void put_block(int target, int i) { MPI_Put(&block[i], 1, MPI_DOUBLE, target, i, 1, MPI_DOUBLE, win); }
static void put_on_stack(int target, int i) { MPI_Put(&on_stack[i], 1, MPI_DOUBLE, target, i, 1, MPI_DOUBLE, win); }
static void put_blocks(int target, int i) { MPI_Put(blocks[i], 1, MPI_DOUBLE, target, i, 1, MPI_DOUBLE, win); }

/* Nanoseconds of one. */
static double time_of(void (*operation)(int, int), int target, long n) {
  double start = MPI_Wtime();
  for (long done = 0; done < n; done += EACH) {
    for (int i = 0; i < EACH; i++) operation(target, i);
    MPI_Win_flush_all(win);
  }
  return (MPI_Wtime() - start) * 1e9 / ((n + EACH - 1) / EACH * EACH);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  long n = atol(argv[1]);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Type_vector(4, 1, 8, MPI_DOUBLE, &vector);
  MPI_Type_commit(&vector);
  double array[EACH] = {0};
  on_stack = array;
  block = calloc(EACH, BLOCK);
  for (int i = 0; i < EACH; i++) blocks[i] = calloc(1, BLOCK);
  MPI_Win_create(memory, sizeof memory, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    printf("local_ns %.3f\n", time_of(get, 0, n));
    printf("get_ns %.3f\n", time_of(get, 1, n));
    printf("put_ns %.3f\n", time_of(put, 1, n));
    printf("vector_ns %.3f\n", time_of(get_vector, 1, n));
    printf("variable_ns %.3f\n", time_of(put_variable, 0, n));
    printf("block_ns %.3f\n", time_of(put_block, 0, n));
    printf("stack_ns %.3f\n", time_of(put_on_stack, 0, n));
    printf("blocks_ns %.3f\n", time_of(put_blocks, 0, n));
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Type_free(&vector);
  for (int i = 0; i < EACH; i++) free(blocks[i]);
  free(block);
  MPI_Finalize();
  return 0;
}
