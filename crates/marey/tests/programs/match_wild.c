/* Which send a receive has matched where the call does not say it: wildcards, completion in another
 * order than posting, requests that are cancelled, persistent, freed or found by a probe.
 * Writes what match.h says; ranks work in pairs, on 2, 4 … ranks. */
#include <sched.h>

#include "match.h"

#define W MPI_COMM_WORLD
static int rank, size, partner;

/* Rank 0 receives from everybody whatever comes first. */
static void anybody(void) {
    MPI_Status status;
    if (rank) {
        for (int i = 0; i < 10; i++) SEND(MPI_Send, "world", W, 0, 100 + i);
    } else {
        for (int i = 0; i < 8 * (size - 1); i++) receive("world", W, MPI_ANY_SOURCE, MPI_ANY_TAG);
        for (int i = 0; i < 2 * (size - 1); i++) {
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, W, &status);
            receive("world", W, status.MPI_SOURCE, status.MPI_TAG);
        }
    }
    MPI_Barrier(W);
}

/* Messages of one channel go to its receives in the order of posting, whoever is waited for first. */
static void reverse(void) {
    struct slot in[3];
    MPI_Request r[3];
    irecv(&in[0], "world", W, partner, 1, &r[0]);
    irecv(&in[1], "world", W, MPI_ANY_SOURCE, 1, &r[1]);
    irecv(&in[2], "world", W, partner, MPI_ANY_TAG, &r[2]);
    for (int i = 0; i < 3; i++) SEND(MPI_Send, "world", W, partner, 1);
    for (int i = 2; i >= 0; i--) wait_received(&in[i], &r[i]);
    MPI_Barrier(W);
}

/* What a cancelled receive would have got goes to the next one. */
static void cancelled(void) {
    struct slot never, in;
    MPI_Request r[2];
    MPI_Status status;
    int flag;
    irecv(&never, "world", W, partner, 2, &r[0]);
    MPI_Cancel(&r[0]), MPI_Wait(&r[0], &status), MPI_Test_cancelled(&status, &flag);
    if (!flag) MPI_Abort(W, 3);
    MPI_Barrier(W);
    irecv(&in, "world", W, partner, 2, &r[1]);
    SEND(MPI_Send, "world", W, partner, 2);
    wait_received(&in, &r[1]);
}

static void persistent(void) {
    struct slot in, out;
    MPI_Request r[2];
    MPI_Status status[2];
    MPI_Recv_init(&in.serial, 1, MPI_INT64_T, MPI_ANY_SOURCE, 3, W, &r[0]);
    MPI_Send_init(&out.serial, 1, MPI_INT64_T, partner, 3, W, &r[1]);
    for (int i = 0; i < 5; i++) {
        posting(&in, "world"), MPI_Start(&r[0]);
        fresh(&out, "world");
        SENDING(&out, partner, 3, MPI_Start(&r[1]));
        MPI_Wait(&r[0], &status[0]), received(&in, &status[0]), MPI_Wait(&r[1], &status[1]);
    }
    for (int i = 0; i < 5; i++) {
        posting(&in, "world"), fresh(&out, "world");
        SENDING(&out, partner, 3, MPI_Startall(2, r));
        MPI_Waitall(2, r, status), received(&in, &status[0]);
    }
    MPI_Request_free(&r[0]), MPI_Request_free(&r[1]);
}

static void matched_probes(void) {
    struct slot in, ins[4];
    MPI_Message message;
    MPI_Status status;
    MPI_Request r[4];
    int flag;
    for (int i = 0; i < 8; i++) SEND(MPI_Send, "world", W, partner, 40 + i % 4);
    for (int i = 0; i < 4; i++) { /* last tag first */
        posting(&in, "world"), MPI_Mprobe(partner, 43 - i, W, &message, &status);
        MPI_Mrecv(&in.serial, 1, MPI_INT64_T, &message, &status), received(&in, &status);
    }
    for (int i = 0; i < 4; i++) {
        posting(&ins[i], "world");
        while (MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, W, &flag, &message, &status), !flag) sched_yield();
        MPI_Imrecv(&ins[i].serial, 1, MPI_INT64_T, &message, &r[i]);
    }
    for (int i = 3; i >= 0; i--) wait_received(&ins[i], &r[i]);
    MPI_Barrier(W);
}

enum { N = 6 };
enum how { WAITANY, WAITSOME, TESTANY, TESTSOME, TESTALL, WAITALL, TEST, N_HOW };

/* One step towards the completion of `r` by one of MPI's ways; writes which are done, says how many. */
static int complete(enum how how, MPI_Request *r, int *indices, MPI_Status *status) {
    int n = 0, flag = 0;
    switch (how) {
    case WAITANY: MPI_Waitany(N, r, &indices[0], &status[0]), n = 1; break;
    case WAITSOME: MPI_Waitsome(N, r, &n, indices, status); break;
    case TESTANY: MPI_Testany(N, r, &indices[0], &flag, &status[0]), n = flag; break;
    case TESTSOME: MPI_Testsome(N, r, &n, indices, status); break;
    case TESTALL: MPI_Testall(N, r, &flag, status), n = flag ? N : 0; break;
    case WAITALL: MPI_Waitall(N, r, status), n = N; break;
    default:
        for (int i = 0; i < N && !n; i++)
            if (r[i] != MPI_REQUEST_NULL && (MPI_Test(&r[i], &flag, &status[0]), flag)) indices[0] = i, n = 1;
    }
    for (int i = 0; i < N && (how == TESTALL || how == WAITALL); i++) indices[i] = i;
    return n;
}

