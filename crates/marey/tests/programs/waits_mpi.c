/* Ranks that wait outside of MPI, by calls of the system, and inside, by MPI's own. Each rank tells for each call of
 * its own where, how often, how long at least and how long by its own clock: `RANK CALL CALLS LEAST_NS OWN_NS`. */
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}
static __attribute__((noinline)) void in_usleep(int times, unsigned us) {
    while (times--) usleep(us);
}
static __attribute__((noinline)) int in_poll(int ms) {
    return poll(0, 0, ms);
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long began = now();
    in_usleep(5, 4000 * (rank + 1));
    long ended = now();
    printf("%d usleep 5 %ld %ld\n", rank, 5 * 4000000L * (rank + 1), ended - began);
    /* The others wait in MPI until the last one comes. */
    if (rank == size - 1) {
        began = now();
        in_poll(50);
        ended = now();
        printf("%d poll 1 50000000 %ld\n", rank, ended - began);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double sum, one = 1;
    for (int i = 0; i < 20; i++) MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
