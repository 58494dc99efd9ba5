// Programs of which the threads are measured; the first argument says which. Each prints what it
// knows to be true, in lines of "name value".
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t sem;
static atomic_int stage;
static long n;

static void say(const char *name, long value) { printf("%s %ld\n", name, value); }

// Waits until the kernel has put thread `id` of this process to sleep.
static void await_sleep(int id) {
    char path[64], text[256], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", id);
    while (state != 'S') {
        sched_yield();
        FILE *file = fopen(path, "r");
        if (!file) abort();
        size_t len = fread(text, 1, sizeof text - 1, file);
        fclose(file);
        text[len] = 0;
        char *end = strrchr(text, ')');
        state = end ? end[2] : 0;
    }
}

static void *count(void *arg) {
    for (long i = 0; i < (long)arg; i++) {
        pthread_mutex_lock(&mutex);
        n++;
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}

static void locks(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, count, (void *)20000L);
    long sum = 0;
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(t[i], &result);
        sum += (long)result;
    }
    say("acquisitions", n);
    say("returned", sum);
}

static void *want(void *arg) {
    stage = gettid();
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return arg;
}

static void handover(void) {
    for (int i = 0; i < 10; i++) {
        pthread_t t;
        stage = 0;
        pthread_mutex_lock(&mutex);
        pthread_create(&t, 0, want, 0);
        while (!stage) sched_yield();
        await_sleep(stage);
        pthread_mutex_unlock(&mutex);
        pthread_join(t, 0);
    }
}

static atomic_int here, ids[4];

static void *meet(void *arg) {
    ids[(long)arg] = gettid();
    // In round r the thread r % 4 comes last: when the others wait for it.
    for (long r = 0; r < 20; r++) {
        if (r % 4 == (long)arg) {
            while (here != 3 * (r + 1)) sched_yield();
            for (int i = 0; i < 4; i++) if (i != (long)arg) await_sleep(ids[i]);
        } else {
            here++;
        }
        int result = pthread_barrier_wait(&barrier);
        if (result == PTHREAD_BARRIER_SERIAL_THREAD) atomic_fetch_add(&stage, 1);
    }
    return 0;
}

static void barriers(void) {
    pthread_t t[4];
    pthread_barrier_init(&barrier, 0, 4);
    for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, meet, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    pthread_barrier_destroy(&barrier);
    say("serial", stage);
}

static void *consume(void *arg) {
    pthread_mutex_lock(&mutex);
    stage = 1;
    while (n == 0) pthread_cond_wait(&cond, &mutex);
    n--;
    pthread_mutex_unlock(&mutex);
    return arg;
}

static void conditions(void) {
    for (int i = 0; i < 20; i++) {
        pthread_t t;
        stage = 0;
        pthread_create(&t, 0, consume, 0);
        while (!stage) sched_yield();
        pthread_mutex_lock(&mutex);
        n++;
        pthread_cond_signal(&cond);
        pthread_mutex_unlock(&mutex);
        pthread_join(t, 0);
    }
    struct timespec past = {1, 0};
    pthread_mutex_lock(&mutex);
    say("timedwait", pthread_cond_timedwait(&cond, &mutex, &past));
    say("clockwait", pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &past));
    pthread_mutex_unlock(&mutex);
}

static void *empty(void *arg) { return (char *)arg + 1; }

static void many(void) {
    long sum = 0;
    for (long i = 0; i < 2000; i += 20) {
        pthread_t t[20];
        for (long k = 0; k < 20; k++) pthread_create(&t[k], 0, empty, (void *)(i + k));
        for (long k = 0; k < 20; k++) {
            void *result;
            pthread_join(t[k], &result);
            sum += (long)result;
        }
    }
    say("sum", sum);
}

