/* Two ranks that access each other's windows without fences: one waits for the other's post, complete or lock for one
 * known reason, or nobody does. */
#include "ranks.h"

static double ours[8] = {1, 2}, exposed[8];
static MPI_Win window;
static MPI_Group others;

static void open_window(void) {
    MPI_Group all;
    MPI_Win_create(exposed, sizeof exposed, sizeof *exposed, MPI_INFO_NULL, world, &window);
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, &other, &others);
    MPI_Group_free(&all);
}
static void close_window(void) {
    MPI_Group_free(&others);
    MPI_Win_free(&window);
}
APART void meet(int op) { AT(op, WAITS, "MPI_Barrier", MPI_Barrier(world)); }

/* Operation op is the post, op + 1 the complete: each is a number of its own, for either lets others go on. */
APART void access_other(int op, long ms, const char *what) {
    AT(op, WAITS, "MPI_Win_start", MPI_Win_start(others, 0, window));
    MPI_Put(ours, 2, MPI_DOUBLE, other, 0, 2, MPI_DOUBLE, window);
    if (ms) late_part(what, ms);
    COMES(op + 1);
    MPI_Win_complete(window);
}
APART void expose(int op) {
    COMES(op);
    MPI_Win_post(others, 0, window);
    AT(op + 1, WAITS, "MPI_Win_wait", MPI_Win_wait(window));
}

/* Both work; then `origin` accesses the other, one of the two too late. */
static void late_post(int origin, int times, long ms) {
    open_window();
    work(WORK, 100);
    for (int op = 0; op < 2 * times; op += 2) {
        if (rank == origin) {
            access_other(op, 0, 0);
        } else {
            late_part(DELAY, ms);
            expose(op);
        }
    }
    work(WORK, 100);
    close_window();
}
static void late_complete(int origin, int times, long ms) {
    open_window();
    work(WORK, 100);
    for (int op = 0; op < 2 * times; op += 2) {
        if (rank == origin)
            access_other(op, ms, DELAY);
        else
            expose(op);
    }
    work(WORK, 100);
    close_window();
}
static void late_post_once(void) { late_post(1, 1, 300); }
static void late_post_many(void) { late_post(0, 10, 30); }
static void late_complete_once(void) { late_complete(1, 1, 300); }
static void late_complete_many(void) { late_complete(0, 10, 30); }
/* Two phases with the same calls, of which only the second is out of balance. */
APART void smooth_phase(void) {
    work(WORK, 100);
    if (rank == 1) access_other(0, 0, 0);
    if (rank == 0) expose(0);
    work(WORK, 10);
}
APART void rough_phase(void) {
    work(WORK, 100);
    if (rank == 0) late_part(DELAY, 300);
    if (rank == 1) access_other(2, 0, 0);
    if (rank == 0) expose(2);
    work(WORK, 10);
}
static void late_post_paths(void) {
    open_window();
    smooth_phase(), rough_phase();
    close_window();
}

/* The lock of one's own window, so that it is there at once: some libraries give others theirs only when the target comes
 * to MPI. */
APART void hold_own(int op, long ms, const char *what) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
    late_part(what, ms);
    COMES(op);
    MPI_Win_unlock(rank, window);
}
APART void lock_other(int op, int type) {
    AT(op, WAITS, "MPI_Win_lock", MPI_Win_lock(type, other, 0, window));
    MPI_Get(ours, 2, MPI_DOUBLE, other, 0, 2, MPI_DOUBLE, window);
    MPI_Win_unlock(other, window);
}
APART void lock_all(int op) {
    AT(op, WAITS, "MPI_Win_lock_all", MPI_Win_lock_all(0, window));
    MPI_Get(ours, 2, MPI_DOUBLE, other, 0, 2, MPI_DOUBLE, window);
    MPI_Win_flush(other, window);
    MPI_Win_unlock_all(window);
}
/* Whoever wants the lock comes 20 ms after the other has it. They meet behind each time, so that the target is in MPI. */
static void held(int holder, int times, long ms, int type) {
    open_window();
    work(WORK, 100);
    for (int i = 0; i < times; i++) {
        if (rank == holder) {
            hold_own(2 * i, ms, DELAY);
        } else {
            work(WORK, 20);
            if (type)
                lock_other(2 * i, type);
            else
                lock_all(2 * i);
        }
        meet(2 * i + 1);
    }
    work(WORK, 100);
    close_window();
}
static void lock_once(void) { held(0, 1, 320, MPI_LOCK_EXCLUSIVE); }
static void lock_many(void) { held(1, 5, 80, MPI_LOCK_EXCLUSIVE); }
static void lock_shared(void) { held(1, 1, 320, MPI_LOCK_SHARED); }
static void lock_of_all(void) { held(0, 1, 320, 0); }

static void balanced_epochs(void) {
    open_window();
    for (int i = 0; i < 10; i++) {
        work(WORK, 40);
        if (rank == i % 2)
            access_other(2 * i, 0, 0);
        else
            expose(2 * i);
    }
    close_window();
}
/* By turns, and each its own: nobody has what the other wants. */
static void balanced_locks(void) {
    open_window();
    for (int i = 0; i < 10; i++) {
        work(WORK, 40);
        if (rank == i % 2) lock_other(2 * i, MPI_LOCK_EXCLUSIVE);
        meet(2 * i + 1);
    }
    close_window();
}

int main(int count, char **words) {
    static const struct named_case cases[] = {
        CASE(late_post_once), CASE(late_post_many), CASE(late_post_paths), CASE(late_complete_once),
        CASE(late_complete_many), CASE(lock_once), CASE(lock_many), CASE(lock_shared), CASE(lock_of_all),
        CASE(balanced_epochs), CASE(balanced_locks), {0, 0},
    };
    return run_ranks(cases, count, words);
}
