/* Threads without MPI, and regions: prints what a recording must have of it, and ends with status 3. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "marey.h"

enum { THREADS = 3, ROUNDS = 5 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static long sum;

static void *work(void *unused) {
    for (int i = 0; i < ROUNDS; i++) {
        static marey_region region = MAREY_REGION("round");
        marey_enter(&region);
        pthread_mutex_lock(&mutex);
        sum++;
        pthread_mutex_unlock(&mutex);
        pthread_barrier_wait(&barrier);
        marey_leave(&region);
    }
    return unused;
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    printf("pthread_create %d\npthread_join %d\npthread_barrier_wait %ld\nround %ld\n", THREADS, THREADS, sum, sum);
    return 3;
}
