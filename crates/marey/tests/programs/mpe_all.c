/* A little work with the logging calls of MPE, as programs have them that were instrumented for Jumpshot:
 * only rank 0 describes. What each rank has logged is counted here, at each call, and printed by rank 0.
 * Argument `own`: the numbers are the program's own, as in the nineties. Argument `late`: rank 0 describes
 * when all is logged. 2 ranks or more. Knows nothing of what records it. */
#include <mpe.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATION, COMPUTE, EXCHANGE, SHIFT_LEFT, SHIFT_RIGHT, RESIDUAL, MARK, SENT, STOPPED, UNKNOWN, KINDS };

static const char *const names[KINDS] = {
    "Iteration", "Compute", "Exchange", "Left", "Right", "Residual", "Mark", "MPE_Log_send", "stopped", "MPE_Log_event",
};

static int counts[KINDS], starts[KINDS], ends[KINDS], solo[KINDS];
static int rank, size;

/* Logs the beginning of a state. */
static void begin(int kind) {
    MPE_Log_event(starts[kind], 0, NULL);
    counts[kind]++;
}

static void end(int kind) { MPE_Log_event(ends[kind], 0, NULL); }

static void get_numbers(int choose) {
    int kind;
    for (kind = 0; kind < KINDS; kind++) {
        if (choose) {
            starts[kind] = 1 + 2 * kind;
            ends[kind] = 2 + 2 * kind;
            solo[kind] = -1 - kind; /* no number is forbidden */
        } else {
            MPE_Log_get_state_eventIDs(&starts[kind], &ends[kind]);
            MPE_Log_get_solo_eventID(&solo[kind]);
        }
    }
}

static void describe(void) {
    int kind;
    if (rank == 0) {
        for (kind = 0; kind <= SHIFT_RIGHT; kind++) {
            if (kind != EXCHANGE) MPE_Describe_state(starts[kind], ends[kind], names[kind], "red:vlines3");
        }
        MPE_Describe_info_state(starts[EXCHANGE], ends[EXCHANGE], names[EXCHANGE], "blue", "with = %d, what = %s");
        MPE_Describe_info_event(solo[RESIDUAL], names[RESIDUAL], "green", "step = %d, error = %E");
        MPE_Describe_comm_event(MPI_COMM_WORLD, solo[MARK], names[MARK], "yellow", NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Swaps a number with the neighbour. */
static int exchange(int value, int step) {
    const int other = rank ^ 1;
    const char *what = step % 2 ? "odd" : "even";
    MPE_LOG_BYTES bytes;
    int position = 0, got = value;
    MPE_Log_pack(bytes, &position, 'd', 1, &other);
    MPE_Log_pack(bytes, &position, 's', (int)strlen(what), what);
    MPE_Log_event(starts[EXCHANGE], 0, bytes);
    counts[EXCHANGE]++;
    if (other < size) {
        MPI_Sendrecv(&value, 1, MPI_INT, other, 0, &got, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    end(EXCHANGE);
    return got;
}

static void iterate(int steps) {
    int step, value = rank;
    for (step = 0; step < steps; step++) {
        double error = 0.25 * (step + 1);
        MPE_LOG_BYTES bytes;
        int position = 0;
        begin(ITERATION);
        begin(COMPUTE);
        value = value * 3 + 1;
        end(COMPUTE);
        value = exchange(value, step);
        MPE_Log_pack(bytes, &position, 'd', 1, &step);
        MPE_Log_pack(bytes, &position, 'E', 1, &error);
        MPE_Log_info_event(solo[RESIDUAL], bytes);
        counts[RESIDUAL]++;
        end(ITERATION);
    }
}

/* Two states of which neither contains the other. The barrier in the end lies in the second one only. */
static void overlap(int times) {
    while (times-- > 0) {
        begin(SHIFT_LEFT);
        begin(SHIFT_RIGHT);
        end(SHIFT_LEFT);
        MPI_Barrier(MPI_COMM_WORLD);
        end(SHIFT_RIGHT);
    }
}

/* Ranks write into a file in turn; the later ones are ready first. */
static void in_turn(void) {
    int token = rank;
    FILE *file;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) remove("turns");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank + 1 < size) MPI_Recv(&token, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank > 0) MPI_Send(&token, 1, MPI_INT, rank - 1, 1, MPI_COMM_WORLD);
    MPE_Seq_begin(MPI_COMM_WORLD, 1);
    file = fopen("turns", "a");
    fprintf(file, " %d", rank);
    fclose(file);
    MPE_Seq_end(MPI_COMM_WORLD, 1);
    if (rank == 0) {
        char line[256] = "";
        file = fopen("turns", "r");
        printf("turns%s\n", fgets(line, sizeof line, file) ? line : "");
        fclose(file);
    }
}

int main(int argc, char **argv) {
    int *all, kind, r, i, late;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) printf("logging %d", MPE_Initialized_logging());
    MPE_Init_log();
    get_numbers(argc > 1 && strcmp(argv[1], "own") == 0);
    late = argc > 1 && strcmp(argv[1], "late") == 0;
    if (!late) describe();
    if (rank == 0) printf(" %d, numbers %d %d %d\n", MPE_Initialized_logging(), starts[0], ends[0], solo[0]);
    iterate(20);

    MPE_Stop_log();
    MPE_Log_event(starts[COMPUTE], 0, NULL);
    MPE_Log_event(ends[COMPUTE], 0, NULL);
    MPE_Log_bare_event(solo[MARK]);
    counts[STOPPED] += 3;
    MPE_Start_log();

    for (i = 0; i < 3 + rank; i++) MPE_Log_bare_event(solo[MARK]), counts[MARK]++;
    overlap(5);
    if (rank == 1) MPE_Log_send(0, 17, 4096), counts[SENT]++;
    MPE_Log_event(20000, 0, "nobody knows"), counts[UNKNOWN]++;
    MPE_Log_sync_clocks();
    in_turn();
    if (late) describe();

    all = malloc(sizeof counts * (size_t)size);
    MPI_Gather(counts, KINDS, MPI_INT, all, KINDS, MPI_INT, 0, MPI_COMM_WORLD);
    for (r = 0; rank == 0 && r < size; r++) {
        for (kind = 0; kind < KINDS; kind++) printf("count %d %s %d\n", r, names[kind], all[r * KINDS + kind]);
    }
    free(all);
    MPE_Finish_log("mpe_all");
    if (rank == 0) printf("logging %d, %s\n", MPE_Initialized_logging(), MPE_Log_merged_logfilename());
    MPI_Finalize();
    return 0;
}
