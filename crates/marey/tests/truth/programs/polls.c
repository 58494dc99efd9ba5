/* Two ranks of which one asks, again and again or in a call that waits, for what the other is late with; or both set up
 * something together and one is late; or nobody is. */
#include "ranks.h"

static char ours[64], theirs[64];

APART void sender(int op) { AT(op, SENDS, "MPI_Send", MPI_Send(ours, 1, MPI_CHAR, other, 0, world)); }
APART void taker(void) { MPI_Recv(theirs, 1, MPI_CHAR, other, 0, world, MPI_STATUS_IGNORE); }
APART void prober(int op) {
    AT(op, WAITS, "MPI_Probe", MPI_Probe(MPI_ANY_SOURCE, 0, world, MPI_STATUS_IGNORE));
}
APART void match_prober(int op) {
    MPI_Message message;
    AT(op, WAITS, "MPI_Mprobe", MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &message, MPI_STATUS_IGNORE));
    MPI_Mrecv(theirs, 1, MPI_CHAR, &message, MPI_STATUS_IGNORE);
}
APART void asker(int op) {
    int found = 0;
    AT(op, WAITS, "MPI_Iprobe", while (!found) MPI_Iprobe(other, 0, world, &found, MPI_STATUS_IGNORE));
}
APART void match_asker(int op) {
    int found = 0;
    MPI_Message message;
    AT(op, WAITS, "MPI_Improbe", while (!found) MPI_Improbe(other, 0, world, &found, &message, MPI_STATUS_IGNORE));
    MPI_Mrecv(theirs, 1, MPI_CHAR, &message, MPI_STATUS_IGNORE);
}
/* Tests until it is over, for so long at most. Whether it is. */
APART int tester(long came, int op, MPI_Request *request, long ms) {
    int is_over = 0;
    long until = now() + ms * MS;
    COMPLETES(came, op, WAITS, "MPI_Test",
              do MPI_Test(request, &is_over, MPI_STATUS_IGNORE); while (!is_over && now() < until));
    return is_over;
}
APART void all_tester(long came, int op, MPI_Request *requests) {
    int are_over = 0;
    COMPLETES(came, op, WAITS, "MPI_Testall",
              while (!are_over) MPI_Testall(2, requests, &are_over, MPI_STATUSES_IGNORE));
}
APART void looker(long came, int op, MPI_Request *request) {
    int is_over = 0;
    COMPLETES(came, op, WAITS, "MPI_Request_get_status",
              while (!is_over) MPI_Request_get_status(*request, &is_over, MPI_STATUS_IGNORE));
    MPI_Wait(request, MPI_STATUS_IGNORE);
}
#define LONG 20000
APART MPI_Request post(long *came) {
    MPI_Request request;
    *came = now();
    MPI_Irecv(theirs, 1, MPI_CHAR, other, 0, world, &request);
    return request;
}
APART void strict_starter(int op) {
    MPI_Request request;
    long came = now();
    MPI_Issend(ours, 1, MPI_CHAR, other, 0, world, &request);
    tester(came, op, &request, LONG);
}
APART void receiver(int op) {
    AT(op, WAITS, "MPI_Recv", MPI_Recv(theirs, 1, MPI_CHAR, other, 0, world, MPI_STATUS_IGNORE));
}
APART void meet_by_tests(int op) {
    MPI_Request request;
    long came = now();
    MPI_Ibarrier(world, &request);
    tester(came, op, &request, LONG);
}

/* Rank 0 is late with its message. */
static void late_message(void (*asks)(int)) {
    work(WORK, 100);
    if (rank == 0) late_part(DELAY, 300), sender(0);
    else asks(0);
    work(WORK, 100);
}
APART void probe_and_take(int op) { prober(op), taker(); }
APART void ask_and_take(int op) { asker(op), taker(); }
APART void post_and_test(int op) {
    long came;
    MPI_Request request = post(&came);
    tester(came, op, &request, LONG);
}
APART void post_and_look(int op) {
    long came;
    MPI_Request request = post(&came);
    looker(came, op, &request);
}
static void late_sender_probe(void) { late_message(probe_and_take); }
static void late_sender_mprobe(void) { late_message(match_prober); }
static void late_sender_iprobe(void) { late_message(ask_and_take); }
static void late_sender_improbe(void) { late_message(match_asker); }
static void late_sender_test(void) { late_message(post_and_test); }
static void late_sender_get_status(void) { late_message(post_and_look); }
static void late_sender_iprobe_many(void) {
    work(WORK, 50);
    for (int i = 0; i < 20; i++) {
        if (rank == 1) late_part(DELAY, 12), sender(i);
        else ask_and_take(i);
    }
    work(WORK, 50);
}
/* On a communicator that has no name, since the program has given it none. */
static void late_sender_iprobe_unnamed(void) {
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &world);
    late_sender_iprobe_many();
    MPI_Comm_free(&world);
}
/* The first of two messages is there in time. */
static void late_sender_testall(void) {
    if (rank == 0) {
        sender(0), work(WORK, 100), late_part(DELAY, 300), sender(1);
        return;
    }
    long came;
    MPI_Request requests[2] = {post(&came), post(&came)};
    work(WORK, 100);
    all_tester(came, 1, requests);
}
/* What it works between its tests, it does not wait. */
static void late_sender_test_and_work(void) {
    work(WORK, 50);
    if (rank == 0) {
        late_part(DELAY, 300), sender(0);
    } else {
        long came;
        MPI_Request request = post(&came);
        for (int i = 0; i < 3 && !tester(came, 0, &request, 50); i++) schedule = now(), work(WORK, 50);
        if (request != MPI_REQUEST_NULL) tester(came, 0, &request, LONG);
    }
    work(WORK, 100);
}
static void late_receiver_test(void) {
    work(WORK, 100);
    if (rank == 0) strict_starter(0);
    else late_part(DELAY, 300), receiver(0);
    work(WORK, 100);
}

