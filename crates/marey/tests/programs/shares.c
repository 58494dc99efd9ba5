/* Four functions with known shares of the processor time, and a thread that waits. Prints for each function what
 * it took by the thread's own clock, ns, and how long the thread waited by the calendar. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

void shares_forty(long rounds); /* in a library of its own */
volatile double shares_sink;

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}
__attribute__((noinline)) void ten(long rounds) {
    double sum = 0;
    for (long i = 0; i < rounds; i++) sum += (double)i * 0.5;
    shares_sink = sum;
}
static inline __attribute__((always_inline)) void twenty(long rounds) {
    double sum = 1;
    for (long i = 0; i < rounds; i++) sum = sum * 0.999 + (double)i;
    shares_sink = sum;
}
__attribute__((noinline)) void around_twenty(long rounds) {
    twenty(rounds);
    shares_sink = shares_sink + 1;
}
__attribute__((noinline)) int thirty(long rounds, int depth) {
    if (depth > 0) return thirty(rounds, depth - 1) + 1;
    double sum = 2;
    for (long i = 0; i < rounds; i++) sum = sum * 0.998 + (double)i;
    shares_sink = sum;
    return 0;
}
__attribute__((noinline)) void into_library(long rounds) {
    shares_forty(rounds);
    shares_sink = shares_sink + 1;
}
__attribute__((noinline)) void into_thirty(long rounds) {
    shares_sink = thirty(rounds, 12);
}

__attribute__((noinline)) double phase(void (*work)(long), double ms) {
    double begin = now(CLOCK_THREAD_CPUTIME_ID), end = begin;
    while (end - begin < ms * 1e6) {
        work(200000);
        end = now(CLOCK_THREAD_CPUTIME_ID);
    }
    return end - begin;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int is_over;
static double waited;
static void *waits(void *nothing) {
    pthread_mutex_lock(&mutex);
    double begin = now(CLOCK_MONOTONIC);
    while (!is_over) pthread_cond_wait(&condition, &mutex);
    waited = now(CLOCK_MONOTONIC) - begin;
    pthread_mutex_unlock(&mutex);
    return nothing;
}

int main(int count, char **words) {
    int rounds = count > 1 ? words[1][0] - '0' : 3;
    void (*const work[])(long) = {ten, around_twenty, into_thirty, into_library};
    const char *const names[] = {"ten", "twenty", "thirty", "shares_forty"};
    double sums[4] = {0, 0, 0, 0};
    pthread_t thread;
    pthread_create(&thread, 0, waits, 0);
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < 4; i++) sums[i] += phase(work[i], 100 * (i + 1));
    pthread_mutex_lock(&mutex);
    is_over = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
    for (int i = 0; i < 4; i++) printf("%s %.0f\n", names[i], sums[i]);
    printf("waited %.0f\n", waited);
}
