/* A function of some 20 ns that is called most of the time, among others that are not; compiled with
 * -finstrument-functions. Prints how often each was called, and what a call of the former took, in ns. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function))
#define SEEN __attribute__((noinline))

static long visits[3];
static int zeros;

UNSEEN static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

/* Each step waits for the one before, so that calls cannot be under way at once. */
SEEN uint64_t hot(uint64_t x, int reads) {
  visits[0]++;
  for (int i = 0; i < 16; i++) x = x * 6364136223846793005u + 1442695040888963407u;
  if (reads) {
    char byte;
    x += read(zeros, &byte, 1) == 1;
  }
  return x;
}
SEEN uint64_t cold(uint64_t x) {
  visits[1]++;
  return x ^ x >> 7;
}
SEEN uint64_t outer(uint64_t x, long n) {
  visits[2]++;
  for (long i = 0; i < n; i++) x = hot(x, i == 0);
  return cold(x);
}

int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 1000;
  uint64_t x = 1;
  zeros = open("/dev/zero", O_RDONLY);
  double began = now();
  for (int i = 0; i < 50; i++) x = outer(x, n);
  double took = now() - began;
  printf("hot %ld\ncold %ld\nouter %ld\nns %.2f\n", visits[0], visits[1], visits[2], took / visits[0]);
  return x == 0;
}
