/* Pairs of malloc and free of one size, 12 and 46 functions deep: `heap PAIRS` prints for each size and depth what a pair
 * takes, processor time, and then what a program takes that does something with its blocks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1e9 + now.tv_nsec;
}

__attribute__((noinline)) static double pairs(size_t size, long count) {
  double start = now_ns();
  for (long i = 0; i < count; i++) {
    char *volatile block = malloc(size);
    *block = 1;
    free(block);
  }
  return (now_ns() - start) / count;
}

__attribute__((noinline)) static double deep(int depth, size_t size, long count) {
  volatile double result = depth == 0 ? pairs(size, count) : deep(depth - 1, size, count);
  return result;
}

/* What is allocated is filled and read: matrices of 64 × 64 numbers, multiplied, each in a block of its own. */
__attribute__((noinline)) static double *product(const double *a, const double *b) {
  enum { N = 64 };
  double *c = calloc(N * N, sizeof *c);
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++) c[i * N + j] += a[i * N + k] * b[k * N + j];
  return c;
}

static double work(long count) {
  double start = now_ns(), *a = calloc(64 * 64, sizeof *a);
  for (int i = 0; i < 64; i++) a[i * 65] = 1;
  double *b = product(a, a);
  for (long i = 0; i < count; i++) {
    double *c = product(a, b);
    free(b);
    b = c;
  }
  if (b[65] != 1) abort();
  free(a);
  free(b);
  return now_ns() - start;
}

int main(int argc, char **argv) {
  static const size_t sizes[] = {64, 2048, 8192, 1 << 20};
  static const int depths[] = {12, 46};
  long count = argc > 1 ? atol(argv[1]) : 100000;
  /* From then on the largest come from the heap as well. */
  free(malloc(4 << 20));
  for (int d = 0; d < 2; d++)
    for (int s = 0; s < 4; s++) {
      pairs(sizes[s], 1000);
      /* `main`, this one and `pairs`, and two that the C library has. */
      printf("ns_%zu_%d %.2f\n", sizes[s], depths[d], deep(depths[d] - 5, sizes[s], count));
    }
  printf("work_ns %.0f\n", work(count / 200));
  return 0;
}