static void *exits(void *arg) {
    pthread_exit(arg);
}
static void cleanup(void *arg) {
    pthread_mutex_unlock(&mutex);
    say("cleanup", (long)arg);
}
static void *cancelled(void *arg) {
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(cleanup, arg);
    stage = 1;
    for (;;) pthread_cond_wait(&cond, &mutex);
    pthread_cleanup_pop(0);
    return 0;
}
static void *cancelled_sem(void *arg) {
    stage = 1;
    for (;;) sem_wait(&sem);
    return arg;
}
static void *cancelled_free(void *arg) {
    // Nothing to wait for, and still a point of cancellation.
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, 0);
    stage = 1;
    while (stage == 1) sched_yield();
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, 0);
    sem_wait(&sem);
    return arg;
}

static void *posts(void *arg) {
    sem_post(&sem);
    return arg;
}

static void ends(void) {
    pthread_t t;
    void *result;
    pthread_create(&t, 0, exits, (void *)7L);
    pthread_join(t, &result);
    say("exit", (long)result);
    pthread_create(&t, 0, cancelled, (void *)8L);
    while (!stage) sched_yield();
    // Taken only while the other waits.
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_cancel(t);
    pthread_join(t, &result);
    say("cancelled", result == PTHREAD_CANCELED);
    sem_init(&sem, 0, 0);
    stage = 0;
    pthread_create(&t, 0, cancelled_sem, 0);
    while (!stage) sched_yield();
    pthread_cancel(t);
    pthread_join(t, &result);
    say("cancelled", result == PTHREAD_CANCELED);
    sem_post(&sem);
    stage = 0;
    pthread_create(&t, 0, cancelled_free, 0);
    while (!stage) sched_yield();
    pthread_cancel(t);
    stage = 2;
    pthread_join(t, &result);
    say("cancelled", result == PTHREAD_CANCELED);
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    sem_wait(&sem);
    for (int i = 0; i < 10; i++) {
        say("create", pthread_create(&t, &detached, posts, &sem));
        sem_wait(&sem);
    }
    pthread_create(&t, 0, cancelled_sem, 0);
    say("tryjoin", pthread_tryjoin_np(t, 0));
    pthread_cancel(t);
    struct timespec far = {4000000000L, 0};
    say("timedjoin", pthread_timedjoin_np(t, &result, &far));
}

static int c11_thread(void *arg) {
    mtx_t *m = arg;
    for (int i = 0; i < 1000; i++) {
        mtx_lock(m);
        n++;
        mtx_unlock(m);
    }
    return 42;
}

static void c11(void) {
    thrd_t t[3];
    mtx_t m;
    say("init", mtx_init(&m, mtx_timed));
    for (int i = 0; i < 3; i++) say("create", thrd_create(&t[i], c11_thread, &m));
    for (int i = 0; i < 3; i++) {
        int result;
        thrd_join(t[i], &result);
        say("result", result);
    }
    struct timespec past = {1, 0};
    mtx_lock(&m);
    say("timed", mtx_timedlock(&m, &past) == thrd_timedout);
    mtx_unlock(&m);
    say("acquisitions", n + 1);
}

static pthread_mutex_t robust;
static void *dies(void *arg) {
    pthread_mutex_lock(&robust);
    return arg;
}

