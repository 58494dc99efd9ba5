/* How a program of these tests counts its own calls: in memory that forked children share, by name, and by the
 * path of calls where a name says so (`main/outer/inner`). Printed last of all, one name and number a line.
 *
 * Nothing here is instrumented, so nothing here is counted by others.
 */
#ifndef COUNTED_H
#define COUNTED_H
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define UNSEEN __attribute__((no_instrument_function))

enum { MOST = 64 };
struct counted {
  const char *name;
  long number;
};
static struct counted *counted;

UNSEEN static void *shared_memory(void) {
  void *at = mmap(0, MOST * sizeof *counted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? (abort(), at) : at;
}

/* Whoever counts first may be a constructor. */
UNSEEN static struct counted *counters(void) {
  if (!counted) counted = (struct counted *)shared_memory();
  return counted;
}

UNSEEN static void count(int place, const char *name, long number) {
  struct counted *counter = &counters()[place];
  counter->name = name;
  __atomic_add_fetch(&counter->number, number, __ATOMIC_RELAXED);
}

/* A function says at its beginning what it is called. */
#define HERE(name) count(__COUNTER__, name, 1)
#define CALLED(name, number) count(__COUNTER__, name, number)

/* Forked children leave by _exit. Printing takes no memory, for that might be counted. */
__attribute__((destructor(101))) UNSEEN static void print_counted(void) {
  static char buffer[1 << 14];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  for (int i = 0; i < MOST; i++)
    if (counters()[i].name) printf("%s %ld\n", counters()[i].name, counters()[i].number);
  fflush(stdout);
}
#endif
