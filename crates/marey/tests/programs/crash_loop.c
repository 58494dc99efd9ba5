/* Dies in the middle of MPI calls. Usage: crash_loop MODE, with MODE
 *   loop       calls for ever, until it is killed
 *   abort      rank 1 calls abort() after CALLS calls
 *   mpi_abort  rank 1 calls MPI_Abort(…, 9) after CALLS calls
 *   exit       everybody calls _exit(7) after CALLS calls: no destructor runs
 *   blocked    rank 1 sends, after CALLS calls, what nobody receives, until it is killed
 *   nofinal    everybody returns 0 from main after CALLS calls, without MPI_Finalize
 * After every MPI call that returns, MPI_Init and MPI_Comm_rank included, a 64-bit counter in the
 * process's own file $CRASH_OUT/<rank> is raised by one. The file is mapped, so the counter survives
 * the process, and what a recorder has kept must be that many calls, or one more: the one that had
 * left its last record but not yet returned. The next 64 bits are the process id.
 * Runs on 1, 2, 4 … ranks; prints nothing.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CALLS 1000

/* What the file holds, in the byte order of the machine. */
struct state {
    volatile uint64_t returned;
    volatile uint64_t process;
};

static struct state *open_state(int rank) {
    const char *dir = getenv("CRASH_OUT");
    char path[4096];
    snprintf(path, sizeof path, "%s/%d", dir ? dir : ".", rank);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(struct state))) perror(path), exit(2);
    void *state = mmap(NULL, sizeof(struct state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (state == MAP_FAILED) perror(path), exit(2);
    close(fd);
    return state;
}

int main(int argc, char **argv) {
    int rank, size, x = 0, y;
    const char *mode = argc == 2 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct state *state = open_state(rank);
    state->process = getpid(), state->returned = 2;
    MPI_Comm_size(MPI_COMM_WORLD, &size), state->returned++;
    while (!strcmp(mode, "loop") || state->returned < CALLS) {
        int next = (rank + 1) % size, last = (rank + size - 1) % size;
        if (x % 2) {
            MPI_Sendrecv(&x, 1, MPI_INT, next, 1, &y, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            state->returned++;
        } else {
            MPI_Send(&x, 1, MPI_INT, next, 1, MPI_COMM_WORLD), state->returned++;
            MPI_Recv(&y, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), state->returned++;
        }
        if (y != x) return 3;
        x++;
    }
    if (!strcmp(mode, "abort") && rank == 1 % size) abort();
    if (!strcmp(mode, "mpi_abort") && rank == 1 % size) MPI_Abort(MPI_COMM_WORLD, 9);
    if (!strcmp(mode, "exit")) _exit(7);
    if (!strcmp(mode, "nofinal")) return 0;
    if (!strcmp(mode, "blocked") && rank == 1 % size) MPI_Ssend(&x, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    /* The others are ended by the launcher while they wait here for the one that is gone. */
    MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    state->returned++;
    return 4;
}