static void codes(void) {
    int kinds[] = {PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ADAPTIVE_NP};
    for (int i = 0; i < 3; i++) {
        pthread_mutexattr_t attr;
        pthread_mutex_t m;
        struct timespec past = {1, 0}, odd = {1, -1};
        pthread_mutexattr_init(&attr);
        pthread_mutexattr_settype(&attr, kinds[i]);
        if (i == 0) pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
        pthread_mutex_init(&m, &attr);
        say("unlock-free", i < 2 ? pthread_mutex_unlock(&m) : 0);
        say("lock", pthread_mutex_lock(&m));
        if (i < 2) say("again", pthread_mutex_lock(&m));
        say("timed", pthread_mutex_timedlock(&m, &past));
        say("odd", pthread_mutex_timedlock(&m, &odd));
        say("clock", pthread_mutex_clocklock(&m, 99, &past));
        say("unlock", pthread_mutex_unlock(&m));
    }
    pthread_mutexattr_t attr;
    pthread_t t;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attr);
    pthread_create(&t, 0, dies, 0);
    pthread_join(t, 0);
    say("owner-died", pthread_mutex_lock(&robust));
    say("unlock", pthread_mutex_unlock(&robust));
    say("not-recoverable", pthread_mutex_lock(&robust));
    pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
    struct timespec past = {1, 0}, odd = {1, -1};
    say("wr", pthread_rwlock_wrlock(&rw));
    say("rd-own", pthread_rwlock_rdlock(&rw));
    say("wr-own", pthread_rwlock_wrlock(&rw));
    say("timed", pthread_rwlock_timedrdlock(&rw, &past));
    say("unlock", pthread_rwlock_unlock(&rw));
    say("odd", pthread_rwlock_timedwrlock(&rw, &odd));
    say("rd", pthread_rwlock_rdlock(&rw));
    say("unlock", pthread_rwlock_unlock(&rw));
    say("self", pthread_join(pthread_self(), 0));
    sem_init(&sem, 0, 0);
    errno = 77;
    sem_post(&sem);
    say("sem", sem_wait(&sem));
    say("errno", errno);
    say("sem-timed", sem_timedwait(&sem, &past));
    say("errno", errno);
}

static atomic_long handled;
static void handler(int signal) {
    (void)signal;
    int before = errno;
    handled++;
    sem_post(&sem);
    errno = before;
}

static void *interrupts(void *arg) {
    pthread_t main = *(pthread_t *)arg;
    for (int i = 0; i < 500; i++) {
        pthread_kill(main, SIGUSR1);
        count((void *)50L);
    }
    return 0;
}

static void signals(void) {
    pthread_t me = pthread_self(), t;
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, 0);
    sem_init(&sem, 0, 0);
    pthread_create(&t, 0, interrupts, &me);
    count((void *)25000L);
    pthread_join(t, 0);
    say("acquisitions", n);
    say("handled", handled > 0);
}

static void forks(void) {
    pthread_t t;
    pthread_barrier_init(&barrier, 0, 1);
    pthread_create(&t, 0, count, (void *)100L);
    pthread_join(t, 0);
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();
        if (child == 0) {
            pthread_t u;
            pthread_create(&u, 0, count, (void *)100L);
            pthread_barrier_wait(&barrier);
            count((void *)100L);
            pthread_join(u, 0);
            _exit((int)(n - 300));
        }
        int status;
        waitpid(child, &status, 0);
        say("status", status);
    }
}

static void *named(void *arg) {
    pthread_setname_np(pthread_self(), "by itself");
    while (stage == 0) sched_yield();
    return arg;
}
static void *waits(void *arg) {
    while (stage == 0) sched_yield();
    return arg;
}

static void names(void) {
    pthread_t t, u;
    pthread_create(&t, 0, named, 0);
    pthread_create(&u, 0, waits, 0);
    say("name", pthread_setname_np(u, "by another"));
    stage = 1;
    pthread_join(t, 0);
    pthread_join(u, 0);
}

static void cost(void) {
    const long pairs = 20000000;
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (long i = 0; i < pairs; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    clock_gettime(CLOCK_MONOTONIC, &b);
    fprintf(stderr, "pair %.1f ns\n", ((b.tv_sec - a.tv_sec) * 1e9 + b.tv_nsec - a.tv_nsec) / pairs);
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    struct { const char *name; void (*run)(void); } all[] = {
        {"locks", locks}, {"handover", handover}, {"barriers", barriers}, {"conditions", conditions},
        {"many", many}, {"ends", ends}, {"c11", c11}, {"codes", codes}, {"signals", signals},
        {"forks", forks}, {"names", names}, {"cost", cost},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i].name, name)) return all[i].run(), 0;
    return 1;
}
