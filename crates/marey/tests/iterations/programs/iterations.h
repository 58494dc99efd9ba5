/* What these programs share: iterations that write down when they began and ended, and parts that sleep.
 *
 * The one idea: parts sleep and do not compute, so that a busy machine hardly makes them longer, and where it does that
 * is measured; what is measured is written when all is over, one line for each iteration and part. */
#ifndef ITERATIONS_H
#define ITERATIONS_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define APART static __attribute__((noinline))
#define MOST 2000

struct line {
    const char *what; /* "iteration" or "part" */
    int index;        /* of the iteration, from 0; -1 = in none */
    long began, ended, longer_ms;
};

struct log {
    int n;
    struct line lines[MOST];
};

static _Thread_local struct log *own;
static _Thread_local int iteration = -1;

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void fail(const char *why) {
    fprintf(stderr, "%s\n", why);
    _exit(99);
}

static void note(const char *what, long began, long longer_ms) {
    if (own->n == MOST) fail("too many lines");
    own->lines[own->n++] = (struct line){what, iteration, began, now(), longer_ms};
}

/* Takes so many microseconds, and so many milliseconds more than it should. */
APART void work(long us, long longer_ms) {
    long began = now(), until = began + us * 1000 + longer_ms * 1000000;
    struct timespec at = {until / 1000000000L, until % 1000000000L};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, 0) == EINTR) continue;
    note("part", began, longer_ms);
}

static long iteration_began;
#pragma GCC diagnostic ignored "-Wunused-function"
static void begin_iteration(int index) {
    iteration = index;
    iteration_began = now();
}
static void end_iteration(void) {
    note("iteration", iteration_began, 0);
    iteration = -1;
}

static void write_down(const struct log *log, int who) {
    const char *path = getenv("TRUTH");
    if (!path) return;
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", path, who);
    FILE *file = fopen(name, "w");
    if (!file) fail(name);
    for (const struct line *line = log->lines; line < log->lines + log->n; line++)
        fprintf(file, "{\"what\":\"%s\",\"who\":%d,\"index\":%d,\"began\":%ld,\"ended\":%ld,\"longer_ms\":%ld}\n", line->what,
                who, line->index, line->began, line->ended, line->longer_ms);
    fclose(file);
}

struct named_case {
    const char *name;
    void (*run)(void);
};
#define CASE(name) {#name, name}

static void (*named(const struct named_case *cases, int count, char **words))(void) {
    /* A case that hangs is a failure, not a machine that is occupied for ever. */
    alarm(60);
    for (; count == 2 && cases->name; cases++)
        if (!strcmp(cases->name, words[1])) return cases->run;
    fail("no such case");
    return 0;
}
#endif
