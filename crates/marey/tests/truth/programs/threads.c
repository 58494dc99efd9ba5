/* Threads of C: one waits for another for one known reason, or nobody does. */
#include "truth.h"
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t items;
static int ready_n;

PART(work)
PART(late_part)

/* A thread with a place among the locations. */
struct start {
    int own, op;
    const char *name;
    long from;
    void (*body)(void);
};
/* Every join is an operation of its own. */
static int next_join = 600;

static void *thread_main(void *word) {
    const struct start *start = word;
    truth_begin(start->own, 0, start->name, start->from);
    /* Long enough for it to have started. */
    work(WORK, 20);
    start->body();
    truth_end();
    COMES(start->op);
    return 0;
}
static pthread_t begin(struct start *start) {
    pthread_t thread;
    start->op = next_join++, start->from = schedule = truth_schedule(now());
    if (pthread_create(&thread, 0, thread_main, start)) fail("no thread");
    return thread;
}
APART void joiner(pthread_t thread, int op) { AT(op, WAITS, "pthread_join", pthread_join(thread, 0)); }
/* The main thread does its half beside one other. */
static void beside(void (*body)(void), void (*main_half)(void)) {
    struct start start = {1, 0, "worker", 0, body};
    pthread_t thread = begin(&start);
    work(WORK, 20);
    main_half();
    joiner(thread, start.op);
}

APART void meet(int op) { AT(op, WAITS, "pthread_barrier_wait", pthread_barrier_wait(&barrier)); }
APART void locker(int op, int lock) {
    AT(op, WAITS, "pthread_mutex_lock", pthread_mutex_lock(locks + lock));
    pthread_mutex_unlock(locks + lock);
}
APART void unlocker(int op, int lock) {
    COMES(op);
    pthread_mutex_unlock(locks + lock);
}
APART void awaiter(int op, int n) {
    pthread_mutex_lock(locks);
    while (ready_n < n) AT(op, WAITS, "pthread_cond_wait", pthread_cond_wait(&ready, locks));
    pthread_mutex_unlock(locks);
}
APART void signaller(int op) {
    pthread_mutex_lock(locks);
    ready_n++;
    COMES(op);
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(locks);
}
APART void taker(int op) { AT(op, WAITS, "sem_wait", sem_wait(&items)); }
APART void poster(int op) {
    COMES(op);
    sem_post(&items);
}
APART void reader(int op) {
    AT(op, WAITS, "pthread_rwlock_rdlock", pthread_rwlock_rdlock(&table));
    pthread_rwlock_unlock(&table);
}

static void works(void) { work(WORK, 100); }
static void works_late(void) { work(WORK, 100), late_part(DELAY, 300); }

static void join_once(void) { beside(works_late, works); }
static void works_short(void) { late_part(DELAY, 25); }
static void nothing(void) {}
static void join_many(void) {
    for (int i = 0; i < 10; i++) beside(works_short, nothing);
}
/* The same join is reached by two ways, and only one of them is held up. */
APART void smooth_phase(void) { beside(works, works), work(WORK, 10); }
APART void rough_phase(void) { beside(works_late, works), work(WORK, 10); }
static void join_paths(void) { smooth_phase(), rough_phase(); }
static void works_less(void) { work(WORK, 50), late_part(DELAY, 400); }
static void works_more(void) { work(WORK, 150); }
static void join_unequal(void) { beside(works_less, works_more); }

static void meets_late(void) { works_late(), meet(0), work(WORK, 50); }
static void meets(void) { works(), meet(0), work(WORK, 50); }
static void barrier_once(void) { beside(meets_late, meets); }
/* Here the thread waits for the main one. */
static void barrier_main_late(void) { beside(meets, meets_late); }
static void meets_late_often(void) {
    for (int i = 0; i < 40; i++) late_part(DELAY, 6), meet(i);
}
static void meets_often(void) {
    for (int i = 0; i < 40; i++) meet(i);
}
static void barrier_many(void) { beside(meets_late_often, meets_often); }

/* The lock is taken before both are put in step, so that it is clear who gets it first. */
static void holds_late(void) {
    pthread_mutex_lock(locks);
    meet(1), late_part(DELAY, 300), unlocker(0, 0), work(WORK, 100);
}
static void locks_after(void) { meet(1), locker(0, 0), work(WORK, 100); }
static void mutex_once(void) { beside(holds_late, locks_after); }
/* Two locks by turns: one that is given back and taken at once again would be had by the same. */
static void holds_often(void) {
    for (int i = 0; i < 25; i++) {
        pthread_mutex_lock(locks + i % 2);
        meet(100 + i), late_part(DELAY, 10), unlocker(i, i % 2);
    }
}
static void locks_often(void) {
    for (int i = 0; i < 25; i++) meet(100 + i), locker(i, i % 2);
}
static void mutex_many(void) { beside(holds_often, locks_often); }
static void writes_late(void) {
    pthread_rwlock_wrlock(&table);
    meet(1), late_part(DELAY, 300);
    COMES(0);
    pthread_rwlock_unlock(&table);
    work(WORK, 100);
}
static void reads_after(void) { meet(1), reader(0), work(WORK, 100); }
static void rwlock_once(void) { beside(writes_late, reads_after); }

