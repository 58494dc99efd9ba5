/* What the match_*.c programs share: messages that carry a serial number, and a list of both ends.
 *
 * Each process writes $MATCH_OUT/<rank in MPI_COMM_WORLD>.txt, by the end of the program, with lines
 *   send <communicator> <destination> <tag> <serial> <before> <after> <thread>   in the order of the calls
 *   recv <communicator> <source> <tag> <serial> <posted> <done> <thread>         in the order of completion
 * Ranks are those in the communicator (of the other group, if it has two); its label is the same in
 * all its processes. A serial is unique in the job: rank * 10^9 + a counter of the process. Times
 * are CLOCK_MONOTONIC in ns: around the call that sends (or starts a persistent send), before the
 * call that posts the receive and after the call that completes it. The thread is the one that sends
 * or completes, as the operating system numbers it. What moves nothing has no line:
 * MPI_PROC_NULL, a cancelled receive.
 *
 * Lines of a thread are kept in memory until the thread calls match_flush, so that logging brings
 * the threads into no order that MPI does not bring them into.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Not every program needs every helper. */
#define UNUSED __attribute__((unused))

/* One message on its way: its serial number is the buffer. */
struct slot {
    int64_t serial, posted;
    const char *comm;
};

static int64_t match_next;           /* the next serial number */
static int64_t match_sent, match_received;
static char match_path[4096];
static pthread_mutex_t match_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread char *match_text;
static __thread size_t match_used, match_room;

/* `name` is the rank in the world of a job that nobody spawned, `number` is unique in the job. */
static void match_open(const char *dir, const char *name, int number) {
    snprintf(match_path, sizeof match_path, "%s/%s.txt", dir ? dir : ".", name);
    remove(match_path);
    match_next = number * 1000000000LL;
}

static int64_t match_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void match_line(const char *verb, const struct slot *s, int peer, int tag, int64_t from, int64_t to) {
    if (match_room < match_used + 200) {
        match_room = 2 * match_room + 4096;
        if (!(match_text = realloc(match_text, match_room))) abort();
    }
    match_used += snprintf(match_text + match_used, 200, "%s %s %d %d %lld %lld %lld %ld\n", verb, s->comm, peer, tag,
                           (long long)s->serial, (long long)from, (long long)to, syscall(SYS_gettid));
}

/* Appends the lines of this thread to the file of the process. */
UNUSED static void match_flush(void) {
    pthread_mutex_lock(&match_lock);
    FILE *file = fopen(match_path, "a");
    if (!file || fwrite(match_text, 1, match_used, file) != match_used || fclose(file)) perror(match_path), abort();
    match_used = 0;
    pthread_mutex_unlock(&match_lock);
}

/* A fresh serial number into the slot. */
UNUSED static void fresh(struct slot *s, const char *comm) {
    s->serial = __atomic_fetch_add(&match_next, 1, __ATOMIC_RELAXED);
    s->comm = comm;
}

/* Writes the line of a send; SENDING puts the clock around the call itself. */
UNUSED static void sent(const struct slot *s, int dest, int tag, int64_t before, int64_t after) {
    match_line("send", s, dest, tag, before, after);
    __atomic_fetch_add(&match_sent, 1, __ATOMIC_RELAXED);
}
#define SENDING(slot, dest, tag, call) \
    do { \
        int64_t before_ = match_now(); \
        call; \
        sent(slot, dest, tag, before_, match_now()); \
    } while (0)

/* MPI_Send and its kin; MPI_Isend and its kin. */
#define SEND(function, label, comm, dest, tag) \
    do { \
        struct slot s_; \
        fresh(&s_, label); \
        SENDING(&s_, dest, tag, function(&s_.serial, 1, MPI_INT64_T, dest, tag, comm)); \
    } while (0)
#define ISEND(function, slot, label, comm, dest, tag, request) \
    do { \
        fresh(slot, label); \
        SENDING(slot, dest, tag, function(&(slot)->serial, 1, MPI_INT64_T, dest, tag, comm, request)); \
    } while (0)

/* Posts a receive; `received` writes its line once it is complete. */
UNUSED static void posting(struct slot *s, const char *comm) {
    s->serial = -1, s->comm = comm, s->posted = match_now();
}
UNUSED static void irecv(struct slot *s, const char *label, MPI_Comm comm, int source, int tag, MPI_Request *request) {
    posting(s, label);
    MPI_Irecv(&s->serial, 1, MPI_INT64_T, source, tag, comm, request);
}
UNUSED static void received(const struct slot *s, const MPI_Status *status) {
    match_line("recv", s, status->MPI_SOURCE, status->MPI_TAG, s->posted, match_now());
    __atomic_fetch_add(&match_received, 1, __ATOMIC_RELAXED);
}
UNUSED static void receive(const char *label, MPI_Comm comm, int source, int tag) {
    struct slot s;
    MPI_Status status;
    posting(&s, label);
    MPI_Recv(&s.serial, 1, MPI_INT64_T, source, tag, comm, &status);
    received(&s, &status);
}
UNUSED static void wait_received(const struct slot *s, MPI_Request *request) {
    MPI_Status status;
    MPI_Wait(request, &status);
    received(s, &status);
}

/* Everybody of an intracommunicator to its right neighbour, `rounds` times. */
UNUSED static void ring(const char *label, MPI_Comm comm, int tag, int rounds) {
    int rank, size;
    MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
    for (int i = 0; i < rounds; i++) {
        struct slot in, out;
        MPI_Request requests[2];
        irecv(&in, label, comm, (rank + size - 1) % size, tag, &requests[0]);
        ISEND(MPI_Isend, &out, label, comm, (rank + 1) % size, tag, &requests[1]);
        wait_received(&in, &requests[0]);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
}

/* Prints the result line on rank 0 of `all` and says whether both ends are equally many. */
static int match_result(const char *program, MPI_Comm all) {
    long long mine[2] = {match_sent, match_received}, total[2];
    int rank, size;
    MPI_Comm_rank(all, &rank), MPI_Comm_size(all, &size);
    MPI_Allreduce(mine, total, 2, MPI_LONG_LONG, MPI_SUM, all);
    if (rank == 0) printf("%s size %d sent %lld received %lld\n", program, size, total[0], total[1]);
    match_flush();
    return total[0] != total[1];
}
