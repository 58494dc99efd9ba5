/* Regions inside regions, as random numbers have it, with calls of MPI in them: the same on both ranks.
 * How deep they are is an argument. Each rank writes how often it was in which call path, and prints where its
 * array begins: the k-th message to come or go has the k-th place. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "marey.h"

enum { REGIONS = 5, ROUNDS = 4000, MESSAGES = 200000, PATHS = 200000 };
static int deepest = 3;

static marey_region regions[REGIONS] = {
    MAREY_REGION("r0"), MAREY_REGION("r1"), MAREY_REGION("r2"),
    MAREY_REGION("r3"), MAREY_REGION("r4"),
};
static long place[MESSAGES];
static int rank, partner, messages;
static unsigned long state = 1;

/* Call paths as they are found, by a slow search. */
static struct { char name[64]; long visits; } paths[PATHS];

static void visited(const char *above, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "%s%s%s", above, *above ? "/" : "", name);
    unsigned hash = 5381;
    for (const char *c = path; *c; c++) hash = hash * 33 + (unsigned char)*c;
    unsigned at = hash % PATHS;
    while (*paths[at].name && strcmp(paths[at].name, path)) at = (at + 1) % PATHS;
    strcpy(paths[at].name, path);
    paths[at].visits++;
}

static unsigned drawn(unsigned below) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(state >> 33) % below;
}

#define WORLD MPI_COMM_WORLD
#define CALLED(function, arguments) (visited(path, #function), function arguments)

static void call(const char *path) {
    MPI_Request request[2];
    long other, *own = &place[messages++ % MESSAGES], *got = &place[messages++ % MESSAGES];
    *own = (long)(own - place), other = 0;
    switch (drawn(7)) {
    case 0: CALLED(MPI_Barrier, (WORLD)); break;
    case 1: CALLED(MPI_Allreduce, (own, &other, 1, MPI_LONG, MPI_SUM, WORLD)); break;
    case 2: CALLED(MPI_Comm_size, (WORLD, &(int){0})); break;
    case 3:
        CALLED(MPI_Sendrecv, (own, 1, MPI_LONG, partner, 1, got, 1, MPI_LONG, partner, 1, WORLD, MPI_STATUS_IGNORE));
        if (*got != own - place) MPI_Abort(WORLD, 3);
        break;
    case 4:
        CALLED(MPI_Irecv, (got, 1, MPI_LONG, partner, 1, WORLD, &request[0]));
        CALLED(MPI_Isend, (own, 1, MPI_LONG, partner, 1, WORLD, &request[1]));
        CALLED(MPI_Waitall, (2, request, MPI_STATUSES_IGNORE));
        if (*got != own - place) MPI_Abort(WORLD, 4);
        break;
    default:
        if (rank) {
            CALLED(MPI_Recv, (got, 1, MPI_LONG, partner, 1, WORLD, MPI_STATUS_IGNORE));
            CALLED(MPI_Send, (own, 1, MPI_LONG, partner, 1, WORLD));
        } else {
            CALLED(MPI_Send, (own, 1, MPI_LONG, partner, 1, WORLD));
            CALLED(MPI_Recv, (got, 1, MPI_LONG, partner, 1, WORLD, MPI_STATUS_IGNORE));
        }
        if (*got != own - place) MPI_Abort(WORLD, 5);
    }
}

static void region(const char *above, int depth) {
    unsigned number = drawn(REGIONS);
    char path[64];
    visited(above, regions[number].name);
    snprintf(path, sizeof path, "%s%s%s", above, *above ? "/" : "", regions[number].name);
    marey_enter(&regions[number]);
    for (unsigned left = drawn(4); left; left--) {
        if (depth < deepest && drawn(3)) region(path, depth + 1);
        else if (drawn(2)) call(path);
    }
    marey_leave(&regions[number]);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    partner = 1 - rank;
    if (argc > 1) deepest = atoi(argv[1]);
    for (int i = 0; i < ROUNDS; i++) region("", 0);
    char name[32];
    snprintf(name, sizeof name, "truth.%d", rank);
    FILE *truth = fopen(name, "w");
    for (int i = 0; i < PATHS; i++) {
        if (*paths[i].name) fprintf(truth, "%s %ld\n", paths[i].name, paths[i].visits);
    }
    fclose(truth);
    printf("rank %d: places from %ld\n", rank, (long)place);
    MPI_Finalize();
    return 0;
}
