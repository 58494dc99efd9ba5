/* Threads by the thousand, threads that are cancelled, threads that leave in odd ways. */
#include "odd.h"
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>

static void *brief(void *nothing) {
    VISIT("thread");
    return nothing;
}
static sem_t ended;
static void *detached(void *nothing) {
    VISIT("thread");
    sem_post(&ended);
    return nothing;
}
static void cleans(void *nothing) {
    (void)nothing;
    VISIT("cleans");
}
static volatile int started;
static void *waits(void *nothing) {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    pthread_cleanup_push(cleans, 0);
    VISITS("thread", 10);
    __atomic_fetch_add(&started, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&lock);
    for (;;) pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(0);
    return nothing;
}
static void *tests(void *nothing) {
    pthread_cleanup_push(cleans, 0);
    __atomic_fetch_add(&started, 1, __ATOMIC_SEQ_CST);
    for (;;) {
        VISITS("busy", 10);
        pthread_testcancel();
    }
    pthread_cleanup_pop(0);
    return nothing;
}
static void *asynchronous(void *nothing) {
    static marey_region region = MAREY_REGION("busy");
    struct odd_slot *slot = odd_slot("busy");
    int before;
    marey_enter(&region), marey_leave(&region); /* whatever is to be learnt */
    ODD_BEGIN(slot), ODD_DONE(slot);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
    __atomic_fetch_add(&started, 1, __ATOMIC_SEQ_CST);
    for (;;) ODD_BEGIN(slot), marey_enter(&region), marey_leave(&region), ODD_DONE(slot);
    return nothing;
}
static void *leaves(void *nothing) {
    WITHIN("open", pthread_exit(nothing));
    return nothing;
}
static void cancel(void *(*body)(void *), unsigned threads) {
    for (unsigned i = 0; i < threads; i++) {
        pthread_t thread;
        void *result;
        started = 0;
        CHECK(!pthread_create(&thread, 0, body, 0));
        while (!__atomic_load_n(&started, __ATOMIC_SEQ_CST)) sched_yield();
        usleep(odd_below(300));
        CHECK(!pthread_cancel(thread));
        CHECK(!pthread_join(thread, &result) && result == PTHREAD_CANCELED);
    }
}
int main(int count, char **words) {
    odd_seed(words[count - 1]);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN + 16384);
    VISIT("main");
    if (IS("many") || IS("tenthousand")) {
        unsigned left = IS("many") ? 100 + odd_below(900) : 10000;
        pthread_t threads[64];
        while (left) {
            unsigned now = 1 + odd_below(64);
            if (now > left) now = left;
            for (unsigned i = 0; i < now; i++) CHECK(!pthread_create(&threads[i], &small, brief, 0));
            for (unsigned i = 0; i < now; i++) CHECK(!pthread_join(threads[i], 0));
            left -= now;
        }
    } else if (IS("detached")) {
        unsigned all = 50 + odd_below(500);
        sem_init(&ended, 0, 0);
        pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
        for (unsigned i = 0; i < all; i++) {
            pthread_t thread;
            CHECK(!pthread_create(&thread, &small, detached, 0));
            if (i % 8 == 7) for (int n = 0; n < 8; n++) while (sem_wait(&ended)) continue;
        }
        for (unsigned n = 0; n < all % 8; n++) while (sem_wait(&ended)) continue;
    } else if (IS("waits")) {
        cancel(waits, 5 + odd_below(20));
    } else if (IS("tests")) {
        cancel(tests, 5 + odd_below(20));
    } else if (IS("async")) {
        cancel(asynchronous, 5 + odd_below(50));
    } else if (IS("leaves")) {
        for (int i = 0; i < 50; i++) {
            pthread_t thread;
            CHECK(!pthread_create(&thread, 0, leaves, 0) && !pthread_join(thread, 0));
        }
    }
    printf("%s done\n", words[1]);
    return 70;
}
