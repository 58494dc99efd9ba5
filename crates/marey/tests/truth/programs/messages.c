/* Two ranks that send each other messages: one waits for the other for one known reason, or nobody does. */
#include "ranks.h"

/* Above every limit up to which a buffer would take it. */
#define BIG (8 << 20)
static char buffer[BIG], buffer_in[BIG];

APART void sender(int op, int tag, int count) {
    AT(op, SENDS, "MPI_Send", MPI_Send(buffer, count, MPI_CHAR, other, tag, world));
}
APART void strict_sender(int op, int tag) {
    AT(op, SENDS, "MPI_Ssend", MPI_Ssend(buffer, 1, MPI_CHAR, other, tag, world));
}
APART void strict_starter(int op, long ms) {
    MPI_Request request;
    long came = now();
    MPI_Issend(buffer, 1, MPI_CHAR, other, 0, world, &request);
    work(WORK, ms);
    COMPLETES(came, op, SENDS, "MPI_Wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
}
APART void receiver(int op, int tag, int count) {
    AT(op, WAITS, "MPI_Recv", MPI_Recv(buffer_in, count, MPI_CHAR, other, tag, world, MPI_STATUS_IGNORE));
}
APART void any_receiver(int op) {
    AT(op, WAITS, "MPI_Recv",
       MPI_Recv(buffer_in, 1, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE));
}
APART void finisher(long came, int op, MPI_Request *request) {
    COMPLETES(came, op, WAITS, "MPI_Wait", MPI_Wait(request, MPI_STATUS_IGNORE));
}
/* Is there for its message before it needs it. */
APART void early_receiver(int op, long ms) {
    MPI_Request request;
    long came = now();
    MPI_Irecv(buffer_in, 1, MPI_CHAR, other, 0, world, &request);
    work(WORK, ms);
    finisher(came, op, &request);
}
APART void swapper(int op) {
    AT(op, WAITS, "MPI_Sendrecv",
       MPI_Sendrecv(buffer, 1, MPI_CHAR, other, 0, buffer_in, 1, MPI_CHAR, other, 0, world, MPI_STATUS_IGNORE));
}

static void late_sender_recv(void) {
    work(WORK, 100);
    if (rank == 0) late_part(DELAY, 300), sender(0, 0, 1);
    else receiver(0, 0, 1);
    work(WORK, 100);
}
static void late_sender_recv_many(void) {
    work(WORK, 50);
    for (int i = 0; i < 50; i++) {
        if (rank == 1) late_part(DELAY, 5), sender(i, 0, 1);
        else receiver(i, 0, 1);
    }
    work(WORK, 50);
}
static void late_sender_any(void) {
    work(WORK, 100);
    if (rank == 1) late_part(DELAY, 250), sender(0, 7, 1);
    else any_receiver(0);
    work(WORK, 100);
}
static void late_sender_big(void) {
    work(WORK, 100);
    if (rank == 0) late_part(DELAY, 300), sender(0, 0, BIG);
    else receiver(0, 0, BIG);
    work(WORK, 100);
}
static void late_sender_wait(void) {
    if (rank == 0) work(WORK, 100), late_part(DELAY, 300), sender(0, 0, 1);
    else early_receiver(0, 100);
    work(WORK, 100);
}
static void late_sender_wait_many(void) {
    for (int i = 0; i < 10; i++) {
        if (rank == 0) work(WORK, 10), late_part(DELAY, 25), sender(i, 0, 1);
        else early_receiver(i, 10);
    }
}
static void late_sender_persistent(void) {
    MPI_Request request;
    if (rank == 1) MPI_Recv_init(buffer_in, 1, MPI_CHAR, other, 0, world, &request);
    for (int i = 0; i < 2; i++) {
        if (rank == 0) {
            work(WORK, 80), late_part(DELAY, 150), sender(i, 0, 1);
            continue;
        }
        long came = now();
        MPI_Start(&request);
        work(WORK, 80);
        finisher(came, i, &request);
    }
    if (rank == 1) MPI_Request_free(&request);
}
/* Three of four messages are there in time. */
APART void all_receiver(void) {
    MPI_Request requests[4];
    MPI_Status statuses[4];
    long came = now();
    for (int i = 0; i < 4; i++) MPI_Irecv(buffer_in + i, 1, MPI_CHAR, other, i, world, requests + i);
    work(WORK, 100);
    COMPLETES(came, 3, WAITS, "MPI_Waitall", MPI_Waitall(4, requests, statuses));
}
static void late_sender_waitall(void) {
    if (rank == 1) return all_receiver();
    for (int i = 0; i < 3; i++) sender(i, i, 1);
    work(WORK, 100);
    late_part(DELAY, 300);
    sender(3, 3, 1);
}
static void late_sender_sendrecv(void) {
    work(WORK, 100);
    if (rank == 0) late_part(DELAY, 300);
    swapper(0);
    work(WORK, 100);
}
/* The same receive is reached by two ways, and only one of them is held up. */
APART void smooth_phase(void) {
    work(WORK, 100);
    if (rank == 0) sender(0, 0, 1);
    else receiver(0, 0, 1);
    work(WORK, 10);
}
APART void rough_phase(void) {
    work(WORK, 100);
    if (rank == 0) late_part(DELAY, 300), sender(1, 0, 1);
    else receiver(1, 0, 1);
    work(WORK, 10);
}
static void late_sender_paths(void) { smooth_phase(), rough_phase(); }
/* What both do is also what one of them does too often. */
PART(shared_part)
APART void common_phase(void) { shared_part(WORK, 150), work(WORK, 10); }
APART void extra_phase(void) { shared_part(DELAY, 300), sender(0, 0, 1); }
static void late_sender_shared(void) {
    common_phase();
    if (rank == 0) extra_phase();
    else receiver(0, 0, 1);
    common_phase();
}
/* The one that waits had more to do: the other is late in spite of that, and not because of its work. */
static void late_sender_unequal(void) {
    work(WORK, rank == 0 ? 50 : 150);
    if (rank == 0) late_part(DELAY, 400), sender(0, 0, 1);
    else receiver(0, 0, 1);
}
/* Once the other has waited, both are in step, and what made it wait is past. */
static void late_sender_before_step(void) {
    if (rank == 0) late_part(DELAY, 300), sender(0, 0, 1);
    else receiver(0, 0, 1);
    /* Whoever judges these by all that was before sees the late part again. */
    for (int i = 1; i < 5; i++) work(WORK, 60), swapper(i);
}

static void wrong_order_recv(void) {
    work(WORK, 100);
    if (rank == 0) sender(0, 1, 1), late_part(DELAY, 300), sender(1, 2, 1);
    else receiver(1, 2, 1), receiver(0, 1, 1);
    work(WORK, 100);
}
static void wrong_order_many(void) {
    for (int i = 0; i < 10; i++) {
        work(WORK, 10);
        if (rank == 0) sender(2 * i, 1, 1), late_part(DELAY, 30), sender(2 * i + 1, 2, 1);
        else receiver(2 * i + 1, 2, 1), receiver(2 * i, 1, 1);
    }
}

static void late_receiver_ssend(void) {
    work(WORK, 100);
    if (rank == 0) strict_sender(0, 0);
    else late_part(DELAY, 300), receiver(0, 0, 1);
    work(WORK, 100);
}
static void late_receiver_ssend_many(void) {
    work(WORK, 50);
    for (int i = 0; i < 20; i++) {
        if (rank == 1) strict_sender(i, 0);
        else late_part(DELAY, 12), receiver(i, 0, 1);
    }
    work(WORK, 50);
}
static void late_receiver_big(void) {
    work(WORK, 100);
    if (rank == 0) sender(0, 0, BIG);
    else late_part(DELAY, 300), receiver(0, 0, BIG);
    work(WORK, 100);
}
static void late_receiver_issend(void) {
    if (rank == 0) strict_starter(0, 100);
    else work(WORK, 100), late_part(DELAY, 300), receiver(0, 0, 1);
    work(WORK, 100);
}
/* The receive is started too late, and completed at once. */
static void late_receiver_irecv(void) {
    work(WORK, 100);
    if (rank == 1) strict_sender(0, 0);
    else late_part(DELAY, 300), early_receiver(0, 0);
    work(WORK, 100);
}
static void late_receiver_unequal(void) {
    work(WORK, rank == 1 ? 50 : 150);
    if (rank == 0) strict_sender(0, 0);
    else late_part(DELAY, 400), receiver(0, 0, 1);
}

static void balanced_messages(void) {
    for (int i = 0; i < 5; i++) {
        work(WORK, 120);
        int sends = (rank + i) % 2;
        switch (i) {
        case 0: swapper(i); break;
        case 1: sends ? sender(i, 0, 1) : receiver(i, 0, 1); break;
        case 2: sends ? strict_sender(i, 0) : receiver(i, 0, 1); break;
        case 3: sends ? sender(i, 0, BIG) : receiver(i, 0, BIG); break;
        case 4: sends ? strict_starter(i, 0) : early_receiver(i, 0); break;
        }
    }
}
/* The messages of a round are sent before they are needed, and are so few that every MPI can keep them. */
static void balanced_many(void) {
    for (int round = 0; round < 12; round++) {
        for (int i = 0; i < 12; i++) sender(rank * 150 + round * 12 + i, i, 1);
        work(WORK, 45);
        for (int i = 0; i < 12; i++) receiver(other * 150 + round * 12 + i, i, 1);
    }
}
APART void overlapper(int op) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    long came = now();
    MPI_Irecv(buffer_in, 1, MPI_CHAR, other, 0, world, requests);
    MPI_Isend(buffer, 1, MPI_CHAR, other, 0, world, requests + 1);
    work(WORK, 100);
    COMPLETES(came, op, WAITS, "MPI_Waitall", MPI_Waitall(2, requests, statuses));
}
static void balanced_overlap(void) {
    for (int i = 0; i < 6; i++) overlapper(i);
}
/* Unequal, but what one needs has been there for long: a buffer took it. */
static void balanced_buffered(void) {
    if (rank == 0) sender(0, 0, 1), work(WORK, 450);
    else work(WORK, 300), receiver(0, 0, 1), work(WORK, 150);
}
/* Wrong order of receives does no harm where both messages are there. */
static void balanced_order(void) {
    if (rank == 0) sender(0, 1, 1), sender(1, 2, 1), work(WORK, 400);
    else work(WORK, 200), receiver(1, 2, 1), receiver(0, 1, 1), work(WORK, 200);
}
static void alone(void) { work(WORK, 500); }

static const struct named_case cases[] = {
    CASE(late_sender_recv), CASE(late_sender_recv_many), CASE(late_sender_any), CASE(late_sender_big),
    CASE(late_sender_wait), CASE(late_sender_wait_many), CASE(late_sender_persistent), CASE(late_sender_waitall),
    CASE(late_sender_sendrecv), CASE(late_sender_paths), CASE(late_sender_shared), CASE(late_sender_unequal),
    CASE(late_sender_before_step), CASE(wrong_order_recv), CASE(wrong_order_many), CASE(late_receiver_ssend),
    CASE(late_receiver_ssend_many), CASE(late_receiver_big), CASE(late_receiver_issend), CASE(late_receiver_irecv),
    CASE(late_receiver_unequal), CASE(balanced_messages), CASE(balanced_many), CASE(balanced_overlap),
    CASE(balanced_buffered), CASE(balanced_order), CASE(alone), {0, 0},
};

int main(int count, char **words) {
    /* The first touch of so much memory takes its time. */
    memset(buffer, 1, BIG), memset(buffer_in, 1, BIG);
    return run_ranks(cases, count, words);
}
