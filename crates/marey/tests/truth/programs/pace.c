/* A function that is called 90 times and computes for 20 ms each; the last 45 take twice as long for one of two reasons: a rival
 * shares its processor, or it has twice as much to compute. How long steps took, and what of it they had of the processor, it
 * measures itself. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "processor.h"

#define STEPS 90

/* Somebody who computes once told to, until it is ended or has done so for long. */
static UNSEEN pid_t start_rival(int *go) {
    int ends[2];
    if (pipe(ends)) exit(3);
    *go = ends[1];
    pid_t rival = fork();
    if (rival) return rival;
    char word;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(30);
    if (read(ends[0], &word, 1) == 1) compute(20);
    _exit(0);
}

static __attribute__((noinline)) void step(double seconds) { compute(seconds); }

UNSEEN int main(int count, char **words) {
    int is_rivalled = count > 1 && !strcmp(words[1], "rival"), go = -1;
    keep_to_one();
    pid_t rival = is_rivalled ? start_rival(&go) : 0;
    double wall = 0, processor = 0;
    for (int number = 0; number < STEPS; number++) {
        int is_late = number >= STEPS / 2;
        if (number == STEPS / 2 && is_rivalled && write(go, "r", 1) != 1) return 5;
        double began = read_clock(CLOCK_MONOTONIC), used = read_clock(CLOCK_PROCESS_CPUTIME_ID);
        step(is_late && !is_rivalled ? 0.04 : 0.02);
        if (is_late) {
            wall += read_clock(CLOCK_MONOTONIC) - began;
            processor += read_clock(CLOCK_PROCESS_CPUTIME_ID) - used;
        }
    }
    if (rival > 0) {
        kill(rival, SIGKILL);
        waitpid(rival, 0, 0);
    }
    FILE *truth = fopen(getenv("TRUTH"), "w");
    fprintf(truth, "{\"wall\":%.6f,\"processor\":%.6f}\n", wall / (STEPS - STEPS / 2), processor / (STEPS - STEPS / 2));
    return fclose(truth);
}
