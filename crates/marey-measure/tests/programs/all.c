/* Everything of marey.h from C: with all.cc, which is linked with it, and library.c, a shared library. */
#define _POSIX_C_SOURCE 200809L
#include "marey.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

int in_cxx(int n);
int in_library(int n);

static int work(int n) {
    MAREY_SCOPE("work");
    if (n == 3) return 1;
    MAREY_ATTRIBUTE("fact", "n", n);
    return 0;
}

static void *exits(void *unused) {
    static marey_region in_thread = MAREY_REGION("in a thread");
    marey_enter(&in_thread);
    work(3);
    marey_leave(&in_thread);
    pthread_exit(unused);
}

static uint64_t token;

static void *ends(void *unused) {
    marey_end(token);
    return unused;
}

static void skips(void) {
    static marey_region outer = MAREY_REGION("outer"), inner = MAREY_REGION("inner");
    marey_enter(&outer);
    marey_enter(&inner);
    marey_leave(&outer); /* as after a longjmp */
    marey_leave(&inner); /* not open any more: ignored */
}

static void down(int levels) {
    MAREY_SCOPE("down");
    if (levels > 1) down(levels - 1);
}

static void forks(void) {
    static marey_region child = MAREY_REGION("child");
    pid_t pid = fork();
    if (pid == 0) {
        marey_enter(&child);
        marey_leave(&child);
        _exit(0);
    }
    waitpid(pid, 0, 0);
}

/* Three visits of each detail; and three while events are only added up. */
static void details(void) {
    static marey_region detail = MAREY_REGION("detail");
    marey_set_detail(MAREY_OFF, "");
    for (int n = 0; n < 15; n++) {
        const enum marey_detail order[] = {MAREY_TRACE, MAREY_COUNT, MAREY_OFF, MAREY_TIME, MAREY_TRACE};
        if (n % 3 == 0) marey_set_detail(order[n / 3], "det?il");
        if (n % 12 == 0) marey_keep(n == 0);
        marey_enter(&detail);
        marey_leave(&detail);
    }
    marey_keep(1);
}

int main(void) {
    static marey_region loop = MAREY_REGION("loop");
    static marey_counter cells = MAREY_COUNTER("cells", "1");
    static char text[3000];
    pthread_t thread;
    marey_lane lane = marey_lane_new("task");
    for (int n = 0; n < 50000; n++) {
        marey_enter(&loop);
        work(n % 10);
        if (n < 10) in_cxx(n), in_library(n);
        marey_leave(&loop);
    }
    marey_counter_set(&cells, 17.5);
    MAREY_EVENT("all", "i", -5, "u", UINT64_MAX, "f", 0.5, "b", (_Bool)1, "t", "text", "c", (char)7, "s", (short)-3,
                "x", 1.5f);
    MAREY_EVENT("plain");
    memset(text, 'x', sizeof text - 1);
    MAREY_EVENT("long", "text", text, "n", INT64_MIN);
    for (int n = 0; n < 2; n++) { /* one kind, two shapes */
        static marey_kind kind = MAREY_KIND("shape");
        marey_event event;
        marey_event_begin(&event, &kind);
        marey_put_i64(&event, "n", n);
        if (n) marey_put_text(&event, "more", "yes");
        marey_event_end(&event);
    }
    marey_lane_enter(lane, &loop);
    marey_lane_leave(lane, &loop);
    token = marey_begin(&loop);
    pthread_create(&thread, 0, ends, 0);
    pthread_join(thread, 0);
    pthread_create(&thread, 0, exits, 0);
    pthread_join(thread, 0);
    skips();
    down(2000);
    forks();
    details();
    return 0;
}
