// OpenMP that begins before MPI does, with regions of which it is known how many there are.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

static int teams(int number) {
    int sum = 0;
    for (int i = 0; i < number; i++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
        sum += omp_get_thread_num() + 1;
    }
    return sum;
}

int main(int argc, char **argv) {
    omp_set_num_threads(2);
    int before = teams(3);
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    int after = teams(5), rank, all;
    MPI_Reduce(&after, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) printf("%d %d\n", before, all);
    MPI_Finalize();
    return 0;
}
