/* Many cheap calls, whose cost is therefore mostly the recorder's: queries and messages to oneself.
 * Prints the time of a call in ns, the least of some rounds, so that it can be compared by hand with
 * and without the recorder. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 20 };

static double now(void) { /* of this thread: others may use the processor too */
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static void queries(long calls) {
    int size;
    for (long i = 0; i < calls; i++) MPI_Type_size(MPI_INT, &size);
}

static void messages(long calls) {
    char in[8], out[8] = "";
    MPI_Request r[2];
    MPI_Status status[2];
    for (long i = 0; i < calls / 3; i++) {
        MPI_Irecv(in, 8, MPI_CHAR, 0, 1, MPI_COMM_SELF, &r[0]);
        MPI_Isend(out, 8, MPI_CHAR, 0, 1, MPI_COMM_SELF, &r[1]);
        MPI_Waitall(2, r, status);
    }
}

static double best(void (*work)(long), long calls) {
    double least = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        double before = now();
        work(calls / ROUNDS);
        double each = (now() - before) / (calls / ROUNDS);
        if (each < least) least = each;
    }
    return least;
}

int main(int argc, char **argv) {
    long calls = argc > 2 ? atol(argv[2]) : 300000;
    int is_query = argc > 1 && argv[1][0] == 'q';
    MPI_Init(&argc, &argv);
    printf("%.2f ns a call\n", best(is_query ? queries : messages, calls));
    MPI_Finalize();
    return 0;
}
