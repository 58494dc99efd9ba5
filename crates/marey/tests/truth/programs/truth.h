/* What the programs of the corpus share: parts that take their time, and a truth that each of them measures itself.
 *
 * The one idea: an operation has a number, and everyone who takes part in it notes under that number when it came
 * (entered the call that starts its side), from when on it depended on the others (entered the call that completes its
 * side), and when it left. All clocks are one, so that afterwards, and not before, the definitions of
 * docs/wait-states.md can be applied to these times to the letter: nobody waited longer than until the last of the
 * others came.
 *
 * Parts sleep and do not compute: a busy machine does not make them longer. What is measured is written when all is
 * over. The macros are no functions, so that no frame stands between a call and the function it is made in. */
#ifndef TRUTH_H
#define TRUTH_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define APART static __attribute__((noinline))
#define MS 1000000L

/* What one side of an operation may have to wait for. */
enum role {
    FREE,  /* nothing: it lets others go on */
    WAITS, /* the others, until the last of them has come */
    SENDS, /* the same, unless it was over before they came: then a buffer took it */
};

struct event {
    int op;
    enum role role;
    const char *region, *function;
    long came, done, left; /* ns */
};

struct sum {
    const char *what, *region, *function;
    long ns, call_ns;
    int instances;
};

#define MOST_EVENTS 700
#define MOST_SUMS 12

struct location {
    int rank;
    char thread[12];
    long began, ended; /* ns; 0 for one that is not there */
    int events_n;
    struct event events[MOST_EVENTS];
    struct sum sums[MOST_SUMS];
};

/* First those of this process, then room for those of the other rank. */
#define OWN 4
static struct location locations[2 * OWN];
static _Thread_local struct location *here = locations;
/* When the next part is to begin, if nothing held the thread up. */
static _Thread_local long schedule;

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void fail(const char *why) {
    fprintf(stderr, "%s\n", why);
    fflush(stderr);
    _exit(99);
}

/* From here on the calling thread is `own`, the n-th of its process. It has the schedule of the one that created it, so
 * that it does not matter how long it took to start. */
static void truth_begin(int own, int rank, const char *thread, long from) {
    here = locations + own;
    here->rank = rank;
    strncpy(here->thread, thread, sizeof here->thread - 1);
    if (own > 0) pthread_setname_np(pthread_self(), thread); /* the first has the program's */
    here->began = now();
    schedule = from;
}

static void truth_end(void) { here->ended = now(); }

/* When the next part begins: now, if the thread was held up, else as planned. */
static long truth_schedule(long at) { return at - schedule > 8 * MS ? at : schedule; }

/* The end of a part of `ms` that begins at `began`. Parts follow a schedule, so that late awakenings do not add up over
 * many of them; but whoever was held up begins a new one. Awakenings on a busy machine are up to some 5 ms late, and
 * whoever is held up before a part is so for 25 ms and more. */
static struct timespec truth_until(long began, long ms) {
    schedule = truth_schedule(began) + ms * MS;
    return (struct timespec){schedule / 1000000000L, schedule % 1000000000L};
}

static void truth_add(struct location *at, const char *what, const char *region, const char *function, long ns,
                      long call_ns) {
    struct sum *sum = at->sums;
    while (sum->what && (strcmp(sum->what, what) || strcmp(sum->region, region) || strcmp(sum->function, function)))
        if (++sum == at->sums + MOST_SUMS) fail("too many sums");
    *sum = (struct sum){what, region, function, sum->ns + ns, sum->call_ns + call_ns, sum->instances + 1};
}

static void truth_event(int op, enum role role, const char *region, const char *function, long came, long done) {
    long left = now();
    if (here->events_n == MOST_EVENTS) fail("too many events");
    here->events[here->events_n++] = (struct event){op, role, region, function, came, done, left};
}

#define DELAY "delay"
#define WORK "work"

static void truth_part(const char *what, const char *function, long began) {
    long ended = now();
    truth_add(here, what, "", function, ended - began, ended - began);
    /* Whoever waited for this goes on from now on, so the others must, too. */
    if (!strcmp(what, DELAY)) schedule = ended;
}

/* A function that takes so many milliseconds and notes them as what they are: DELAY or WORK. */
#define PART(name)                                                                             \
    APART void name(const char *what, long ms) {                                               \
        long began_ = now();                                                                   \
        struct timespec until_ = truth_until(began_, ms);                                      \
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until_, 0) == EINTR) continue; \
        truth_part(what, __func__, began_);                                                    \
    }

/* A call that both starts and completes this side of operation `op`. */
#define AT(op, role, region, call)                            \
    do {                                                      \
        long done_ = now();                                   \
        call;                                                 \
        truth_event(op, role, region, __func__, done_, done_); \
    } while (0)

/* A call that completes a side that was started at `came`. */
#define COMPLETES(came, op, role, region, call)             \
    do {                                                    \
        long done_ = now();                                 \
        call;                                               \
        truth_event(op, role, region, __func__, came, done_); \
    } while (0)

/* This side has come, by a call that nobody waits in. */
#define COMES(op)                                    \
    do {                                             \
        long came_ = now();                          \
        truth_event(op, FREE, "", __func__, came_, came_); \
    } while (0)

/* How long an event held its location up, by the definitions. */
static long truth_wait(const struct location *own, const struct event *event) {
    long last = 0;
    for (const struct location *at = locations; at < locations + 2 * OWN; at++)
        for (const struct event *other = at->events; at != own && other < at->events + at->events_n; other++)
            if (other->op == event->op && last < other->came) last = other->came;
    if (event->role == FREE || (event->role == SENDS && event->left <= last)) return 0;
    long to = last < event->left ? last : event->left;
    return event->done < to ? to - event->done : 0;
}

/* A file for each location of this process, of a line for each sum. */
static void truth_write(int has_ranks) {
    const char *path = getenv("TRUTH");
    for (struct location *at = locations; path && at < locations + OWN; at++) {
        if (!at->ended) continue;
        for (struct event *event = at->events; event < at->events + at->events_n; event++)
            if (event->role != FREE)
                truth_add(at, "wait", event->region, event->function, truth_wait(at, event), event->left - event->done);
        truth_add(at, "run", "", "main", at->ended - at->began, at->ended - at->began);
        char name[4096];
        const char *thread = has_ranks && at == locations ? "" : at->thread;
        if (has_ranks)
            snprintf(name, sizeof name, "%s.%d%s%s", path, at->rank, *thread ? "." : "", thread);
        else
            snprintf(name, sizeof name, "%s.%s", path, thread);
        FILE *file = fopen(name, "w");
        if (!file) fail(name);
        for (struct sum *sum = at->sums; sum < at->sums + MOST_SUMS && sum->what; sum++)
            fprintf(file,
                    "{\"what\":\"%s\",\"who\":%d,\"thread\":\"%s\",\"region\":\"%s\",\"function\":\"%s\","
                    "\"seconds\":%.9f,\"call\":%.9f,\"instances\":%d}\n",
                    sum->what, at->rank, at->thread, sum->region, sum->function, sum->ns / 1e9, sum->call_ns / 1e9,
                    sum->instances);
        fclose(file);
    }
}

struct named_case {
    const char *name;
    void (*run)(void);
};
#define CASE(name) {#name, name}

static void (*truth_case(const struct named_case *cases, int count, char **words))(void) {
    /* A case that hangs is a failure, not a machine that is occupied for ever. */
    alarm(60);
    for (; count == 2 && cases->name; cases++)
        if (!strcmp(cases->name, words[1])) return cases->run;
    fail("no such case");
    return 0;
}
#endif
