/* Constructs of OpenMP with nothing in them, by a team of two: what remains is what a construct costs. Prints for each
 * the time of one on the first thread, ns.
 *
 *   parallel_ns   a parallel region
 *   chunk_ns      a portion of one iteration of a dynamic loop
 *   critical_ns   a critical section of a team of one, which nobody waits for
 *   barrier_ns    a barrier
 *   task_ns       a task, created and executed by a team of one
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile long nothing;

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e9 + now.tv_nsec;
}

int main(int argc, char **argv) {
  long calls = argc > 1 ? atol(argv[1]) : 100000;
  double start = now_ns();
  for (long i = 0; i < calls; i++) {
#pragma omp parallel num_threads(2)
    __asm__ volatile("");
  }
  printf("parallel_ns %.2f\n", (now_ns() - start) / (double)calls);
  start = now_ns();
#pragma omp parallel for num_threads(2) schedule(dynamic, 1)
  for (long i = 0; i < calls; i++) __asm__ volatile("");
  printf("chunk_ns %.2f\n", (now_ns() - start) / (double)calls);
  start = now_ns();
  for (long i = 0; i < calls; i++) {
#pragma omp critical
    nothing = i;
  }
  printf("critical_ns %.2f\n", (now_ns() - start) / (double)calls);
  start = now_ns();
#pragma omp parallel num_threads(2)
  for (long i = 0; i < calls; i++) {
#pragma omp barrier
  }
  printf("barrier_ns %.2f\n", (now_ns() - start) / (double)calls);
  start = now_ns();
#pragma omp parallel num_threads(1)
  for (long i = 0; i < calls; i++) {
#pragma omp task firstprivate(i)
    nothing = i;
  }
  printf("task_ns %.2f\n", (now_ns() - start) / (double)calls);
  return 0;
}
