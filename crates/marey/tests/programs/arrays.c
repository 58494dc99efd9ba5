/* Rank 0 sends from data of every kind, rank 1 receives into them, and each says of every message what its buffer lies in:
   number of the message, name, distance from the beginning, address of the beginning, and which of those of that name it is. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double grid[64][100];
static double halo[2][100];
static double *field;
static struct { int n; double *cells; } sim;

static int rank, number;

__attribute__((noinline)) static void exchange(double *buffer, int n, const char *name, const void *begin, int which) {
    if (rank == 0) MPI_Send(buffer, n, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD);
    else MPI_Recv(buffer, n, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%d\t%d\t%s\t%ld\t%lu\t%d\n", rank, number++, name, (char *)buffer - (char *)begin, (unsigned long)begin, which);
}

__attribute__((noinline)) static double *make(size_t n) {
    double *block = malloc(n * sizeof *block);
    memset(block, 0, n * sizeof *block);
    return block;
}

__attribute__((noinline)) static void fresh(int which) {
    double *block = make(2000);
    exchange(block + 11 * which, 100, "block of make \xe2\x86\x90 fresh", block, which);
    free(block);
}

__attribute__((noinline)) static void other(int which) {
    double *block = make(2000);
    exchange(block, 100, "block of make \xe2\x86\x90 other", block, which);
    free(block);
}

__attribute__((noinline)) static void on_stack(int n) {
    double local[50];
    memset(local, n, sizeof local);
    exchange(local + n, 20, "on_stack::local", local, 0);
}

__attribute__((noinline)) static void deeper(int n) {
    char room[4096];
    memset(room, n, sizeof room);
    on_stack(room[5]);
    memset(room, 0, sizeof room);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* Each into a file of its own: launchers mix the lines of ranks. */
    if (!freopen(rank == 0 ? "said.0" : "said.1", "w", stdout)) return 1;
    field = make(10000);
    sim.cells = make(5000);
    for (int i = 0; i < 3; i++) {
        if (rank == 0) exchange(grid[i], 100, "grid", grid, 0);
        else exchange(halo[i % 2], 100, "halo", halo, 0);
        exchange(field + 100 * i, 100, "field", field, 0);
        exchange(sim.cells + 8, 100, "sim.cells", sim.cells, 0);
        on_stack(i);
        deeper(i);
    }
    /* Both have the same address each time: what is there no more must not be meant. */
    for (int i = 0; i < 4; i++) {
        fresh(i);
        other(i);
    }
    double *old = field;
    field = make(20000);
    exchange(field, 100, "field", field, 1);
    exchange(old + 3, 100, "block of make \xe2\x86\x90 main", old, -1);
    free(old);
    /* Operations of all, and one-sided ones; rank 0 gives, but for the sum. */
    MPI_Bcast(grid[5], 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Allreduce(sim.cells + 50, halo[1], 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, sim.cells, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Win window;
    MPI_Win_create(field, 20000 * sizeof(double), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    if (rank == 0) MPI_Put(halo[1], 100, MPI_DOUBLE, 1, 0, 100, MPI_DOUBLE, window);
    else MPI_Get(sim.cells + 1000, 50, MPI_DOUBLE, 0, 0, 50, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    double *small = malloc(64);
    memset(small, 0, 64);
    exchange(small, 8, "small blocks of the heap", small, 0);
    free(small);
    free(field);
    MPI_Finalize();
    return 0;
}
