/* Two ranks in collective operations, some of them with a thread beside: one waits for the other for one known reason,
 * or nobody does. */
#include "ranks.h"
#include <pthread.h>

static double ours[2] = {1, 2}, theirs[4];
/* For those operations that have one. */
static int root;

APART void meet(int op) { AT(op, WAITS, "MPI_Barrier", MPI_Barrier(world)); }
APART void add(int op) {
    AT(op, WAITS, "MPI_Allreduce", MPI_Allreduce(ours, theirs, 2, MPI_DOUBLE, MPI_SUM, world));
}
APART void transpose(int op) {
    AT(op, WAITS, "MPI_Alltoall", MPI_Alltoall(ours, 1, MPI_DOUBLE, theirs, 1, MPI_DOUBLE, world));
}
APART void collect(int op) {
    AT(op, WAITS, "MPI_Allgather", MPI_Allgather(ours, 2, MPI_DOUBLE, theirs, 2, MPI_DOUBLE, world));
}
APART void spread(int op) {
    AT(op, rank == root ? FREE : WAITS, "MPI_Bcast",
       MPI_Bcast(ours, 2, MPI_DOUBLE, world == MPI_COMM_WORLD ? root : 1 - root, world));
}
APART void hand_out(int op) {
    AT(op, rank == root ? FREE : WAITS, "MPI_Scatter",
       MPI_Scatter(ours, 1, MPI_DOUBLE, theirs, 1, MPI_DOUBLE, root, world));
}
APART void fold(int op) {
    AT(op, rank == root ? WAITS : FREE, "MPI_Reduce", MPI_Reduce(ours, theirs, 2, MPI_DOUBLE, MPI_SUM, root, world));
}
APART void fetch(int op) {
    AT(op, rank == root ? WAITS : FREE, "MPI_Gather",
       MPI_Gather(ours, 2, MPI_DOUBLE, theirs, 2, MPI_DOUBLE, root, world));
}
/* The same, with work between start and completion. */
APART void meet_after(int op, long ms) {
    MPI_Request request;
    long came = now();
    MPI_Ibarrier(world, &request);
    work(WORK, ms);
    COMPLETES(came, op, WAITS, "MPI_Wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
}
APART void add_after(int op, long ms) {
    MPI_Request request;
    long came = now();
    MPI_Iallreduce(ours, theirs, 2, MPI_DOUBLE, MPI_SUM, world, &request);
    work(WORK, ms);
    COMPLETES(came, op, WAITS, "MPI_Wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
}
APART void spread_after(int op, long ms) {
    MPI_Request request;
    long came = now();
    MPI_Ibcast(ours, 2, MPI_DOUBLE, root, world, &request);
    work(WORK, ms);
    COMPLETES(came, op, rank == root ? FREE : WAITS, "MPI_Wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* A window of both, after one that the first rank has alone. */
static MPI_Win alone, window;
static void open_windows(void) {
    double *place;
    if (rank == 0) MPI_Win_allocate(8 * sizeof *place, sizeof *place, MPI_INFO_NULL, MPI_COMM_SELF, &place, &alone);
    MPI_Win_allocate(8 * sizeof *place, sizeof *place, MPI_INFO_NULL, world, &place, &window);
    AT(900, WAITS, "MPI_Win_fence", MPI_Win_fence(0, window));
}
static void close_windows(void) {
    MPI_Win_free(&window);
    if (rank == 0) MPI_Win_free(&alone);
}
APART void give_and_fence(int op) {
    MPI_Put(ours, 2, MPI_DOUBLE, other, 0, 2, MPI_DOUBLE, window);
    AT(op, WAITS, "MPI_Win_fence", MPI_Win_fence(0, window));
}

/* Both work, then `late` comes too late to an operation. */
static void once(int late, void (*operation)(int)) {
    work(WORK, 100);
    if (rank == late) late_part(DELAY, 300);
    operation(0);
    work(WORK, 100);
}
static void many(int late, void (*operation)(int)) {
    for (int i = 0; i < 50; i++) {
        if (rank == late) late_part(DELAY, 5);
        operation(i);
    }
}

static void fence_once(void) {
    open_windows();
    once(0, give_and_fence);
    close_windows();
}
static void fence_many(void) {
    open_windows();
    many(1, give_and_fence);
    close_windows();
}
static void balanced_fences(void) {
    open_windows();
    for (int op = 0; op < 10; op++) work(WORK, 40), give_and_fence(op);
    close_windows();
}
static void barrier_once(void) { once(0, meet); }
static void barrier_other(void) { once(1, meet); }
static void barrier_many(void) { many(0, meet); }
static void barrier_unequal(void) {
    work(WORK, rank == 0 ? 50 : 150);
    if (rank == 0) late_part(DELAY, 400);
    meet(0);
}
/* Two phases with the same barrier, of which only the second is out of balance. */
APART void smooth_phase(void) { work(WORK, 100), meet(0), work(WORK, 10); }
APART void rough_phase(void) {
    work(WORK, 100);
    if (rank == 1) late_part(DELAY, 300);
    meet(1), work(WORK, 10);
}
static void barrier_paths(void) { smooth_phase(), rough_phase(), work(WORK, 50); }
static void ibarrier_wait(void) {
    work(WORK, 50);
    if (rank == 0) late_part(DELAY, 300);
    meet_after(0, 0);
}
/* The other had its work to do meanwhile, and waits for the rest. */
static void ibarrier_overlap(void) {
    if (rank == 0) late_part(DELAY, 400);
    meet_after(0, rank == 0 ? 0 : 100);
}

static void allreduce_once(void) { once(0, add); }
static void allreduce_many(void) { many(1, add); }
static void alltoall_once(void) { once(1, transpose); }
static void allgather_once(void) { once(0, collect); }
static void iallreduce_wait(void) {
    work(WORK, 50);
    if (rank == 1) late_part(DELAY, 300);
    add_after(0, 0);
}

static void bcast_once(void) { once(0, spread); }
static void bcast_many(void) { many(0, spread); }
static void bcast_root_1(void) { root = 1, once(1, spread); }
/* Rank 0 of the communicator is rank 1 of the world. */
static void bcast_reversed(void) {
    root = 1;
    AT(1, WAITS, "MPI_Comm_split", MPI_Comm_split(MPI_COMM_WORLD, 0, other, &world));
    once(1, spread);
    MPI_Comm_free(&world);
}
static void scatter_once(void) { once(0, hand_out); }
static void ibcast_wait(void) {
    work(WORK, 50);
    if (rank == 0) late_part(DELAY, 300);
    spread_after(0, 0);
}

static void reduce_once(void) { once(1, fold); }
static void reduce_many(void) { many(1, fold); }
static void gather_root_1(void) { root = 1, once(0, fetch); }

/* A thread of rank 0 is late, so rank 0 is, which waits for it, and so rank 1 waits. */
static void *late_thread(void *from) {
    truth_begin(1, rank, "worker", *(long *)from);
    work(WORK, 100);
    late_part(DELAY, 300);
    COMES(100);
    truth_end();
    return 0;
}
APART void joiner(pthread_t thread) { AT(100, WAITS, "pthread_join", pthread_join(thread, 0)); }
APART void with_thread(void) {
    pthread_t thread;
    long from = schedule;
    if (rank == 0 && pthread_create(&thread, 0, late_thread, &from)) fail("no thread");
    work(WORK, 100);
    if (rank == 0) joiner(thread);
}
APART void chain_sender(int op) { AT(op, SENDS, "MPI_Send", MPI_Send(ours, 2, MPI_DOUBLE, other, 0, world)); }
APART void chain_receiver(int op) {
    AT(op, WAITS, "MPI_Recv", MPI_Recv(theirs, 2, MPI_DOUBLE, other, 0, world, MPI_STATUS_IGNORE));
}
static void chain_join_recv(void) {
    with_thread();
    if (rank == 0) chain_sender(0);
    else chain_receiver(0);
    work(WORK, 50);
}
static void chain_join_barrier(void) { with_thread(), meet(0), work(WORK, 50); }

static void balanced_collectives(void) {
    void (*all[])(int) = {meet, add, transpose, collect, spread, hand_out, fold, fetch};
    for (int i = 0; i < 8; i++) work(WORK, 100), all[i](i);
}
static void balanced_collectives_many(void) {
    for (int i = 0; i < 3; i++) {
        work(WORK, 200);
        for (int j = 0; j < 10; j++) meet(i * 30 + j), add(i * 30 + 10 + j), collect(i * 30 + 20 + j);
    }
}
static void balanced_overlap_collectives(void) {
    for (int i = 0; i < 2; i++) meet_after(3 * i, 100), add_after(3 * i + 1, 100), spread_after(3 * i + 2, 100);
}
/* The root is first and nobody waits for it: the others come when they need it. */
static void balanced_early_root(void) {
    if (rank == 1) work(WORK, 200);
    spread(0);
    work(WORK, rank == 1 ? 300 : 500);
}
/* The root is last, and the others did not wait for it. */
static void balanced_late_root(void) {
    if (rank == 0) work(WORK, 200);
    fold(0);
    work(WORK, rank == 0 ? 300 : 500);
}

static const struct named_case cases[] = {
    CASE(fence_once), CASE(fence_many), CASE(balanced_fences), CASE(barrier_once), CASE(barrier_other), CASE(barrier_many), CASE(barrier_unequal), CASE(barrier_paths),
    CASE(ibarrier_wait), CASE(ibarrier_overlap), CASE(allreduce_once), CASE(allreduce_many), CASE(alltoall_once),
    CASE(allgather_once), CASE(iallreduce_wait), CASE(bcast_once), CASE(bcast_many), CASE(bcast_root_1),
    CASE(bcast_reversed), CASE(scatter_once), CASE(ibcast_wait), CASE(reduce_once), CASE(reduce_many),
    CASE(gather_root_1), CASE(chain_join_recv), CASE(chain_join_barrier), CASE(balanced_collectives),
    CASE(balanced_collectives_many), CASE(balanced_overlap_collectives), CASE(balanced_early_root),
    CASE(balanced_late_root), {0, 0},
};

int main(int count, char **words) { return run_ranks(cases, count, words); }
