/* A program of which each part grows by a law of its own: what `marey scale` is tried on.
 *
 *     scaled [--n N]
 *
 * Parts sleep and do not compute, so that their times do not depend on the machine, nor on how many ranks share it.
 * Without MPI, of size N: setup takes 60 ms, solve 2 ms · N, gather 20 ms · √N, and exchange makes N · log₂ N calls that
 * take next to nothing. With MPI, of n ranks: rank 0 sets up for 180 ms while the others wait, each solves for 1200 ms / n,
 * gathers for 120 ms · √n, and makes 10 · log₂ n calls. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif
#define APART __attribute__((noinline))

/* Until an instant, so that what delays one part does not delay the next. */
static struct timespec schedule;

#define SLEEP(ms)                                                                                      \
    do {                                                                                               \
        schedule.tv_nsec += (long)((ms) * 1e6);                                                        \
        schedule.tv_sec += schedule.tv_nsec / 1000000000L;                                             \
        schedule.tv_nsec %= 1000000000L;                                                               \
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &schedule, 0) == EINTR) continue;       \
    } while (0)

APART void setup(double ms) { SLEEP(ms); }

APART void solve(double ms) { SLEEP(ms); }

APART void gather(double ms) { SLEEP(ms); }

APART void exchange(long calls) {
    for (long call = 0; call < calls; call++) {
#ifdef WITH_MPI
        int rank, out = 1, in;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Sendrecv(&out, 1, MPI_INT, rank, 0, &in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
        struct timespec shortly = {0, 1};
        nanosleep(&shortly, NULL);
#endif
    }
}

#ifdef WITH_MPI
APART void meet(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    clock_gettime(CLOCK_MONOTONIC, &schedule); /* whoever waited begins now */
}
#endif

int main(int count, char **words) {
    setpriority(PRIO_PROCESS, 0, -20); /* where it is allowed, so that other work on the machine delays no awakening */
#ifdef WITH_MPI
    int rank, size;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    clock_gettime(CLOCK_MONOTONIC, &schedule);
    if (rank == 0) setup(180);
    meet();
    solve(1200.0 / size);
    gather(120 * sqrt(size));
    exchange(lround(10 * log2(size)));
    meet();
    MPI_Finalize();
#else
    double n = count > 2 ? atof(words[2]) : 1;
    clock_gettime(CLOCK_MONOTONIC, &schedule);
    setup(60);
    solve(2 * n);
    gather(20 * sqrt(n));
    exchange(lround(n * log2(n)));
#endif
    return 0;
}
