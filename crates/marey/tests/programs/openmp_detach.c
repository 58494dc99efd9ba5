/* Detached tasks: half of them fulfil their own event and go on for 3 ms, the others are fulfilled by a task that goes on as
 * long. What it prints is what the bodies have counted, and the shortest time that one of them took, in ns. */
#include <omp.h>
#include <stdio.h>
#include <time.h>

enum { TASKS = 20 };

static long bodies, shortest = 1000000000;

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

static void goes_on(long from) {
    while (now() - from < 3000000) {
    }
    long took = now() - from;
#pragma omp critical
    {
        bodies++;
        if (took < shortest) shortest = took;
    }
}

int main(void) {
    omp_event_handle_t late[TASKS];
    long detached = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        for (int i = 0; i < TASKS; i++) {
            omp_event_handle_t event;
#pragma omp task detach(event) firstprivate(i) shared(detached)
            {
                long from = now();
                if (i % 2 == 0) omp_fulfill_event(event);
                goes_on(from);
#pragma omp atomic
                detached++;
            }
            late[i] = event;
        }
        for (int i = 1; i < TASKS; i += 2) {
            omp_event_handle_t event = late[i];
#pragma omp task firstprivate(event)
            {
                long from = now();
                omp_fulfill_event(event);
                goes_on(from);
            }
        }
#pragma omp taskwait
        if (detached != TASKS) printf("only %ld\n", detached);
    }
    printf("%ld %ld\n", bodies, shortest);
    return 0;
}
