/* Four threads that work in step, one of them more than the others, or all the same; and threads that are created for
 * next to nothing, or for something. Each tells what it did on standard output, as a line of JSON. */
#include "truth.h"

PART(work)

static pthread_barrier_t together;
static int most_ms;

static void *worker(void *argument) {
    long number = (long)argument;
    char name[16];
    snprintf(name, sizeof name, "worker %ld", number);
    pthread_setname_np(pthread_self(), name);
    here = locations + (number & 3);
    schedule = now();
    for (int i = 0; i < 10; i++) {
        work(WORK, number == 2 ? most_ms : 10);
        pthread_barrier_wait(&together);
        schedule = now();
    }
    return 0;
}

APART void team(int ms) {
    pthread_t threads[4];
    most_ms = ms;
    pthread_barrier_init(&together, 0, 4);
    for (long i = 0; i < 4; i++) pthread_create(threads + i, 0, worker, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
}
static void uneven(void) { team(40); }
static void even(void) { team(10); }

static void *task(void *argument) {
    long ms = (long)argument;
    if (ms) usleep(ms * 1000);
    return 0;
}
APART void spawn(int number, long ms) {
    long began = now();
    for (int i = 0; i < number; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, task, (void *)ms);
        pthread_join(thread, 0);
    }
    printf("{\"threads\":%d,\"seconds\":%.9f}\n", number, (now() - began) / 1e9);
}
static void tiny(void) { spawn(300, 0); }
static void worth_it(void) { spawn(50, 5); }

static const struct named_case cases[] = {CASE(uneven), CASE(even), CASE(tiny), CASE(worth_it), {0, 0}};

int main(int count, char **words) {
    truth_case(cases, count, words)();
    return 0;
}