static void signals_late(void) { works_late(), signaller(0), work(WORK, 50); }
static void awaits(void) { works(), awaiter(0, 1), work(WORK, 50); }
static void condition_once(void) { beside(signals_late, awaits); }
static void signals_often(void) {
    for (int i = 0; i < 40; i++) late_part(DELAY, 6), signaller(i);
}
static void awaits_often(void) {
    for (int i = 0; i < 40; i++) awaiter(i, i + 1);
}
static void condition_many(void) { beside(signals_often, awaits_often); }
static void posts_late(void) { works_late(), poster(0), work(WORK, 50); }
static void takes(void) { works(), taker(0), work(WORK, 50); }
static void semaphore_once(void) { beside(posts_late, takes); }

/* Two threads and the main one, each of which waits for the one before it. */
static void chain(void (*first)(void), void (*second)(void), void (*main_half)(void)) {
    struct start starts[2] = {{1, 0, "first", 0, first}, {2, 0, "second", 0, second}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) threads[i] = begin(starts + i);
    work(WORK, 20);
    main_half();
    joiner(threads[1], starts[1].op), joiner(threads[0], starts[0].op);
}
static void signals_last(void) { works_late(), signaller(0); }
static void awaits_last(void) { works(), awaiter(0, 1); }
static void chain_condition_join(void) { chain(signals_last, awaits_last, works); }
static void chain_holds_late(void) {
    pthread_mutex_lock(locks);
    meet(2), late_part(DELAY, 300), unlocker(0, 0);
}
/* Holds a lock while it waits for another. */
static void chain_holds_both(void) {
    pthread_mutex_lock(locks + 1);
    meet(2), locker(0, 0), unlocker(1, 1);
}
APART void chain_locker(void) { meet(2), locker(1, 1); }
static void chain_locks(void) {
    pthread_barrier_destroy(&barrier);
    pthread_barrier_init(&barrier, 0, 3);
    chain(chain_holds_late, chain_holds_both, chain_locker);
}

static void half_a_second(void) { work(WORK, 500); }
static void balanced_join(void) { beside(half_a_second, half_a_second); }
static void steps(void) {
    for (int i = 0; i < 5; i++) work(WORK, 100), meet(i);
}
static void balanced_barrier(void) { beside(steps, steps); }
/* Both need the lock, and never at the same time. */
static void locks_first(void) {
    for (int i = 0; i < 3; i++) {
        AT(200 + i, FREE, "", pthread_mutex_lock(locks));
        work(WORK, 40), unlocker(i, 0), work(WORK, 140);
    }
}
static void locks_second(void) {
    for (int i = 0; i < 3; i++) work(WORK, 100), locker(i, 0), work(WORK, 80);
}
static void balanced_mutex(void) { beside(locks_first, locks_second); }
/* What one needs the other has made already. */
static void makes(void) { work(WORK, 100), signaller(0), poster(1), work(WORK, 400); }
static void needs(void) { work(WORK, 200), awaiter(0, 1), taker(1), work(WORK, 300); }
static void balanced_condition(void) { beside(makes, needs); }
static void alone(void) { work(WORK, 500); }

static const struct named_case cases[] = {
    CASE(join_once), CASE(join_many), CASE(join_paths), CASE(join_unequal), CASE(barrier_once),
    CASE(barrier_main_late), CASE(barrier_many), CASE(mutex_once), CASE(mutex_many), CASE(rwlock_once),
    CASE(condition_once), CASE(condition_many), CASE(semaphore_once), CASE(chain_condition_join), CASE(chain_locks),
    CASE(balanced_join), CASE(balanced_barrier), CASE(balanced_mutex), CASE(balanced_condition), CASE(alone), {0, 0},
};

int main(int count, char **words) {
    void (*run)(void) = truth_case(cases, count, words);
    pthread_barrier_init(&barrier, 0, 2);
    sem_init(&items, 0, 0);
    truth_begin(0, 0, "main", now());
    run();
    truth_end();
    truth_write(0);
    return 0;
}
