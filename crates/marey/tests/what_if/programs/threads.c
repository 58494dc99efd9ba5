/* Programs with two threads beside or instead of the first. It prints how long all took. */
#include "parts.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t full = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t together;
static int items;

/* Runs two threads and waits for both. */
static void run_both(void *(*one)(void *), void *(*two)(void *)) {
    pthread_t threads[2];
    pthread_barrier_init(&together, NULL, 2);
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, two, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

static void *long_force(void *none) {
    keep_to(0);
    force(300);
    return none;
}
static void *short_other(void *none) {
    keep_to(1);
    other(100);
    return none;
}
static void *half_force(void *none) {
    keep_to(0);
    force(150);
    update(150);
    return none;
}
static void *long_other(void *none) {
    keep_to(1);
    other(300);
    return none;
}
static void *short_force(void *none) {
    keep_to(0);
    force(100);
    return none;
}
static void on_path(void) { run_both(long_force, short_other); }
static void off_path(void) { run_both(short_force, long_other); }
static void half(void) { run_both(half_force, short_other); }

/* A barrier each step. */
static void *steps_one(void *none) {
    keep_to(0);
    for (int step = 0; step < 5; step++) {
        force(60);
        pthread_barrier_wait(&together);
    }
    return none;
}
static void *steps_two(void *none) {
    keep_to(1);
    for (int step = 0; step < 5; step++) {
        other(40);
        pthread_barrier_wait(&together);
    }
    return none;
}
static void steps(void) { run_both(steps_one, steps_two); }

/* One holds the lock meanwhile, which the other wants. */
static void *holds(void *none) {
    keep_to(0);
    pthread_mutex_lock(&lock);
    force(200);
    pthread_mutex_unlock(&lock);
    update(20);
    return none;
}
static void *wants(void *none) {
    keep_to(1);
    other(30);
    pthread_mutex_lock(&lock);
    update(80);
    pthread_mutex_unlock(&lock);
    return none;
}
static void locked(void) { run_both(holds, wants); }

/* One makes what the other takes. */
static void *makes(void *none) {
    keep_to(0);
    for (int item = 0; item < 4; item++) {
        force(60);
        pthread_mutex_lock(&lock);
        items++;
        pthread_cond_signal(&full);
        pthread_mutex_unlock(&lock);
    }
    return none;
}
static void *takes(void *none) {
    keep_to(1);
    for (int item = 0; item < 4; item++) {
        pthread_mutex_lock(&lock);
        while (items == 0) pthread_cond_wait(&full, &lock);
        items--;
        pthread_mutex_unlock(&lock);
        update(45);
    }
    return none;
}
static void made(void) { run_both(makes, takes); }

/* The first thread computes too, and joins late. */
static void first(void) {
    pthread_t thread;
    update(50);
    pthread_create(&thread, NULL, long_force, NULL);
    other(120);
    pthread_join(thread, NULL);
    update(50);
}

/* A helper that nobody waits for is cut off in the end. */
static void *serves(void *none) {
    for (;;) usleep(20000);
    return none;
}
static void helper(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, serves, NULL);
    force(300);
    update(50);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"on_path", on_path}, {"off_path", off_path}, {"half", half},   {"steps", steps},
             {"locked", locked},   {"made", made},         {"first", first}, {"helper", helper}};

int main(int count, char **words) {
    const char *name = begin(count, words);
    double before = now();
    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++)
        if (!strcmp(cases[at].name, name)) cases[at].run();
    printf("%.9f\n", now() - before);
    return 0;
}
