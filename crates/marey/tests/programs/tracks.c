/* What the timeline draws beneath the rows: counters that go up and down, states that overlap, and
 * instants that it marks, each with a truth that its name or its value tells. Each rank keeps up to three transfers open while it works off a queue. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "marey.h"

enum { ROUNDS = 40, OPEN = 3 };

static marey_region load = MAREY_REGION("load"), store = MAREY_REGION("store"), fetch = MAREY_REGION("fetch");
static marey_region work = MAREY_REGION("work");
static marey_kind order = MAREY_KIND("order"), alarm_of = MAREY_KIND("alarm");
static marey_kind step = MAREY_ATTRIBUTE_KIND("step");
static marey_counter queue = MAREY_COUNTER("queue", "messages");
static marey_counter energy = MAREY_COUNTER("energy", "J");

static void spend(long microseconds) {
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += microseconds * 1000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    marey_region *states[OPEN] = { &load, &store, &fetch };
    uint64_t open[OPEN] = { 0 };
    double sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int place = round % OPEN;
        /* The oldest ends when its place is needed: so each lasts for three rounds, and three are open at a time. */
        if (open[place]) marey_end(open[place]);
        open[place] = marey_begin(states[place]);
        marey_enter(&work);
        marey_event event;
        marey_event_begin(&event, &step);
        marey_put_i64(&event, "round", round);
        marey_event_end(&event);
        marey_counter_set(&queue, round % 8 + rank);
        spend(500 + 100 * rank);
        /* Every eighth order is an alarm, of rank 2 only. */
        marey_event_begin(&event, rank == 2 && round % 8 == 7 ? &alarm_of : &order);
        marey_put_u64(&event, "number", UINT64_C(18446744073709551000) + (uint64_t)round);
        marey_put_text(&event, "of", "<b>us</b>");
        marey_event_end(&event);
        marey_leave(&work);
        sum += 0.25 * (rank + 1);
        marey_counter_set(&energy, sum);
        if (round % 5 == 4) MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int place = 0; place < OPEN; place++) marey_end(open[place]);
    MPI_Finalize();
    return 0;
}