static void many_at_once(void) {
    struct slot in[N];
    MPI_Request r[N];
    MPI_Status status[N];
    int indices[N];
    for (int how = 0; how < N_HOW; how++) {
        for (int i = 0; i < N; i++) irecv(&in[i], "world", W, partner, 50 + i / 2, &r[i]); /* two of each tag */
        MPI_Barrier(W);
        for (int i = 0; i < N; i++) SEND(MPI_Send, "world", W, partner, 52 - i % 3);
        for (int done = 0; done < N;) {
            int n = complete(how, r, indices, status);
            for (int i = 0; i < n; i++) received(&in[indices[i]], &status[i]);
            if (n == 0) sched_yield();
            done += n;
        }
    }
}

/* All kinds of sends; a request that is freed while it is active; a send to oneself. */
static void kinds(void) {
    static struct slot out[6]; /* static: a freed request still reads its buffer */
    struct slot in[10];
    MPI_Request r[10], s[4];
    char *buffer = malloc(4096);
    int bytes;
    MPI_Buffer_attach(buffer, 4096);
    for (int i = 0; i < 9; i++) irecv(&in[i], "world", W, partner, 6, &r[i]);
    irecv(&in[9], "world", W, rank, 6, &r[9]);
    MPI_Barrier(W);
    SEND(MPI_Ssend, "world", W, partner, 6);
    SEND(MPI_Bsend, "world", W, partner, 6);
    SEND(MPI_Rsend, "world", W, partner, 6);
    SEND(MPI_Send, "world", W, partner, 6);
    ISEND(MPI_Isend, &out[0], "world", W, partner, 6, &s[0]);
    MPI_Request_free(&s[0]);
    ISEND(MPI_Issend, &out[1], "world", W, partner, 6, &s[0]);
    ISEND(MPI_Ibsend, &out[2], "world", W, partner, 6, &s[1]);
    ISEND(MPI_Irsend, &out[3], "world", W, partner, 6, &s[2]);
    ISEND(MPI_Isend, &out[4], "world", W, partner, 6, &s[3]);
    SEND(MPI_Send, "world", W, rank, 6);
    for (int i = 0; i < 10; i++) wait_received(&in[i], &r[i]);
    MPI_Waitall(4, s, MPI_STATUSES_IGNORE), MPI_Buffer_detach(&buffer, &bytes), free(buffer);
    MPI_Barrier(W);
}

static void both_ways(void) {
    struct slot in, out;
    MPI_Status status;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < 5; i++) {
        fresh(&out, "world"), posting(&in, "world");
        SENDING(&out, right, 7, MPI_Sendrecv(&out.serial, 1, MPI_INT64_T, right, 7, &in.serial, 1, MPI_INT64_T,
                                             MPI_ANY_SOURCE, 7, W, &status));
        received(&in, &status);
        fresh(&out, "world"), posting(&in, "world"), in.serial = out.serial;
        SENDING(&out, left, 8, MPI_Sendrecv_replace(&in.serial, 1, MPI_INT64_T, left, 8, right, MPI_ANY_TAG, W, &status));
        received(&in, &status);
        MPI_Barrier(W);
    }
}

/* A message that is longer than the buffer for it has been received, error or not: those behind it have
 * their own receives. What came is not to be relied on; serials of one sender are consecutive. */
static void truncated(void) {
    const int tag = 77;
    int64_t two[2] = {0, 0};
    MPI_Status status[2];
    if (rank % 2) {
        for (int round = 0; round < 2; round++) {
            struct slot out;
            fresh(&out, "world"), two[0] = out.serial;
            SENDING(&out, partner, tag, MPI_Send(two, 2, MPI_INT64_T, partner, tag, W));
            for (int i = 0; i < 2; i++) SEND(MPI_Send, "world", W, partner, tag);
        }
    } else {
        struct slot in[2];
        MPI_Request r[2];
        MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
        for (int round = 0; round < 2; round++) {
            int code;
            if (round == 0) {
                posting(&in[0], "world");
                code = MPI_Recv(&in[0].serial, 1, MPI_INT64_T, partner, tag, W, &status[0]);
                posting(&in[1], "world");
                MPI_Recv(&in[1].serial, 1, MPI_INT64_T, partner, tag, W, &status[1]);
            } else {
                for (int i = 0; i < 2; i++) irecv(&in[i], "world", W, partner, tag, &r[i]);
                code = MPI_Waitall(2, r, status);
                /* After an error others may be left to be waited for. */
                for (int i = 0; i < 2; i++) if (r[i] != MPI_REQUEST_NULL) MPI_Wait(&r[i], &status[i]);
            }
            if (code == MPI_SUCCESS) MPI_Abort(W, 4);
            in[0].serial = in[1].serial - 1;
            status[0].MPI_SOURCE = partner, status[0].MPI_TAG = tag;
            received(&in[0], &status[0]), received(&in[1], &status[1]);
            receive("world", W, partner, tag);
        }
        MPI_Comm_set_errhandler(W, MPI_ERRORS_ARE_FATAL);
    }
    MPI_Barrier(W);
}

int main(int argc, char **argv) {
    char name[16];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(W, &rank), MPI_Comm_size(W, &size), partner = rank ^ 1;
    if (size % 2) MPI_Abort(W, 2);
    snprintf(name, sizeof name, "%d", rank), match_open(getenv("MATCH_OUT"), name, rank);
    anybody(), reverse(), cancelled(), persistent(), MPI_Barrier(W), matched_probes(), many_at_once(), kinds(), both_ways(), truncated();
    int failed = match_result("match_wild", W);
    MPI_Finalize();
    return failed;
}
