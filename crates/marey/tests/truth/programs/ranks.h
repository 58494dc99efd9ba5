/* The frame of the programs with two ranks: they are put in step by a barrier, run the case, are put in step again, and
 * then tell each other their times. */
#ifndef RANKS_H
#define RANKS_H
#include "truth.h"
#include <mpi.h>
#include <sched.h>

static int rank, other;
static MPI_Comm world;

PART(work)
PART(late_part)

APART void begin_in_step(void) { AT(-1, WAITS, "MPI_Barrier", MPI_Barrier(MPI_COMM_WORLD)); }
APART void end_in_step(void) { AT(-2, WAITS, "MPI_Barrier", MPI_Barrier(MPI_COMM_WORLD)); }

/* A rank that waits for a message may spin, and then the other has its processor only when the system takes it from the
 * first, after 4 ms: so each keeps to its own, where there are two. Launchers tell ranks before MPI does. */
static void keep_apart(void) {
    const char *told = getenv("OMPI_COMM_WORLD_RANK");
    if (!told) told = getenv("PMI_RANK");
    cpu_set_t may, own;
    CPU_ZERO(&own);
    if (!told || sched_getaffinity(0, sizeof may, &may) || CPU_COUNT(&may) < 2) return;
    for (int processor = 0, n = 0; processor < CPU_SETSIZE; processor++)
        if (CPU_ISSET(processor, &may) && n++ == atoi(told)) CPU_SET(processor, &own);
    sched_setaffinity(0, sizeof own, &own);
}

static int run_ranks(const struct named_case *cases, int count, char **words) {
    void (*run)(void) = truth_case(cases, count, words);
    int size, provided;
    keep_apart();
    MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (size != 2) fail("two ranks are needed");
    other = 1 - rank;
    world = MPI_COMM_WORLD;
    truth_begin(0, rank, "main", now());
    begin_in_step();
    schedule = now();
    run();
    end_in_step();
    truth_end();
    MPI_Sendrecv(locations, OWN * sizeof *locations, MPI_BYTE, other, 0, locations + OWN, OWN * sizeof *locations,
                 MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    truth_write(1);
    return 0;
}
#endif
