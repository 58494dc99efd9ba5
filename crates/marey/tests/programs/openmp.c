/* Constructs of OpenMP, each as often as it says; what it prints is what its bodies have counted. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TEAM = 4, REGIONS = 5, TASKS = 2000 };

struct large { char text[520]; };

static long implicit, chunks, sections, singles, criticals, named, ordered, tasks, bodies, chained;

static void add(long *to) {
#pragma omp atomic
    ++*to;
}

static void loops(void) {
    long sum = 0;
    for (int region = 0; region < REGIONS; region++) {
#pragma omp parallel num_threads(TEAM)
        {
            add(&implicit);
            /* Chunks of seven begin at multiples of seven. */
#pragma omp for schedule(dynamic, 7) reduction(+ : sum)
            for (int i = 0; i < 100; i++) {
                sum += i;
                if (i % 7 == 0) add(&chunks);
            }
#pragma omp for schedule(guided) nowait reduction(+ : sum)
            for (int i = 0; i < 1000; i++) sum += i;
#pragma omp master
            /* Each chunk is what is left, divided among the threads. */
            for (int left = 1000; 0 < left; left -= (left + TEAM - 1) / TEAM) add(&chunks);
#pragma omp barrier
#pragma omp for schedule(static) reduction(+ : sum)
            for (int i = 0; i < 1000; i++) sum += i;
#pragma omp for ordered schedule(dynamic, 1)
            for (int i = 0; i < 10; i++) {
                add(&chunks);
#pragma omp ordered
                ordered++;
            }
        }
    }
    unsigned long long far = 0;
#pragma omp parallel for num_threads(TEAM) schedule(dynamic, 10) reduction(+ : far)
    for (unsigned long long i = 0; i < 100; i++) {
        far += i;
        if (i % 10 == 0) add(&chunks);
    }
    implicit += TEAM;
    printf("sum %ld %llu\n", sum, far);
}

static void shares(void) {
#pragma omp parallel num_threads(TEAM)
    {
        int value = 0;
        add(&implicit);
#pragma omp sections
        {
#pragma omp section
            add(&sections);
#pragma omp section
            add(&sections);
#pragma omp section
            add(&sections);
        }
#pragma omp single
        add(&singles);
#pragma omp single copyprivate(value)
        {
            value = 42;
            add(&singles);
        }
        if (value != 42) abort();
        for (int i = 0; i < 25; i++) {
#pragma omp critical(update)
            named++;
#pragma omp critical
            criticals++;
        }
    }
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        add(&sections);
#pragma omp section
        add(&sections);
    }
    implicit += 2;
}

static long fib(int n) {
    long a, b;
    if (n < 2) return n;
#pragma omp task shared(a) firstprivate(n)
    {
        add(&tasks);
        a = fib(n - 1);
    }
#pragma omp task shared(b) firstprivate(n)
    {
        add(&tasks);
        b = fib(n - 2);
    }
#pragma omp taskwait
    return a + b;
}

static void explicit_tasks(void) {
    struct large large;
    long wrong = 0, result = 0, looped = 0;
    int chain = 0;
    memset(large.text, 'x', sizeof large.text);
#pragma omp parallel num_threads(TEAM)
    {
        add(&implicit);
#pragma omp single
        {
            add(&singles);
            for (int i = 0; i < TASKS; i++) {
                large.text[0] = (char)i;
#pragma omp task firstprivate(large, i) shared(wrong)
                {
                    add(&tasks);
                    if (large.text[0] != (char)i || large.text[519] != 'x') add(&wrong);
                }
            }
            for (int i = 0; i < 10; i++) {
#pragma omp task depend(inout : chain) firstprivate(i) priority(1) untied
                {
                    add(&tasks);
                    if (chain == i) chained++;
                    chain++;
                }
            }
#pragma omp taskgroup
            {
#pragma omp task if (0)
                add(&tasks);
#pragma omp task final(1)
                add(&tasks);
            }
#pragma omp taskyield
#pragma omp taskloop num_tasks(16) reduction(+ : looped)
            for (int i = 0; i < 160; i++) {
                looped += i;
                if (i % 10 == 0) add(&bodies);
            }
            result = fib(10);
        }
    }
    printf("tasks %ld %ld %ld %ld\n", wrong, result, looped, chained);
}

static void nested(void) {
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
        add(&implicit);
#pragma omp parallel num_threads(3)
        add(&implicit);
    }
}

