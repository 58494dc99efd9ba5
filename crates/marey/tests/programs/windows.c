/* Windows of one-sided communication made in all ways. What each process gives to them, and every access to them, it says
   in a file of its own: `part`, name, address, bytes, unit; `access`, name, kind, rank, bytes, offset, shape. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *out;
static int rank, size;

static double u[100];
static int table[64];
static double partly[20];
static double *grid, *few;
static char left[4096], right[2048];

static void part(const char *name, const void *base, size_t bytes, int unit) {
  fprintf(out, "part\t%s\t%ld\t%zu\t%d\n", name, (long)(intptr_t)base, bytes, unit);
}

static void access_to(const char *name, const char *kind, int target, size_t bytes, long offset, const char *shape) {
  fprintf(out, "access\t%s\t%s\t%d\t%zu\t%ld\t%s\n", name, kind, target, bytes, offset, shape);
}

/* Of each process a different number of elements; read from all, by rank and target. */
static void of_variable(void) {
  MPI_Win win;
  double got[100];
  size_t bytes = (100 - 10 * rank) * sizeof(double);
  MPI_Win_create(u, bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  part("u", u, bytes, 8);
  MPI_Win_fence(0, win);
  for (int t = 0; t < size; t++) {
    MPI_Get(got, 2 + t, MPI_DOUBLE, t, rank + 3 * t, 2 + t, MPI_DOUBLE, win);
    access_to("u", "read", t, 8 * (2 + t), 8 * (rank + 3 * t), "-");
  }
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* Units that differ: 4 bytes with even ranks, 8 with odd ones. */
static void of_units(void) {
  MPI_Win win;
  int sent[64] = {0}, unit = rank % 2 == 0 ? 4 : 8;
  MPI_Win_create(table, sizeof table, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  part("table", table, sizeof table, unit);
  MPI_Win_fence(0, win);
  for (int t = 0; t < size; t++) {
    MPI_Put(sent, 1 + rank, MPI_INT, t, 2 + rank, 1 + rank, MPI_INT, win);
    access_to("table", "write", t, 4 * (1 + rank), (t % 2 == 0 ? 4 : 8) * (2 + rank), "-");
  }
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* A block that is large, one that is small, and types with gaps. */
static void of_blocks(void) {
  MPI_Win win, little;
  MPI_Datatype vector, list;
  int at[] = {3, 5, 9}, next = (rank + 1) % size;
  double got[60];
  grid = calloc(40000, sizeof(double));
  few = calloc(32, sizeof(double));
  MPI_Type_vector(5, 3, 10, MPI_DOUBLE, &vector);
  MPI_Type_commit(&vector);
  MPI_Type_create_indexed_block(3, 1, at, MPI_DOUBLE, &list);
  MPI_Type_commit(&list);
  MPI_Win_create(grid, 40000 * sizeof(double), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  part("grid", grid, 40000 * sizeof(double), 1);
  MPI_Win_create(few, 32 * sizeof(double), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &little);
  part("few", few, 32 * sizeof(double), 8);
  MPI_Win_fence(0, win);
  MPI_Win_fence(0, little);
  MPI_Get(got, 15, MPI_DOUBLE, next, 800 * rank, 1, vector, win);
  access_to("grid", "read", next, 120, 800 * rank, "24:1 5:80");
  MPI_Get(got, 30, MPI_DOUBLE, next, 1600, 2, vector, win);
  access_to("grid", "read", next, 240, 1600, "24:1 5:80 2:344");
  MPI_Get(got, 15, MPI_DOUBLE, next, 8, 1, vector, win);
  access_to("grid", "read", next, 120, 8, "24:1 5:80");
  MPI_Put(got, 3, MPI_DOUBLE, rank, 4000, 1, list, win);
  access_to("grid", "write", rank, 24, 4000, "untold");
  MPI_Accumulate(got, 4, MPI_DOUBLE, next, 20, 4, MPI_DOUBLE, MPI_SUM, little);
  access_to("few", "update", next, 32, 160, "-");
  MPI_Win_fence(0, win);
  MPI_Win_fence(0, little);
  MPI_Type_free(&vector);
  MPI_Type_free(&list);
  /* Another type, by a handle that is likely to be that of the first. */
  MPI_Type_vector(2, 1, 4, MPI_DOUBLE, &vector);
  MPI_Type_commit(&vector);
  MPI_Win_fence(0, win);
  MPI_Get(got, 2, MPI_DOUBLE, next, 16, 1, vector, win);
  access_to("grid", "read", next, 16, 16, "8:1 2:32");
  MPI_Win_fence(0, win);
  MPI_Type_free(&vector);
  MPI_Win_free(&little);
  MPI_Win_free(&win);
}

/* Memory in a frame, and operations on single elements. */
static void of_frame(void) {
  MPI_Win win;
  int64_t counters[16] = {0}, one = 1, old, zero = 0;
  int next = (rank + 1) % size;
  MPI_Win_create(counters, sizeof counters, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  part("of_frame::counters", counters, sizeof counters, 8);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < 7; i++) {
    MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, i, MPI_SUM, win);
    access_to("of_frame::counters", "update", 0, 8, 8 * i, "-");
  }
  /* Not with itself: Open MPI 4.1 ends there. */
  MPI_Compare_and_swap(&one, &zero, &old, MPI_INT64_T, next, 15, win);
  access_to("of_frame::counters", "update", next, 8, 120, "-");
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

/* Memory of MPI's, by the pointer that the program keeps; with requests. */
static void of_library(void) {
  MPI_Win win;
  MPI_Request requests[3];
  double *made, sent[3] = {1, 2, 3}, got[3], kept[3];
  int next = (rank + 1) % size;
  MPI_Win_allocate((40 + rank) * sizeof(double), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &made, &win);
  part("of_library::made", made, (40 + rank) * sizeof(double), 8);
  MPI_Win_lock_all(0, win);
  MPI_Rput(sent, 3, MPI_DOUBLE, next, 5, 3, MPI_DOUBLE, win, &requests[0]);
  access_to("of_library::made", "write", next, 24, 40, "-");
  MPI_Rget(got, 2, MPI_DOUBLE, rank, 39, 1, MPI_DOUBLE_COMPLEX, win, &requests[1]);
  access_to("of_library::made", "read", rank, 16, 312, "-");
  MPI_Raccumulate(sent, 1, MPI_DOUBLE, next, 0, 1, MPI_DOUBLE, MPI_SUM, win, &requests[2]);
  access_to("of_library::made", "update", next, 8, 0, "-");
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  MPI_Get_accumulate(sent, 3, MPI_DOUBLE, kept, 3, MPI_DOUBLE, next, 7, 3, MPI_DOUBLE, MPI_SUM, win);
  access_to("of_library::made", "update", next, 24, 56, "-");
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

/* Memory that all of a machine share, under a name of its own. */
static void of_all(void) {
  MPI_Win win;
  int *mine, sent = 4;
  MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  MPI_Win_set_name(win, "shared halo");
  part("shared halo", mine, 64, 4);
  MPI_Win_fence(0, win);
  MPI_Put(&sent, 1, MPI_INT, size - 1 - rank, 3, 1, MPI_INT, win);
  access_to("shared halo", "write", size - 1 - rank, 4, 12, "-");
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* The same memory again and again: the windows before are gone. */
static void again(void) {
  for (int step = 0; step < 3; step++) {
    MPI_Win win;
    double sent = step;
    MPI_Win_create(u, sizeof u, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    part("u", u, sizeof u, 8);
    MPI_Win_fence(0, win);
    MPI_Put(&sent, 1, MPI_DOUBLE, rank, step, 1, MPI_DOUBLE, win);
    access_to("u", "write", rank, 8, 8 * step, "-");
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
  }
}

/* Rank 0 gives nothing, and yet the window is called after what the others give. */
static void of_some(void) {
  MPI_Win win;
  double sent[2] = {1, 2};
  int last = size - 1;
  size_t bytes = rank == 0 ? 0 : sizeof partly;
  MPI_Win_create(rank == 0 ? NULL : partly, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  part("partly", rank == 0 ? NULL : partly, bytes, 8);
  MPI_Win_fence(0, win);
  MPI_Put(sent, 2, MPI_DOUBLE, last, 1 + 2 * rank, 2, MPI_DOUBLE, win);
  access_to("partly", "write", last, 16, 8 * (1 + 2 * rank), "-");
  MPI_Put(sent, 2, MPI_DOUBLE, MPI_PROC_NULL, 0, 2, MPI_DOUBLE, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* Memory that is attached, given back, and attached once more. */
static void dynamic(void) {
  MPI_Win win;
  MPI_Aint at[2], all[2 * 16];
  char sent[64] = "moved";
  int next = (rank + 1) % size;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_name(win, "dynamic");
  part("dynamic", NULL, 0, 1);
  MPI_Win_attach(win, right, sizeof right);
  part("right", right, sizeof right, 1);
  MPI_Get_address(left, &at[0]);
  MPI_Get_address(right, &at[1]);
  MPI_Allgather(at, 2, MPI_AINT, all, 2, MPI_AINT, MPI_COMM_WORLD);
  for (int step = 0; step < 2; step++) {
    MPI_Win_attach(win, left, sizeof left - step);
    part("left", left, sizeof left - step, 1);
    MPI_Win_fence(0, win);
    MPI_Put(sent, 10 + step, MPI_CHAR, next, all[2 * next] + 100 * step, 10 + step, MPI_CHAR, win);
    access_to("left", "write", next, 10 + step, 100 * step, "-");
    MPI_Put(sent, 7, MPI_CHAR, rank, all[2 * rank + 1] + 2000, 7, MPI_CHAR, win);
    access_to("right", "write", rank, 7, 2000, "-");
    MPI_Win_fence(0, win);
    MPI_Win_detach(win, left);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_detach(win, right);
  MPI_Win_free(&win);
}

int main(int argc, char **argv) {
  char path[512];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  snprintf(path, sizeof path, "%s/said.%d", argc > 1 ? argv[1] : ".", rank);
  out = fopen(path, "w");
  if (out == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  of_variable();
  of_units();
  of_blocks();
  of_frame();
  of_library();
  of_all();
  again();
  of_some();
  dynamic();
  fclose(out);
  free(grid);
  free(few);
  MPI_Finalize();
  return 0;
}
