/* Three threads that iterate in step, or do one thing each; the first one only waits for them. */
#include "iterations.h"
#include <pthread.h>

#define THREADS 3
static struct log logs[THREADS];
static pthread_barrier_t barrier;
static int which_longer = -1;
static _Thread_local int me;

APART void meet(void) { pthread_barrier_wait(&barrier); }

static void *worker(void *number) {
    me = (int)(long)number;
    own = logs + me;
    for (int i = 0; i < 80; i++) {
        iteration = i;
        long began = now();
        work(4000, me == 2 && i == which_longer ? 300 : 0);
        meet();
        note("iteration", began, 0);
    }
    return 0;
}
static void *once(void *number) {
    me = (int)(long)number;
    own = logs + me;
    work(50000, 0);
    work(20000, 0);
    meet();
    work(70000, 0);
    return 0;
}

static void with(void *(*body)(void *)) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(threads + i, 0, body, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
}
static void steady(void) { with(worker); }
static void one_long(void) {
    which_longer = 30;
    with(worker);
}
static void none(void) { with(once); }

int main(int count, char **words) {
    static const struct named_case cases[] = {CASE(steady), CASE(one_long), CASE(none), {0, 0}};
    void (*run)(void) = named(cases, count, words);
    pthread_barrier_init(&barrier, 0, THREADS);
    run();
    for (int i = 0; i < THREADS; i++) write_down(logs + i, i);
    return 0;
}
