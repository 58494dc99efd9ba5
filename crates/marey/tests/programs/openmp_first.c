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

/* The first thread tries what the second has, and waits for nobody. */
static void tries(omp_lock_t *lock) {
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 1) omp_set_lock(lock);
#pragma omp barrier
        if (omp_get_thread_num() == 0 && omp_test_lock(lock)) printf("got it\n");
#pragma omp barrier
        if (omp_get_thread_num() == 1) omp_unset_lock(lock);
    }
}

int main(int argc, char **argv) {
    omp_set_num_threads(2);
    int before = teams(3);
    omp_lock_t lock;
    omp_init_lock(&lock);
    omp_set_lock(&lock);
    omp_unset_lock(&lock);
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    int after = teams(5), rank, all;
    tries(&lock);
    MPI_Reduce(&after, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) printf("%d %d\n", before, all);
    MPI_Finalize();
    return 0;
}
