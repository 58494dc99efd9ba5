/* The workload of the recording benchmarks: 50 names, two levels deep, nothing between the events.
 *
 * A program defines `struct state`, ENTER, LEAVE and four functions, then includes this file, which
 * brings `main`. Instead of ENTER and LEAVE it may define CALL, which does all four of an outer and an inner name.
 * Called as PROGRAM PAIRS THREADS OUTPUT; prints one figure a line, name and value:
 *
 *   ns_per_pair          processor time of a recording thread, loop alone
 *   wall_ns_per_pair     elapsed time of the same
 *   process_ns_per_pair  processor time of the whole process, set-up and flush included
 *   flushed_ns_per_pair  elapsed time until everything is in the file
 *   executed             pairs, all threads together
 *
 * Which name comes next is looked up in a table of random choices, so that neither a compiler nor a
 * branch predictor knows it. The look-up is part of the empty loop, which is measured as well.
 *
 * With -DGAPS each event comes 0.1 to 5 us after the one before, waited for on the processor: for
 * figures of size, which depend on the times. The times printed then say nothing.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { CHOICES = 4096, OUTER_NAMES = 25, NAMES = 50 };

static struct { uint8_t outer, inner; } choices[CHOICES];

struct thread {
  struct state state;
  int index;
  uint64_t pairs;
  double cpu_ns, wall_ns;
  pthread_t handle;
};

static double clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1e9 + now.tv_nsec;
}

static void choose(void) {
  uint64_t x = 0x9e3779b97f4a7c15u;
  for (int i = 0; i < CHOICES; i++) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    choices[i].outer = (x >> 20) % OUTER_NAMES;
    choices[i].inner = OUTER_NAMES + (x >> 40) % (NAMES - OUTER_NAMES);
  }
}

#ifdef GAPS
#include <x86intrin.h>

static double ticks_per_ns;

static void calibrate(void) {
  double start = clock_ns(CLOCK_MONOTONIC), elapsed;
  uint64_t ticks = __rdtsc();
  do elapsed = clock_ns(CLOCK_MONOTONIC) - start;
  while (elapsed < 1e7);
  ticks_per_ns = (__rdtsc() - ticks) / elapsed;
}

/* xorshift once more, each thread from a seed of its own. */
static inline void gap(uint64_t *random) {
  uint64_t x = *random, start = __rdtsc();
  x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  *random = x;
  uint64_t ticks = (100 + (x >> 20) % 4900) * ticks_per_ns;
  while (__rdtsc() - start < ticks) {}
}
#define GAP(random) gap(random)
#else
static void calibrate(void) {}
#define GAP(random) ((void)(random))
#endif

static void *work(void *argument) {
  struct thread *thread = argument;
  struct state *state = &thread->state;
  uint64_t random = 0x2545f4914f6cdd1du * (thread->index + 1);
  thread_begin(state, thread->index);
  double cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), wall = clock_ns(CLOCK_MONOTONIC);
  for (uint64_t i = 0; i < thread->pairs / 2; i++) {
    unsigned outer = choices[i % CHOICES].outer, inner = choices[i % CHOICES].inner;
#ifdef CALL
    (void)state, (void)random;
    CALL(outer, inner);
#else
    GAP(&random);
    ENTER(state, outer);
    GAP(&random);
    ENTER(state, inner);
    GAP(&random);
    __asm__ volatile("" ::: "memory");
    LEAVE(state, inner);
    GAP(&random);
    LEAVE(state, outer);
#endif
  }
  thread->wall_ns = clock_ns(CLOCK_MONOTONIC) - wall;
  thread->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
  thread_end(state);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 4) return fprintf(stderr, "usage: %s PAIRS THREADS OUTPUT\n", argv[0]), 2;
  uint64_t pairs = strtoull(argv[1], NULL, 10) / 2 * 2;
  int threads = atoi(argv[2]);
  struct thread *thread = aligned_alloc(128, (threads * sizeof *thread + 127) / 128 * 128);
  choose();
  calibrate();
  double start = clock_ns(CLOCK_MONOTONIC);
  output_open(argv[3], threads);
  for (int i = 0; i < threads; i++) {
    thread[i].index = i, thread[i].pairs = pairs;
    pthread_create(&thread[i].handle, NULL, work, &thread[i]);
  }
  double cpu = 0, wall = 0, all = (double)pairs * threads;
  for (int i = 0; i < threads; i++) {
    pthread_join(thread[i].handle, NULL);
    cpu += thread[i].cpu_ns, wall += thread[i].wall_ns;
  }
  output_close();
  double flushed = clock_ns(CLOCK_MONOTONIC) - start;
  printf("ns_per_pair %.3f\nwall_ns_per_pair %.3f\n", cpu / all, wall / all);
  printf("process_ns_per_pair %.3f\n", clock_ns(CLOCK_PROCESS_CPUTIME_ID) / all);
  printf("flushed_ns_per_pair %.3f\nexecuted %.0f\n", flushed / pairs, all);
  return 0;
}
