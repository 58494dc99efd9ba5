/* Two ranks that change their pace, let messages pile up or send too many, or do nothing of that; and what they did, as
 * they measured it themselves.
 *
 * Parts sleep and do not compute, on a schedule, so that a busy machine does not make them longer. Each rank writes
 * lines of JSON into a file of its own. */
#include "ranks.h"

static char text[1 << 16];
static FILE *told;

static void tell(const char *what, double value) { fprintf(told, "{\"what\":\"%s\",\"value\":%.9f}\n", what, value); }

APART void step(int ms) {
    if (rank == 0) late_part(WORK, ms);
    MPI_Barrier(world);
}

/* So many steps, and how long one took. */
APART double steps(int number, int ms) {
    long began = now();
    schedule = began;
    for (int i = 0; i < number; i++) step(ms);
    return (now() - began) / 1e9 / number;
}

static void slower(void) {
    tell("before", steps(20, 10));
    tell("after", steps(20, 25));
}
static void faster(void) {
    tell("before", steps(20, 25));
    tell("after", steps(20, 10));
}
static void steady(void) { tell("before", steps(40, 12)); }
/* One step is long: that is no other pace. */
static void hiccup(void) {
    steps(20, 10);
    steps(1, 200);
    steps(20, 10);
}

/* Rank 1 does something else while rank 0 sends it 100 messages. */
APART void pile_up(void) {
    if (rank == 0) {
        for (int i = 0; i < 100; i++) MPI_Send(text, 16, MPI_CHAR, 1, 0, world);
        late_part(WORK, 50);
        tell("queue", 100);
    }
    MPI_Barrier(world);
    if (rank == 1)
        for (int i = 0; i < 100; i++) MPI_Recv(text, 16, MPI_CHAR, 0, 0, world, MPI_STATUS_IGNORE);
    MPI_Barrier(world);
}
/* 100 messages, each of them answered. */
APART void in_turn(void) {
    for (int i = 0; i < 100; i++) {
        if (rank == 0) MPI_Send(text, 16, MPI_CHAR, 1, 0, world);
        MPI_Recv(text, 16, MPI_CHAR, other, 0, world, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(text, 16, MPI_CHAR, 0, 0, world);
    }
}

#define ROWS 300
#define ROW 500
/* Rows of many small messages, and some that are as large as a row. */
APART void many_small(void) {
    static MPI_Request requests[ROW];
    int messages = 0;
    long time = 0, large = 0;
    for (int row = 0; row < ROWS; row++) {
        if (rank == 1)
            for (int i = 0; i < ROW; i++) MPI_Irecv(text + 8 * i, 8, MPI_CHAR, 0, 0, world, requests + i);
        MPI_Barrier(world);
        if (rank == 0) {
            long began = now();
            for (int i = 0; i < ROW; i++) MPI_Send(text + 8 * i, 8, MPI_CHAR, 1, 0, world);
            time += now() - began;
            messages += ROW;
        } else {
            MPI_Waitall(ROW, requests, MPI_STATUSES_IGNORE);
        }
        MPI_Barrier(world);
    }
    for (int i = 0; i < 100; i++) {
        if (rank == 1) MPI_Irecv(text, 8 * ROW, MPI_CHAR, 0, 1, world, requests);
        MPI_Barrier(world);
        long began = now();
        if (rank == 0) MPI_Send(text, 8 * ROW, MPI_CHAR, 1, 1, world), large += now() - began;
        else MPI_Wait(requests, MPI_STATUS_IGNORE);
    }
    if (rank == 0) tell("messages", messages), tell("time", time / 1e9), tell("large", large / 1e9 / 100);
}
/* As much data in few messages, with work between. */
APART void few_large(void) {
    for (int row = 0; row < 40; row++) {
        if (rank == 0) {
            MPI_Send(text, 8 * ROW, MPI_CHAR, 1, 0, world);
            late_part(WORK, 5);
        } else {
            MPI_Recv(text, 8 * ROW, MPI_CHAR, 0, 0, world, MPI_STATUS_IGNORE);
        }
    }
}

static const struct named_case cases[] = {
    CASE(slower), CASE(faster), CASE(steady), CASE(hiccup), CASE(pile_up), CASE(in_turn), CASE(many_small), CASE(few_large), {0, 0},
};

int main(int count, char **words) {
    void (*run)(void) = truth_case(cases, count, words);
    int provided;
    keep_apart();
    MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    world = MPI_COMM_WORLD;
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", getenv("TRUTH"), rank);
    told = fopen(name, "w");
    if (!told) fail(name);
    here->began = now();
    MPI_Barrier(world);
    run();
    MPI_Finalize();
    fclose(told);
    return 0;
}
