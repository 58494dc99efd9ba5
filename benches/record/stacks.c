/* Computes for as long as it is told, ten functions deep and in libm, and prints nothing: what samples cost such a
 * program. The argument is the number of rounds, of some 10 µs each. */
#include <math.h>
#include <stdlib.h>

static volatile double sink;

__attribute__((noinline)) static double innermost(int n) {
  double sum = 0;
  for (int i = 1; i < n; i++) sum += exp(-i * 1e-3) / i;
  return sum;
}

__attribute__((noinline)) static double deeper(int n, int depth) {
  double found = depth > 0 ? deeper(n, depth - 1) : innermost(n);
  return found + 1e-9;
}

int main(int argc, char **argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 1000;
  for (long i = 0; i < rounds; i++) sink = deeper(2000, 10);
  return 0;
}
