/* The workload as functions that call each other, compiled with -finstrument-functions: 25 outer ones call one of
 * 25 inner ones. Compiled without, it shows what the calls themselves cost.
 *
 * With -DFLOOR the program has the two functions that are called by itself, and they do what F does: one reading of
 * the time-stamp counter and one store of 16 bytes into a ring of 1 MiB.
 */
#include <stdint.h>
#include <stdlib.h>

#define UNSEEN __attribute__((no_instrument_function))

struct state {
  int unused;
} __attribute__((aligned(128)));

typedef void function(unsigned);
static function *const functions[50];

#define BODY __asm__ volatile("" ::: "memory")
#define OUTER(n)                                       \
  __attribute__((noinline)) static void outer_##n(unsigned inner) { \
    functions[inner](0);                               \
    BODY;                                              \
  }
#define INNER(n) \
  __attribute__((noinline)) static void inner_##n(unsigned none) { __asm__ volatile("" ::"r"(none) : "memory"); }
#define FIVE(WHAT, tens) WHAT(tens##0) WHAT(tens##1) WHAT(tens##2) WHAT(tens##3) WHAT(tens##4)
#define ALL(WHAT) FIVE(WHAT, 0) FIVE(WHAT, 1) FIVE(WHAT, 2) FIVE(WHAT, 3) FIVE(WHAT, 4)
ALL(OUTER)
ALL(INNER)

#define NAME_OUTER(n) outer_##n,
#define NAME_INNER(n) inner_##n,
static function *const functions[50] = {ALL(NAME_OUTER) ALL(NAME_INNER)};

#ifdef FLOOR
#include <x86intrin.h>

struct record { uint64_t ticks, what; };
enum { RING = (1 << 20) / sizeof(struct record) };
static __thread struct record *ring;
static __thread uint64_t next;

UNSEEN static inline void put(uint64_t what) {
  struct record *record = &ring[next++ % RING];
  record->ticks = __rdtsc();
  record->what = what;
}
UNSEEN void __cyg_profile_func_enter(void *function, void *caller) {
  (void)caller;
  if (ring) put((uint64_t)function << 1);
}
UNSEEN void __cyg_profile_func_exit(void *function, void *caller) {
  (void)caller;
  if (ring) put((uint64_t)function << 1 | 1);
}
UNSEEN static void thread_begin(struct state *state, int index) {
  (void)state, (void)index;
  ring = calloc(RING, sizeof *ring);
}
UNSEEN static void thread_end(struct state *state) { (void)state, free(ring), ring = NULL; }
#else
UNSEEN static void thread_begin(struct state *state, int index) { (void)state, (void)index; }
UNSEEN static void thread_end(struct state *state) { (void)state; }
#endif
UNSEEN static void output_open(const char *path, int threads) { (void)path, (void)threads; }
UNSEEN static void output_close(void) {}

#define CALL(outer, inner) functions[outer](inner)
#include "workload.h"
