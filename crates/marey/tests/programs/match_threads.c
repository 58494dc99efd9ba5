/* Four threads of a process exchange messages at the same time (MPI_THREAD_MULTIPLE): first in the
 * world with a tag each, then with the same tag in a communicator each. They share nothing but the
 * process. Writes what match.h says, thread by thread; runs on 2, 4 … ranks. */
#include "match.h"

#define THREADS 4
#define ROUNDS 100
static int rank, size;
static MPI_Comm own[THREADS];

static void exchange(const char *label, MPI_Comm comm, int tag) {
    int partner = rank ^ 1;
    for (int i = 0; i < ROUNDS; i++) {
        struct slot in, next, out;
        MPI_Request requests[2];
        MPI_Status status;
        irecv(&in, label, comm, partner, tag, &requests[0]);
        SEND(MPI_Send, label, comm, partner, tag);
        wait_received(&in, &requests[0]);
        /* Two on their way in one channel, the later one waited for first. */
        irecv(&in, label, comm, partner, tag, &requests[0]);
        irecv(&next, label, comm, partner, tag, &requests[1]);
        SEND(MPI_Send, label, comm, partner, tag);
        SEND(MPI_Send, label, comm, partner, tag);
        wait_received(&next, &requests[1]);
        wait_received(&in, &requests[0]);
        fresh(&out, label), posting(&in, label);
        SENDING(&out, partner, tag,
                MPI_Sendrecv(&out.serial, 1, MPI_INT64_T, partner, tag, &in.serial, 1, MPI_INT64_T, MPI_ANY_SOURCE, tag,
                             comm, &status));
        received(&in, &status);
    }
}

static void *run(void *number) {
    int thread = (int)(intptr_t)number;
    char label[16];
    snprintf(label, sizeof label, "own%d", thread);
    exchange("world", MPI_COMM_WORLD, 10 + thread);
    exchange(label, own[thread], 5);
    match_flush();
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    char name[16];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size % 2 || provided < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 2);
    snprintf(name, sizeof name, "%d", rank), match_open(getenv("MATCH_OUT"), name, rank);
    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)(intptr_t)i)) abort();
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) MPI_Comm_free(&own[i]);
    int failed = match_result("match_threads", MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
