/* Touches pages for the first time in calls of MPI only: the library copies each message from a page and to a page
 * that nobody has used before, and an operation of the program's own touches pages in a reduction. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <sys/mman.h>

enum { MESSAGES = 500, LENGTH = 1000, TOUCHED = 300 };

static char *fresh(long pages) {
    char *at = mmap(0, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(at, pages * 4096, MADV_NOHUGEPAGE);
    return at;
}

static void operate(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)type;
    char *at = fresh(TOUCHED);
    for (int page = 0; page < TOUCHED; page++) at[page * 4096L] = 1;
    munmap(at, TOUCHED * 4096L);
    for (int i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, one = 1, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *at = fresh(MESSAGES);
    for (int i = 0; i < MESSAGES; i++) {
        char *message = at + i * 4096L;
        if (rank == 0) MPI_Send(message, LENGTH, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(message, LENGTH, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Op op;
    MPI_Op_create(operate, 1, &op);
    MPI_Reduce(&one, &sum, 1, MPI_INT, op, 0, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    if (rank == 0) printf("sum %d\n", sum);
    MPI_Finalize();
    return 0;
}