/* What all members do together. */
static MPI_Comm made;
static MPI_Win window;
static MPI_File file;
APART void copy(int op) { AT(op, WAITS, "MPI_Comm_dup", MPI_Comm_dup(world, &made)); }
APART void part(int op) { AT(op, WAITS, "MPI_Comm_split", MPI_Comm_split(world, 0, rank, &made)); }
APART void open_window(int op) {
    AT(op, WAITS, "MPI_Win_create", MPI_Win_create(ours, sizeof ours, 1, MPI_INFO_NULL, world, &window));
}
APART void close_window(int op) { AT(op, WAITS, "MPI_Win_free", MPI_Win_free(&window)); }
APART void open_file(int op) {
    AT(op, WAITS, "MPI_File_open",
       MPI_File_open(world, "shared", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
}
APART void close_file(int op) { AT(op, WAITS, "MPI_File_close", MPI_File_close(&file)); }

static void late(int who) {
    work(WORK, 100);
    if (rank == who) late_part(DELAY, 300);
}
/* All that is not meant is done while both are in step, with a number of its own. */
static void dup_once(void) { late(0), copy(0), work(WORK, 100), MPI_Comm_free(&made); }
static void split_once(void) { late(1), part(0), work(WORK, 100), MPI_Comm_free(&made); }
static void win_create_once(void) { late(0), open_window(0), work(WORK, 100), close_window(1); }
static void win_free_once(void) { open_window(0), late(1), close_window(1), work(WORK, 100); }
static void file_open_once(void) { late(0), open_file(0), work(WORK, 100), close_file(1); }
static void file_close_once(void) { open_file(0), late(0), close_file(1), work(WORK, 100); }
static void ibarrier_test(void) { late(0), meet_by_tests(0), work(WORK, 100); }

static void balanced_asking(void) {
    for (int i = 0; i < 6; i++) {
        work(WORK, 80);
        int sends = (rank + i) % 2;
        switch (i / 2) {
        case 0: sends ? sender(i) : probe_and_take(i); break;
        case 1: sends ? sender(i) : ask_and_take(i); break;
        case 2: sends ? sender(i) : post_and_test(i); break;
        }
    }
}
/* One message is late, but who needs it works meanwhile, and asks now and then. */
static void balanced_overlap_asking(void) {
    if (rank == 0) {
        work(WORK, 400), sender(0), work(WORK, 100);
        return;
    }
    MPI_Request request;
    int is_over = 0;
    MPI_Irecv(theirs, 1, MPI_CHAR, other, 0, world, &request);
    for (int i = 0; i < 50; i++) {
        work(WORK, 10);
        if (!is_over) MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
    }
    if (!is_over) MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void balanced_set_up(void) {
    work(WORK, 150), copy(0), work(WORK, 150), MPI_Comm_free(&made);
    open_window(1), work(WORK, 150), close_window(2);
}

static const struct named_case cases[] = {
    CASE(late_sender_probe), CASE(late_sender_mprobe), CASE(late_sender_iprobe), CASE(late_sender_improbe),
    CASE(late_sender_test), CASE(late_sender_get_status), CASE(late_sender_iprobe_many),
    CASE(late_sender_iprobe_unnamed), CASE(late_sender_testall), CASE(late_sender_test_and_work), CASE(late_receiver_test), CASE(dup_once), CASE(split_once), CASE(win_create_once),
    CASE(win_free_once), CASE(file_open_once), CASE(file_close_once), CASE(ibarrier_test), CASE(balanced_asking),
    CASE(balanced_overlap_asking), CASE(balanced_set_up), {0, 0},
};

int main(int count, char **words) { return run_ranks(cases, count, words); }
