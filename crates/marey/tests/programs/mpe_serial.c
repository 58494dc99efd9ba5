/* The logging calls of MPE in a program without MPI, in two threads. Prints what it has logged. */
#define MPE_NOMPI
#include <mpe.h>
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 1000 };

static int outer[2], inner[2];

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

int main(void) {
    pthread_t thread;
    MPE_Init_log();
    outer[0] = MPE_Log_get_event_number();
    outer[1] = MPE_Log_get_event_number();
    MPE_Log_get_state_eventIDs(&inner[0], &inner[1]);
    MPE_Describe_state(outer[0], outer[1], "Outer", "red");
    if (pthread_create(&thread, NULL, work, NULL)) return 1;
    work(NULL);
    pthread_join(thread, NULL);
    MPE_Finish_log("serial");
    printf("count 0 Outer %d\ncount 0 MPE state %d-%d %d\n", 2 * ROUNDS, inner[0], inner[1], 2 * ROUNDS);
    return 0;
}
