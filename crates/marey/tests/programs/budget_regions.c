/* Regions that the program enters itself, far too often to be recorded each time. Called as PROGRAM WHAT VISITS; prints how
 * often each region was visited, a line each. What it does, by WHAT:
 *
 * nested  `outer` visits `inner`, and goes on for two microseconds or more.
 * apart   `first` and `second` take turns; when they are defined, 63 others were between them.
 * beside  `hot` is visited within `around` and without it, the same number of times.
 * deep    `hot` is visited within more regions than can be told to be open.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "marey.h"

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static volatile unsigned long sink;

static void visit(marey_region *region) {
    marey_enter(region);
    sink = sink + 1;
    marey_leave(region);
}

static void nested(long visits) {
    static marey_region outer = MAREY_REGION("outer"), inner = MAREY_REGION("inner");
    for (long i = 0; i < visits; i++) {
        marey_enter(&outer);
        double began = now();
        visit(&inner);
        while (now() - began < 2000) sink = sink + 1;
        marey_leave(&outer);
    }
    printf("outer %ld\ninner %ld\n", visits, visits);
}

static void apart(long visits) {
    static marey_region first = MAREY_REGION("first"), second = MAREY_REGION("second");
    static char names[63][16];
    static marey_region others[63];
    visit(&first);
    for (int i = 0; i < 63; i++) {
        snprintf(names[i], sizeof names[i], "other %d", i);
        others[i] = (marey_region)MAREY_REGION(names[i]);
        visit(&others[i]);
    }
    visit(&second);
    for (long i = 1; i < visits; i++) visit(&first), visit(&second);
    printf("first %ld\nsecond %ld\n", visits, visits);
}

static void beside(long visits) {
    static marey_region hot = MAREY_REGION("hot"), around = MAREY_REGION("around");
    for (long i = 0; i < visits; i++) {
        for (int j = 0; j < 10; j++) visit(&hot);
        marey_enter(&around);
        for (int j = 0; j < 10; j++) visit(&hot);
        marey_leave(&around);
    }
    printf("hot %ld\naround %ld\n", 20 * visits, visits);
}

static marey_region deeper = MAREY_REGION("deeper"), within = MAREY_REGION("hot");

static void descend(int depth, long visits) {
    marey_enter(&deeper);
    if (depth > 0) descend(depth - 1, visits);
    else for (long i = 0; i < visits; i++) visit(&within);
    marey_leave(&deeper);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    long visits = atol(argv[2]);
    if (!strcmp(argv[1], "nested")) nested(visits);
    if (!strcmp(argv[1], "apart")) apart(visits);
    if (!strcmp(argv[1], "beside")) beside(visits);
    if (!strcmp(argv[1], "deep")) {
        for (long i = 0; i < visits; i++) visit(&within);
        descend(1500, visits);
        for (long i = 0; i < visits; i++) visit(&within);
        printf("hot %ld\ndeeper 1501\n", 3 * visits);
    }
    return 0;
}
