/* A library with a function that the loader has to resolve, before it has prepared whoever comes first; and the
 * program that calls it.
 */
#ifdef MAIN
#include <stdio.h>

int use(int n);

int main(void) {
  printf("main 1\nuse 1\nchosen 1\n");
  return use(2) - 3;
}
#else
static int chosen(int n) { return n + 1; }
static void *resolve(void) { return (void *)chosen; }
int picked(int n) __attribute__((ifunc("resolve")));
int use(int n) { return picked(n); }
#endif
