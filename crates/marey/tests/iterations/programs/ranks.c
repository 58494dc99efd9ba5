/* Two ranks that iterate, or do not. */
#include "iterations.h"
#include <mpi.h>

static int rank, other;
static struct log all;
static char buffer[1 << 16], buffer_in[1 << 16];

APART void swap(int bytes) {
    MPI_Sendrecv(buffer, bytes, MPI_CHAR, other, 0, buffer_in, bytes, MPI_CHAR, other, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
APART void sum(void) {
    double one = 1, both;
    MPI_Allreduce(&one, &both, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
APART void gather(void) {
    int own_rank = rank, ranks[2];
    MPI_Allgather(&own_rank, 1, MPI_INT, ranks, 1, MPI_INT, MPI_COMM_WORLD);
}
APART void begin_all(void) {
    int word = 1;
    MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

/* Rank `who` takes longer in iteration `index`. */
struct longer {
    int who, index;
    long ms;
};

APART void iterate(int number, long us, const struct longer *longer) {
    for (int i = 0; i < number; i++) {
        begin_iteration(i);
        long ms = 0;
        for (const struct longer *it = longer; it->ms; it++)
            if (it->who == rank && it->index == i) ms = it->ms;
        work(us, ms);
        swap(1024);
        sum();
        end_iteration();
    }
}

static const struct longer NONE[] = {{0, 0, 0}};

static void steady(void) { iterate(60, 5000, NONE); }
static void one_long(void) {
    static const struct longer it[] = {{1, 37, 300}, {0, 0, 0}};
    iterate(60, 5000, it);
}
static void three_long(void) {
    static const struct longer it[] = {{0, 20, 300}, {1, 75, 300}, {0, 120, 300}, {0, 0, 0}};
    iterate(150, 3000, it);
}
/* Every sixth iteration also gathers. */
static void kinds(void) {
    for (int i = 0; i < 60; i++) {
        begin_iteration(i);
        work(4000, 0);
        if (i % 6 == 5) gather(), work(4000, 0);
        swap(1024);
        sum();
        end_iteration();
    }
}
/* Each becomes a tenth of a millisecond longer. */
static void drift(void) {
    for (int i = 0; i < 80; i++) {
        begin_iteration(i);
        work(3000 + 100 * i, 0);
        sum();
        end_iteration();
    }
}
/* Exchanges first and computes then. */
static void exchange_first(void) {
    for (int i = 0; i < 50; i++) {
        begin_iteration(i);
        swap(1024);
        work(5000, 0);
        end_iteration();
    }
}
APART void solve(void) {
    for (int k = 0; k < 12; k++) {
        work(2000, 0);
        sum();
    }
}
static void nested(void) {
    for (int i = 0; i < 10; i++) {
        begin_iteration(i);
        work(3000, 0);
        swap(1024);
        solve();
        end_iteration();
    }
}
/* One loop is no iteration of the other, and the second is the longer one. */
APART void first_loop(void) {
    for (int i = 0; i < 25; i++) work(4000, 0), gather();
}
static void two_loops(void) {
    first_loop();
    iterate(60, 4000, NONE);
}
/* Each thing once. */
static void none(void) {
    work(30000, 0), begin_all();
    work(20000, 0), swap(16);
    work(50000, 0), sum();
    work(30000, 0), gather();
    work(10000, 0), swap(4096);
    work(40000, 0), MPI_Barrier(MPI_COMM_WORLD);
    work(60000, 0), gather();
    work(20000, 0), sum();
}

int main(int count, char **words) {
    static const struct named_case cases[] = {CASE(steady), CASE(one_long), CASE(three_long),     CASE(kinds),
                                              CASE(drift),  CASE(nested),   CASE(exchange_first), CASE(two_loops),
                                              CASE(none),   {0, 0}};
    void (*run)(void) = named(cases, count, words);
    own = &all;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    begin_all();
    MPI_Barrier(MPI_COMM_WORLD);
    run();
    MPI_Finalize();
    write_down(&all, rank);
    return 0;
}
