/* Solves a dense system of equations by ScaLAPACK's LU factorisation: lu N NB. Matrix and right side lie in blocks of NB
 * columns, dealt out to the processes in turns; large blocks leave the first processes without work towards the end.
 * Prints what the factorisation took and how far off the solution is. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

extern void Cblacs_get(int context, int what, int *value);
extern void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
extern void Cblacs_gridexit(int context);
extern int numroc_(const int *n, const int *nb, const int *process, const int *first, const int *processes);
extern void descinit_(int *descriptor, const int *m, const int *n, const int *mb, const int *nb, const int *row,
                      const int *column, const int *context, const int *leading, int *info);
extern void pdgetrf_(const int *m, const int *n, double *a, const int *ia, const int *ja, const int *descriptor,
                     int *pivots, int *info);
extern void pdgetrs_(const char *transposed, const int *n, const int *right, const double *a, const int *ia,
                     const int *ja, const int *descriptor, const int *pivots, double *b, const int *ib, const int *jb,
                     const int *descriptor_b, int *info);

/* An entry that every process knows without asking. */
static double entry(int row, int column) {
    unsigned hash = (unsigned)row * 2654435761u ^ (unsigned)column * 2246822519u;
    hash ^= hash >> 15, hash *= 3266489917u, hash ^= hash >> 13;
    return hash / 4294967296.0 - 0.5;
}

int main(int count, char **words) {
    const int n = count > 1 ? atoi(words[1]) : 2000, nb = count > 2 ? atoi(words[2]) : 64;
    const int zero = 0, one = 1;
    int rank, ranks, context, info;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (n < 1 || nb < 1) {
        if (rank == 0) fprintf(stderr, "lu: N and NB are numbers from 1 on: lu 2000 64\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", 1, ranks);

    const int columns = numroc_(&n, &nb, &rank, &zero, &ranks);
    int of_a[9], of_b[9];
    descinit_(of_a, &n, &n, &nb, &nb, &zero, &zero, &context, &n, &info);
    descinit_(of_b, &n, &one, &nb, &nb, &zero, &zero, &context, &n, &info);
    double *a = malloc(sizeof *a * n * (columns ? columns : 1)), *b = malloc(sizeof *b * n);
    int *pivots = malloc(sizeof *pivots * (n + nb));
    for (int local = 0; local < columns; local++) {
        const int column = (local / nb * ranks + rank) * nb + local % nb;
        for (int row = 0; row < n; row++) a[(size_t)local * n + row] = entry(row, column);
    }
    /* The sums of the rows, so that the solution is all ones. */
    for (int row = 0; row < n; row++) {
        b[row] = 0;
        for (int column = 0; column < n; column++) b[row] += entry(row, column);
    }

    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    pdgetrf_(&n, &n, a, &one, &one, of_a, pivots, &info);
    MPI_Barrier(MPI_COMM_WORLD);
    const double took = MPI_Wtime() - begin;
    pdgetrs_("N", &n, &one, a, &one, &one, of_a, pivots, b, &one, &one, of_b, &info);
    if (rank == 0) {
        double off = 0;
        for (int row = 0; row < n; row++) off = fmax(off, fabs(b[row] - 1));
        printf("N %d, NB %d, %d processes: factorised in %.3f s, solution off by %.1e\n", n, nb, ranks, took, off);
    }
    free(a), free(b), free(pivots);
    Cblacs_gridexit(context);
    MPI_Finalize();
    return 0;
}
