/* What MPI 4 has added: a send and a receive in one request, messages in partitions, and collectives
 * that are prepared once. Writes what match.h says; ranks work in pairs, on 2, 4 … ranks. */
#include "match.h"

#if MPI_VERSION >= 4
#define W MPI_COMM_WORLD
static int rank, size, partner;

enum { ROUNDS = 5, PARTS = 4 };

/* MPICH 4.0 leaves the status of such a request as it was. */
static void received_from(struct slot *s, int source, int tag) {
    MPI_Status status;
    status.MPI_SOURCE = source, status.MPI_TAG = tag;
    received(s, &status);
}

static void both_ways(void) {
    struct slot in, out, ins[3], outs[3];
    MPI_Request r, rs[3];
    MPI_Status statuses[3];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < ROUNDS; i++) {
        fresh(&out, "world"), posting(&in, "world");
        SENDING(&out, right, 1, MPI_Isendrecv(&out.serial, 1, MPI_INT64_T, right, 1, &in.serial, 1, MPI_INT64_T, left, 1, W, &r));
        MPI_Wait(&r, MPI_STATUS_IGNORE), received_from(&in, left, 1);
        fresh(&out, "world"), posting(&in, "world"), in.serial = out.serial;
        SENDING(&out, left, 2, MPI_Isendrecv_replace(&in.serial, 1, MPI_INT64_T, left, 2, right, 2, W, &r));
        MPI_Wait(&r, MPI_STATUS_IGNORE), received_from(&in, right, 2);
    }
    for (int i = 0; i < 3; i++) {
        fresh(&outs[i], "world"), posting(&ins[i], "world");
        SENDING(&outs[i], partner, 3, MPI_Isendrecv(&outs[i].serial, 1, MPI_INT64_T, partner, 3, &ins[i].serial, 1, MPI_INT64_T,
                                                    partner, 3, W, &rs[i]));
    }
    MPI_Waitall(3, rs, statuses);
    for (int i = 0; i < 3; i++) received_from(&ins[i], partner, 3);
}

/* With nobody on the one side or the other. */
static void one_way(void) {
    struct slot s;
    MPI_Request r;
    if (rank % 2 == 0) {
        fresh(&s, "world");
        SENDING(&s, partner, 4, MPI_Isendrecv(&s.serial, 1, MPI_INT64_T, partner, 4, NULL, 0, MPI_INT64_T, MPI_PROC_NULL, 4, W, &r));
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        posting(&s, "world");
        MPI_Isendrecv(NULL, 0, MPI_INT64_T, MPI_PROC_NULL, 4, &s.serial, 1, MPI_INT64_T, partner, 4, W, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE), received_from(&s, partner, 4);
    }
}

/* Messages of PARTS numbers each, of which the first is the serial; the receiver has half as many
 * partitions. */
static void in_partitions(void) {
    int64_t from[PARTS] = {0}, to[PARTS];
    struct slot in, out;
    MPI_Request r[2];
    MPI_Status status;
    MPI_Precv_init(to, PARTS / 2, 2, MPI_INT64_T, partner, 5, W, MPI_INFO_NULL, &r[0]);
    MPI_Psend_init(from, PARTS, 1, MPI_INT64_T, partner, 5, W, MPI_INFO_NULL, &r[1]);
    for (int i = 0; i < ROUNDS; i++) {
        posting(&in, "world"), MPI_Start(&r[0]);
        fresh(&out, "world"), from[0] = out.serial;
        SENDING(&out, partner, 5, MPI_Start(&r[1]));
        MPI_Pready(0, r[1]), MPI_Pready_range(1, PARTS - 1, r[1]);
        MPI_Wait(&r[0], &status), in.serial = to[0], received(&in, &status);
        MPI_Wait(&r[1], &status);
    }
    MPI_Request_free(&r[0]), MPI_Request_free(&r[1]);
}

static void prepared_collectives(void) {
    double in = rank, out;
    int64_t word = rank;
    MPI_Request r[3];
    MPI_Allreduce_init(&in, &out, 1, MPI_DOUBLE, MPI_SUM, W, MPI_INFO_NULL, &r[0]);
    MPI_Bcast_init(&word, 1, MPI_INT64_T, 1, W, MPI_INFO_NULL, &r[1]);
    MPI_Barrier_init(W, MPI_INFO_NULL, &r[2]);
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < 3; k++) MPI_Start(&r[k]), MPI_Wait(&r[k], MPI_STATUS_IGNORE);
        if (out != size * (size - 1) / 2 || word != 1) MPI_Abort(W, 4);
    }
    for (int k = 0; k < 3; k++) MPI_Request_free(&r[k]);
}

int main(int argc, char **argv) {
    char name[16];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(W, &rank), MPI_Comm_size(W, &size), partner = rank ^ 1;
    if (size % 2) MPI_Abort(W, 2);
    snprintf(name, sizeof name, "%d", rank), match_open(getenv("MATCH_OUT"), name, rank);
    both_ways(), one_way(), in_partitions(), prepared_collectives();
    int failed = match_result("match_mpi4", W);
    MPI_Finalize();
    return failed;
}
#else
int main(void) {
    puts("this MPI is older than MPI 4");
    return 77;
}
#endif
