/* Which communicator a message belongs to: the same ranks and tags in many communicators, made in
 * every way that MPI-3.1 has (spawning apart: match_spawn.c), freed, and their handles reused.
 * Writes what match.h says; runs on 2, 4 … ranks. */
#include "match.h"

#define W MPI_COMM_WORLD
static int rank, size;

/* Pairs across an intercommunicator whose groups are equally large. */
static void across(const char *label, MPI_Comm inter, int tag) {
    struct slot in;
    MPI_Request request;
    int me;
    MPI_Comm_rank(inter, &me);
    irecv(&in, label, inter, me, tag, &request);
    SEND(MPI_Send, label, inter, me, tag);
    wait_received(&in, &request);
}

/* Two communicators of the same processes, receives posted in one order and sent in the other. */
static void crossed(MPI_Comm first, MPI_Comm second) {
    struct slot a, b;
    MPI_Request ra, rb;
    irecv(&a, "first", first, (rank + size - 1) % size, 5, &ra);
    irecv(&b, "second", second, (rank + size - 1) % size, 5, &rb);
    SEND(MPI_Send, "second", second, (rank + 1) % size, 5);
    SEND(MPI_Send, "first", first, (rank + 1) % size, 5);
    wait_received(&a, &ra);
    wait_received(&b, &rb);
}

static void duplicates(void) {
    MPI_Comm first, second, many[20];
    MPI_Request request;
    char labels[20][16];
    MPI_Comm_dup(W, &first);
    MPI_Comm_idup(W, &second, &request);
    ring("world", W, 5, 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    crossed(first, second);
    MPI_Comm_free(&first), MPI_Comm_free(&second);
    for (int i = 0; i < 20; i++) MPI_Comm_dup(W, &many[i]), snprintf(labels[i], 16, "many%d", i);
    for (int i = 19; i >= 0; i--) ring(labels[i], many[i], 5, 1);
    for (int i = 0; i < 20; i++) MPI_Comm_free(&many[(7 * i) % 20]);
    for (int i = 0; i < 10; i++) { /* the handle of the last one comes back here */
        snprintf(labels[i], 16, "reused%d", i);
        MPI_Comm_dup(W, &first), ring(labels[i], first, 5, 2), MPI_Comm_free(&first);
    }
}

/* A communicator that is freed while a message on it is still to come lives until that has come. */
static void freed_too_early(void) {
    struct slot in, out;
    MPI_Comm doomed, next;
    MPI_Request requests[2];
    MPI_Comm_dup(W, &doomed);
    irecv(&in, "doomed", doomed, (rank + size - 1) % size, 5, &requests[0]);
    ISEND(MPI_Isend, &out, "doomed", doomed, (rank + 1) % size, 5, &requests[1]);
    MPI_Comm_free(&doomed);
    MPI_Comm_dup(W, &next), ring("next", next, 5, 1), MPI_Comm_free(&next);
    wait_received(&in, &requests[0]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static void splits(void) {
    const char *halves[] = {"even", "odd"};
    MPI_Comm half, copy, some, inter, merged;
    MPI_Comm_split(W, rank % 2, -rank, &half), ring(halves[rank % 2], half, 5, 3);
    MPI_Comm_dup(half, &copy), ring(rank % 2 ? "odd-copy" : "even-copy", copy, 5, 2);
    MPI_Comm_split(W, rank == size - 1 ? MPI_UNDEFINED : 0, 0, &some);
    if (some != MPI_COMM_NULL) ring("some", some, 5, 2), MPI_Comm_free(&some);
    /* Keys are -rank, so rank 0 of a half is the highest rank of its parity. */
    MPI_Intercomm_create(half, 0, W, rank % 2 ? size - 2 : size - 1, 12, &inter);
    across("inter", inter, 5), across("inter", inter, 6);
    MPI_Intercomm_merge(inter, rank % 2, &merged), ring("merged", merged, 5, 2);
    across("inter", inter, 5);
    MPI_Comm_free(&merged), MPI_Comm_free(&inter), MPI_Comm_free(&copy), MPI_Comm_free(&half);
}

/* Collective over their members only: nobody else may know that they exist. */
static void groups(void) {
    MPI_Group all, front, reverse;
    MPI_Comm a, b, c;
    int n = size > 2 ? size - 1 : size, *ranks = malloc(n * sizeof(int));
    MPI_Comm_group(W, &all);
    for (int i = 0; i < n; i++) ranks[i] = i;
    MPI_Group_incl(all, n, ranks, &front);
    for (int i = 0; i < n; i++) ranks[i] = n - 1 - i;
    MPI_Group_incl(all, n, ranks, &reverse);
    if (rank < n) {
        MPI_Comm_create_group(W, front, 1, &a), MPI_Comm_create_group(W, reverse, 1, &b);
        MPI_Comm_create_group(W, front, 1, &c);
        ring("reverse", b, 5, 2), ring("front-again", c, 5, 2), ring("front", a, 5, 2);
        MPI_Comm_free(&a), MPI_Comm_free(&b), MPI_Comm_free(&c);
    }
    MPI_Comm_create(W, front, &a);
    if (a != MPI_COMM_NULL) ring("created", a, 5, 2), MPI_Comm_free(&a);
    MPI_Group_free(&front), MPI_Group_free(&reverse), MPI_Group_free(&all), free(ranks);
}

/* A line of ranks with open ends: nothing goes to or comes from MPI_PROC_NULL. */
static void line(void) {
    int dims[1] = {size}, open[1] = {0}, left, right;
    struct slot in, out;
    MPI_Status status;
    MPI_Comm cart;
    MPI_Cart_create(W, 1, dims, open, 0, &cart), MPI_Cart_shift(cart, 0, 1, &left, &right);
    for (int i = 0; i < 3; i++) {
        fresh(&out, "line"), posting(&in, "line");
        int64_t before = match_now();
        MPI_Sendrecv(&out.serial, 1, MPI_INT64_T, right, 5, &in.serial, 1, MPI_INT64_T, left, 5, cart, &status);
        int64_t after = match_now();
        if (right != MPI_PROC_NULL) sent(&out, right, 5, before, after);
        if (left != MPI_PROC_NULL) received(&in, &status);
    }
    MPI_Send(&out.serial, 1, MPI_INT64_T, MPI_PROC_NULL, 5, cart);
    MPI_Recv(&in.serial, 1, MPI_INT64_T, MPI_PROC_NULL, 5, cart, MPI_STATUS_IGNORE);
    MPI_Comm_free(&cart);
}

int main(int argc, char **argv) {
    char name[16], self[24];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(W, &rank), MPI_Comm_size(W, &size);
    if (size % 2) MPI_Abort(W, 2);
    snprintf(name, sizeof name, "%d", rank), match_open(getenv("MATCH_OUT"), name, rank);
    snprintf(self, sizeof self, "self%d", rank), ring(self, MPI_COMM_SELF, 5, 1);
    ring("world", W, 5, 3);
    duplicates(), freed_too_early(), splits(), groups(), line();
    ring("world", W, 5, 1);
    int failed = match_result("match_comms", W);
    MPI_Finalize();
    return failed;
}
