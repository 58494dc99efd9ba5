/* A function of some 20 ns that is called all the time, among cold ones. Compiled with -finstrument-functions, or with
 * -DREGIONS, where it enters a region itself. Called as PROGRAM CALLS; prints ns_per_call, the processor time of a call
 * in its loop, and calls. With -DAPART some 30 ns of other work lie between two calls, which are not in ns_per_call: what
 * passes in the loop says nothing of the function then.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define UNSEEN __attribute__((no_instrument_function))
#define SEEN __attribute__((noinline))

#ifdef REGIONS
#include "marey.h"
#define ENTER(name) static marey_region region = MAREY_REGION(name); marey_enter(&region)
#define LEAVE marey_leave(&region)
#else
#define ENTER(name)
#define LEAVE
#endif

UNSEEN static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

/* Each step waits for the one before, and each call for the one before: no two are under way at once. */
SEEN static uint64_t hot(uint64_t x) {
  ENTER("hot");
  for (int i = 0; i < 16; i++) x = x * 6364136223846793005u + 1442695040888963407u;
  LEAVE;
  return x;
}
SEEN static uint64_t cold(uint64_t x) {
  ENTER("cold");
  x ^= x >> 7;
  LEAVE;
  return x;
}
UNSEEN static inline uint64_t between(uint64_t x) {
#ifdef APART
  for (int i = 0; i < 24; i++) x = x * 6364136223846793005u + 1442695040888963407u;
#endif
  return x;
}
SEEN static uint64_t outer(uint64_t x, long n) {
  ENTER("outer");
  for (long i = 0; i < n; i++) x = between(hot(x));
  x = cold(x);
  LEAVE;
  return x;
}

int main(int argc, char **argv) {
  long calls = argc > 1 ? atol(argv[1]) : 1000000;
  uint64_t x = 1;
  double began = now();
  for (int i = 0; i < 100; i++) x = outer(x, calls / 100);
  double ended = now();
#ifdef APART
  double alone = now();
  for (long i = 0; i < calls / 100 * 100; i++) x = between(x);
  ended -= now() - alone;
#endif
  printf("ns_per_call %.4f\ncalls %ld\n", (ended - began) / (double)(calls / 100 * 100), calls / 100 * 100);
  return x == 0;
}
