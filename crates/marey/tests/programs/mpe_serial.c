/* The logging calls of MPE in a program without MPI, in two threads, and some that are not in order. Prints
 * what it has logged. */
#define MPE_NOMPI
#include <marey.h>
#include <mpe.h>
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 1000 };

static int outer[2], inner[2], mixed[2];
static marey_region region = MAREY_REGION("Region");

static void *work(void *nothing) {
    int i;
    for (i = 0; i < ROUNDS; i++) {
        MPE_Log_event(outer[0], 0, "begins");
        MPE_Log_event(inner[0], 0, NULL);
        MPE_Log_event(inner[1], 0, NULL);
        MPE_Log_event(outer[1], 0, NULL);
    }
    return nothing;
}

/* A state that ends in a region of another interface, and an end without a beginning. */
static void mix(void) {
    MPE_Log_get_state_eventIDs(&mixed[0], &mixed[1]);
    MPE_Describe_state(mixed[0], mixed[1], "Mixed", "blue");
    MPE_Log_event(mixed[0], 0, NULL);
    marey_enter(&region);
    MPE_Log_event(mixed[1], 0, NULL);
    marey_leave(&region);
    MPE_Log_event(mixed[0], 0, NULL);
    MPE_Log_event(mixed[1], 0, NULL);
    MPE_Log_event(mixed[1], 0, NULL);
}

int main(void) {
    pthread_t thread;
    MPE_Init_log();
    outer[0] = MPE_Log_get_event_number();
    outer[1] = MPE_Log_get_event_number();
    MPE_Log_get_state_eventIDs(&inner[0], &inner[1]);
    MPE_Describe_state(outer[0], outer[1], "Outer", "red");
    mix();
    if (pthread_create(&thread, NULL, work, NULL)) return 1;
    work(NULL);
    pthread_join(thread, NULL);
    MPE_Finish_log("serial");
    printf("count 0 Mixed 2\ncount 0 Region 1\n");
    printf("count 0 Outer %d\ncount 0 MPE state %d-%d %d\n", 2 * ROUNDS, inner[0], inner[1], 2 * ROUNDS);
    return 0;
}
