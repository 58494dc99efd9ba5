/* A function that is called 80 times and computes for 40 ms each; one call takes long for one of two reasons: eight rivals
 * have its processor for 20 ms each, or it has five times as much to compute. What it had of the processor it measures itself. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "processor.h"

#define RIVALS 8

static UNSEEN void start_rivals(int *go) {
    int ends[2];
    if (pipe(ends)) exit(3);
    *go = ends[1];
    for (int number = 0; number < RIVALS; number++) {
        if (fork()) continue;
        char word;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(20);
        if (read(ends[0], &word, 1) == 1) compute(0.02);
        _exit(0);
    }
}

static double longest, processor;

static __attribute__((noinline)) void step(double seconds) {
    double began = read_clock(CLOCK_MONOTONIC), used = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    compute(seconds);
    double wall = read_clock(CLOCK_MONOTONIC) - began;
    if (wall > longest) longest = wall, processor = read_clock(CLOCK_PROCESS_CPUTIME_ID) - used;
}

UNSEEN int main(int count, char **words) {
    int is_rivalled = count > 1 && !strcmp(words[1], "rival"), go = -1;
    keep_to_one();
    if (is_rivalled) start_rivals(&go);
    for (int number = 0; number < 80; number++) {
        if (number == 60 && is_rivalled && write(go, "rivalled", RIVALS) != RIVALS) return 5;
        step(number == 60 && !is_rivalled ? 0.2 : 0.04);
    }
    while (is_rivalled && wait(0) > 0) {}
    FILE *truth = fopen(getenv("TRUTH"), "w");
    fprintf(truth, "{\"wall\":%.6f,\"processor\":%.6f}\n", longest, processor);
    return fclose(truth);
}
