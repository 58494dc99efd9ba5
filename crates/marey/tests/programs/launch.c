/* Counts its own MPI calls and says how many they were. Usage: launch [ROUNDS [MODE]], with MODE
 *   shells   rank 0 runs `echo` by system() and by popen() between the rounds
 *   nested   the same, and what is run is $LAUNCH_NESTED
 *   bad      exits with 9 after MPI_Finalize
 * In each round every rank sends to the next one and receives from the one before, and all sum up.
 * Prints one line for each process, in one write, before it calls MPI_Finalize:
 *   counted PID RANK SIZE NAME=CALLS NAME=CALLS ...
 * Runs on 1, 2, 3 ... ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INIT, RANK, SIZE, SENDRECV, ALLREDUCE, FINALIZE, KINDS };
static const char *const names[KINDS] = {"MPI_Init",     "MPI_Comm_rank", "MPI_Comm_size",
                                         "MPI_Sendrecv", "MPI_Allreduce", "MPI_Finalize"};
static long counts[KINDS];
#define CALL(kind, call) (counts[kind]++, (call))

static void run_others(const char *line) {
    char word[64];
    fflush(stdout);
    if (system(line)) exit(4);
    FILE *pipe = popen(line, "r");
    if (!pipe) exit(5);
    while (fgets(word, sizeof word, pipe)) fputs(word, stdout);
    if (pclose(pipe)) exit(6);
}

int main(int argc, char **argv) {
    int rank, size;
    long rounds = argc > 1 ? atol(argv[1]) : 10;
    const char *mode = argc > 2 ? argv[2] : "";
    CALL(INIT, MPI_Init(&argc, &argv));
    CALL(RANK, MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CALL(SIZE, MPI_Comm_size(MPI_COMM_WORLD, &size));
    for (long round = 0; round < rounds; round++) {
        int next = (rank + 1) % size, last = (rank + size - 1) % size, x = round, y, sum;
        CALL(SENDRECV, MPI_Sendrecv(&x, 1, MPI_INT, next, 1, &y, 1, MPI_INT, last, 1, MPI_COMM_WORLD,
                                    MPI_STATUS_IGNORE));
        CALL(ALLREDUCE, MPI_Allreduce(&y, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        if (y != x || sum != x * size) return 3;
        if (rank == 0 && round == rounds / 2 && !strcmp(mode, "shells")) run_others("echo other");
        if (rank == 0 && round == rounds / 2 && !strcmp(mode, "nested")) run_others(getenv("LAUNCH_NESTED"));
    }
    /* Said before, because some launchers kill the others as soon as one has ended badly. */
    counts[FINALIZE] = 1;
    char line[512];
    int len = snprintf(line, sizeof line, "counted %d %d %d", (int)getpid(), rank, size);
    for (int kind = 0; kind < KINDS; kind++)
        len += snprintf(line + len, sizeof line - len, " %s=%ld", names[kind], counts[kind]);
    line[len++] = '\n';
    fflush(stdout);
    if (write(1, line, len) != len) return 2;
    MPI_Finalize();
    return strcmp(mode, "bad") ? 0 : 9;
}
