/* Steps of a solver and its output, of which the lengths are given, with MPI or without: what `marey diff` and `marey
 * check` are tried on.
 *
 *     compared SOLVE_US OUTPUT_US STEPS [LATE_RANK LATE_US]
 *
 * A part sleeps until the schedule says, and does not compute: a busy machine does not make it longer, and what one part
 * loses the next does not get. SOLVE and HALO are names of functions, so that versions differ in them. With MPI, each rank
 * solves its part of SOLVE_US, which is divided among all, one rank takes LATE_US longer for each step, and all meet. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif
#ifndef SOLVE
#define SOLVE solve
#endif
#ifndef HALO
#define HALO halo
#endif
#define APART __attribute__((noinline))

static struct timespec schedule;

#define SLEEP(us)                                                                                      \
    do {                                                                                               \
        schedule.tv_nsec += (us) * 1000L;                                                              \
        schedule.tv_sec += schedule.tv_nsec / 1000000000L;                                             \
        schedule.tv_nsec %= 1000000000L;                                                               \
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &schedule, 0) == EINTR) continue;       \
    } while (0)

APART void SOLVE(long us) { SLEEP(us); }

APART void output(long us) { SLEEP(us); }

#ifdef WITH_MPI
APART void HALO(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    clock_gettime(CLOCK_MONOTONIC, &schedule); /* whoever waited begins now */
}
#endif

int main(int count, char **words) {
    long solve_us = atol(words[1]), output_us = atol(words[2]), steps = atol(words[3]);
    int rank = 0, size = 1;
    setpriority(PRIO_PROCESS, 0, -20); /* where it is allowed, so that other work on the machine delays no awakening */
#ifdef WITH_MPI
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#endif
    long late_us = count > 5 && atol(words[4]) == rank ? atol(words[5]) : 0;
    clock_gettime(CLOCK_MONOTONIC, &schedule);
    for (long step = 0; step < steps; step++) {
        SOLVE(solve_us / size + late_us);
        output(output_us);
#ifdef WITH_MPI
        HALO();
#endif
    }
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