/* Without a device the host executes them. */
static void targets(void) {
    int data[100] = {0};
    for (int i = 0; i < 5; i++) {
#pragma omp target map(tofrom : data)
        data[i]++;
    }
#pragma omp target data map(to : data)
    {
        data[5]++;
#pragma omp target update to(data)
#pragma omp target update to(data)
    }
#pragma omp target enter data map(to : data)
#pragma omp target exit data map(from : data)
#pragma omp target exit data map(from : data)
    int sum = 0;
    for (int i = 0; i < 100; i++) sum += data[i];
    printf("data %d.\n", sum);
    printf("target 5\ntarget data 1\ntarget end data 1\ntarget update 2\ntarget enter data 1\ntarget exit data 2\n");
}

static void counts(void) {
    loops();
    shares();
    explicit_tasks();
    nested();
    targets();
    printf("implicit task %ld\nchunk %ld\nsection %ld\nsingle %ld\ncritical %ld\ncritical(update) %ld\n", implicit, chunks,
           sections, singles, criticals, named);
    printf("ordered %ld\ntask %ld\nmasked %d\n", ordered, tasks + bodies, REGIONS);
    printf("parallel %d\n", REGIONS + 1 + 2 + 1 + 3);
    /* Those of TEAM threads: each region's three that are handed out, and the one that is a region. */
    printf("loop %d\nsections %d\ntask create %ld\ntaskloop 1\n", TEAM * (REGIONS * 3 + 1), TEAM + 2, tasks);
}

static void nap(int ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static long me(void) { return syscall(SYS_gettid); }

/* Says who waited in what for whom, no shorter than the first and no longer than the second time. */
static void waited(const char *what, long who, long whom, long least, long most) {
    printf("%s %ld %ld %ld %ld\n", what, who, whom, least, most);
}

/* Each thread comes 20 ms later to a barrier than the one before. */
static void late(void) {
    long id[TEAM], from[TEAM], to[TEAM];
#pragma omp parallel num_threads(TEAM)
    {
        int t = omp_get_thread_num();
        id[t] = me();
#pragma omp barrier
        nap(20 * (t + 1));
        from[t] = now();
#pragma omp barrier
        to[t] = now();
        nap(1);
    }
    for (int t = 0; t + 1 < TEAM; t++) {
        waited("barrier", id[t], id[TEAM - 1], from[TEAM - 1] - from[t] - 5000000, to[t] - from[t]);
    }
}

/* Each thread has an iteration that takes 20 ms longer than that of the one before; the loop ends when all have done theirs. */
static void uneven(void) {
    long id[TEAM], from[TEAM], to[TEAM];
#pragma omp parallel num_threads(TEAM)
    {
        int t = omp_get_thread_num();
        id[t] = me();
#pragma omp barrier
#pragma omp for schedule(static, 1)
        for (int i = 0; i < TEAM; i++) {
            nap(20 * (i + 1));
            from[i] = now();
        }
        to[t] = now();
        nap(1);
    }
    for (int t = 0; t + 1 < TEAM; t++) {
        waited("loop", id[t], id[TEAM - 1], from[TEAM - 1] - from[t] - 5000000, to[t] - from[t]);
    }
}

/* The first thread is in a critical section for 30 ms when the second comes; then the other way round with a lock. */
static void locked(void) {
    long id[2], from[2] = {0}, to[2] = {0};
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    {
        int t = omp_get_thread_num();
        id[t] = me();
#pragma omp barrier
        if (t == 1) nap(10);
        from[0] = t == 1 ? now() : from[0];
#pragma omp critical(slow)
        {
            if (t == 1) to[0] = now();
            nap(30);
        }
#pragma omp barrier
        if (t == 0) nap(10);
        from[1] = t == 0 ? now() : from[1];
        omp_set_lock(&lock);
        if (t == 0) to[1] = now();
        nap(30);
        omp_unset_lock(&lock);
    }
    waited("critical", id[1], id[0], 5000000, to[0] - from[0]);
    waited("lock", id[0], id[1], 5000000, to[1] - from[1]);
}

/* Whoever is not in the single has nothing to do until there is a task, and then there is one for 40 ms. */
static void starved(void) {
    long id[2], from[2], created = 0, began = 0, ended = 0, executed = 0, waits = 0, through = 0;
    int is_single = 0;
#pragma omp parallel num_threads(2)
    {
        id[omp_get_thread_num()] = me();
#pragma omp barrier
        from[omp_get_thread_num()] = now();
#pragma omp single
        {
            is_single = omp_get_thread_num();
            nap(30);
            created = now();
#pragma omp task shared(began, ended, executed)
            {
                began = now();
                executed = me();
                nap(40);
                ended = now();
            }
            nap(10);
            waits = now();
#pragma omp taskwait
            through = now();
        }
    }
    long other = id[!is_single];
    if (executed == other) {
        waited("starved", other, id[is_single], created - from[!is_single] - 5000000, began - from[!is_single]);
        waited("taskwait", id[is_single], other, ended - waits - 5000000, through - waits);
    }
}

/* Two tasks, of 20 and 60 ms, on which two others depend: whoever executed the first has nothing to do until the second ends. */
static void depending(void) {
    long who[4] = {0}, from[4] = {0}, to[4] = {0};
    /* Only their addresses matter. */
    char x, y;
    (void)&x, (void)&y;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        for (int i = 0; i < 4; i++) {
            if (i == 0) {
#pragma omp task depend(out : x) shared(who, from, to)
                { who[0] = me(); from[0] = now(); nap(20); to[0] = now(); }
            } else if (i == 1) {
#pragma omp task depend(out : y) shared(who, from, to)
                { who[1] = me(); from[1] = now(); nap(60); to[1] = now(); }
            } else {
#pragma omp task depend(in : x, y) shared(who, from, to) firstprivate(i)
                { who[i] = me(); from[i] = now(); nap(20); to[i] = now(); }
            }
        }
#pragma omp taskwait
    }
    int next = who[2] == who[0] ? 2 : 3;
    if (who[0] != who[1] && who[next] == who[0]) {
        waited("starved", who[0], who[1], to[1] - to[0] - 5000000, from[next] - to[0]);
        waited("depends", who[0], who[1], 0, from[next] - to[1]);
    }
}

