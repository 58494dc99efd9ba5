/* Two ranks that come to MPI and go from it at different times, or at the same.
 *
 * Before they come and when they have gone they cannot tell each other their times, so they do by files beside those of
 * the truth. */
#include "truth.h"
#include <mpi.h>

static int rank;

PART(work)
PART(late_part)

APART void come(int op, int thread_level) {
    int provided;
    AT(op, WAITS, "MPI_Init_thread", MPI_Init_thread(0, 0, thread_level, &provided));
}
APART void come_unmeasured(void) {
    int provided;
    MPI_Init_thread(0, 0, MPI_THREAD_FUNNELED, &provided);
}
APART void leave(int op) { AT(op, WAITS, "MPI_Finalize", MPI_Finalize()); }
APART void leave_unmeasured(void) { MPI_Finalize(); }

static void meet(void) { MPI_Barrier(MPI_COMM_WORLD); }

/* Rank 1 is not there yet; the recorder does not see what it does before. */
static void init_once(void) {
    if (rank == 1) {
        long began = now();
        usleep(300000);
        truth_part(DELAY, "", began);
    }
    come(0, MPI_THREAD_FUNNELED);
    schedule = now();
    work(WORK, 200), meet(), leave_unmeasured();
}
static void exit_once(void) {
    come_unmeasured(), meet();
    schedule = now();
    work(WORK, 100);
    if (rank == 0) late_part(DELAY, 300);
    leave(0);
}
static void exit_unequal(void) {
    come_unmeasured(), meet();
    schedule = now();
    work(WORK, rank == 1 ? 50 : 150);
    if (rank == 1) late_part(DELAY, 400);
    leave(0);
}
static void balanced_skew(void) {
    come_unmeasured(), meet();
    schedule = now();
    work(WORK, 400);
    leave_unmeasured();
}

/* What the other rank has noted, by way of a file that is there as a whole or not at all. */
static void exchange(void) {
    const char *path = getenv("TRUTH");
    char name[4096], part[4200];
    if (!path) return;
    snprintf(name, sizeof name, "%s-raw.%d", path, rank);
    snprintf(part, sizeof part, "%s.part", name);
    FILE *file = fopen(part, "w");
    if (!file || fwrite(locations, sizeof *locations, OWN, file) != OWN || fclose(file)) fail(part);
    if (rename(part, name)) fail(name);
    snprintf(name, sizeof name, "%s-raw.%d", path, 1 - rank);
    while (!(file = fopen(name, "r"))) usleep(1000);
    if (fread(locations + OWN, sizeof *locations, OWN, file) != OWN) fail(name);
    fclose(file);
    /* Names are those of this program, which lie elsewhere in the other's memory; only times are looked at. */
}

int main(int count, char **words) {
    static const struct named_case cases[] = {
        CASE(init_once), CASE(exit_once), CASE(exit_unequal), CASE(balanced_skew), {0, 0},
    };
    void (*run)(void) = truth_case(cases, count, words);
    const char *told = getenv("OMPI_COMM_WORLD_RANK");
    if (!told) told = getenv("PMI_RANK");
    if (!told) fail("two ranks are needed");
    rank = atoi(told);
    truth_begin(0, rank, "main", now());
    run();
    truth_end();
    exchange();
    truth_write(1);
    return 0;
}
