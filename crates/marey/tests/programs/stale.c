// Sends from blocks whose addresses variables hold that have kept them of blocks which are no more.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

void *leaves_behind(size_t bytes);
extern double *shared;
static double *own, *first;

// So large that the first comes from the kernel, where nothing as large has been.
enum { N = 1 << 20, BYTES = N * sizeof(double) };

// Who it is for is known by the call only.
static void __attribute__((noinline)) send_anew(int tag, void *as) {
    double *volatile block = malloc(BYTES);
    MPI_Request request;
    MPI_Isend(block, N, MPI_DOUBLE, 0, tag, MPI_COMM_SELF, &request);
    printf("%d %s\n", tag, (void *)block == as ? "same" : "other");
    double *received = malloc(BYTES);
    MPI_Recv(received, N, MPI_DOUBLE, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(received);
    free(block);
}

static void exchange(int tag, double *block) {
    MPI_Request request;
    MPI_Isend(block, N, MPI_DOUBLE, 0, tag, MPI_COMM_SELF, &request);
    double *received = malloc(BYTES);
    MPI_Recv(received, N, MPI_DOUBLE, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(received);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    // Nobody has been there before: it is certain who holds it, whatever file sets it.
    double *volatile fresh = malloc(BYTES);
    shared = fresh;
    exchange(1, shared);
    first = malloc(BYTES);
    exchange(2, first);
    free(first);
    first = NULL;
    // Left over in two variables of another file.
    void *left = leaves_behind(BYTES);
    send_anew(3, left);
    // Set by this file, where a block has been before.
    own = malloc(BYTES);
    printf("4 %s\n", (void *)own == left ? "same" : "other");
    exchange(4, own);
    free(own);
    free(fresh);
    MPI_Finalize();
    return 0;
}