/* Nobody but the first thread has something to do for 50 ms. */
static void serial(void) {
    long id[2], last[2], begin = 0;
#pragma omp parallel num_threads(2)
    {
        int t = omp_get_thread_num();
        id[t] = me();
        last[t] = now();
    }
    nap(50);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) begin = now();
    waited("idle", id[1], id[0], 50000000, begin - (last[0] < last[1] ? last[1] : last[0]));
}

/* The last region: what its threads do is known when the process ends. */
static void last(void) {
    long id[2], from[2];
#pragma omp parallel num_threads(2)
    {
        int t = omp_get_thread_num();
        id[t] = me();
        /* No other wait for the first thread is as long. */
        nap(t == 0 ? 120 : 20);
        from[t] = now();
    }
    long end = now();
    waited("end", id[1], id[0], from[0] - from[1] - 5000000, end - from[1]);
    nap(30);
}

static volatile double kept;

/* Not the same each time, as far as a compiler knows, so that each call is made. */
static volatile double one = 1;

static __attribute__((noinline)) double burn(long n) {
    double sum = 0;
    for (long i = 1; i <= n; i++) sum += one / (double)i;
    return sum;
}

int main(int argc, char **argv) {
    const char *what = 1 < argc ? argv[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(what, "counts")) counts();
    else if (!strcmp(what, "edges")) {
        late();
        uneven();
        locked();
        starved();
        depending();
        serial();
        last();
    } else if (!strcmp(what, "burn")) {
        double sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
        {
#pragma omp for schedule(static)
            for (int i = 0; i < 10; i++) sum += burn(10000000);
#pragma omp for schedule(dynamic, 1)
            for (int i = 0; i < 10; i++) {
#pragma omp task
                kept = burn(10000000);
            }
        }
        printf("%d\n", sum > 160);
    } else if (!strcmp(what, "exit")) {
        /* A thread that is not the first ends the process in a region. */
#pragma omp parallel num_threads(TEAM)
        {
#pragma omp barrier
            if (omp_get_thread_num() == 1) exit(7);
            for (;;) nap(1);
        }
    } else if (!strcmp(what, "fork")) {
        /* A child that was forked before has a runtime of its own. */
        pid_t child = fork();
        long sum = 0;
#pragma omp parallel for num_threads(2) schedule(dynamic, 1) reduction(+ : sum)
        for (int i = 0; i < 10; i++) sum += i;
        printf("%s %ld\n", child ? "parent" : "child", sum);
        if (child) {
            int status;
            waitpid(child, &status, 0);
            return status;
        }
    } else if (!strcmp(what, "cancel")) {
        /* With OMP_CANCELLATION=true some threads leave out barriers. */
        long found = 0;
        for (int round = 0; round < 20; round++) {
#pragma omp parallel num_threads(TEAM)
            {
#pragma omp for schedule(dynamic, 1)
                for (int i = 0; i < 100; i++) {
                    if (i == 50) {
                        add(&found);
#pragma omp cancel for
                    }
                }
#pragma omp cancel parallel
#pragma omp barrier
            }
        }
        printf("found %ld\n", found);
    } else return 2;
    return 0;
}
