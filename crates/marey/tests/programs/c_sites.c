/* MPI calls whose place is known: each line with a call ends in a mark that the test looks for,
 * `SITE` and the function that the line stands in. Several ways lead to a call: through a pointer,
 * from a function that the compiler may inline, twice on one line, from a callee of a callee.
 *
 * `work` is called by sites_main.c, so that this text can be the program or a shared library. No
 * call is the last thing its function does: a compiler makes a jump of it, and no trace of the
 * function is left that a stack could show. Runs on one rank and more. */
#include <mpi.h>

static int sum;

static int add(MPI_Comm comm, int x) {
    int total;
    MPI_Allreduce(&x, &total, 1, MPI_INT, MPI_SUM, comm); // SITE add
    return total;
}

static inline __attribute__((always_inline)) int inlined(MPI_Comm comm) {
    int rank;
    MPI_Comm_rank(comm, &rank); // SITE inlined
    return rank;
}

static __attribute__((noinline)) void deep(int n, MPI_Comm comm) {
    if (n > 0) deep(n - 1, comm), sum++;
    else MPI_Barrier(comm), sum++; // SITE deep
}

void work(void) {
    int rank = inlined(MPI_COMM_WORLD), x = rank, y = -1, flag = 0, size;
    int (*pointer)(MPI_Comm, int *) = MPI_Comm_size;
    MPI_Request requests[2];
    MPI_Irecv(&y, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[0]); // SITE work
    MPI_Isend(&x, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[1]); // SITE work
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); // SITE work
    for (int i = 0; i < 3; i++) {
        MPI_Sendrecv(&x, 1, MPI_INT, rank, 2, &y, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // SITE work
    }
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); // SITE work
    pointer(MPI_COMM_WORLD, &size); // SITE work MPI_Comm_size
    sum += add(MPI_COMM_SELF, x);
    deep(5, MPI_COMM_WORLD);
    sum += y + flag;
}
