/* The floors: what no recorder can undercut on this machine.
 *
 * Compiled with -DEMPTY: the loop of the workload alone. Otherwise F: for every enter and leave one
 * reading of the time-stamp counter and one store of 16 bytes into a ring of 1 MiB, kept by nobody.
 */
#include <stdint.h>
#include <stdlib.h>
#include <x86intrin.h>

struct record { uint64_t ticks, what; };
enum { RING = (1 << 20) / sizeof(struct record) };

struct state {
  struct record *ring;
  uint64_t next;
} __attribute__((aligned(128)));

#ifdef EMPTY
#define ENTER(state, id) __asm__ volatile("" ::"r"(state), "r"(id))
#define LEAVE(state, id) __asm__ volatile("" ::"r"(state), "r"(id))
#else
static inline void put(struct state *state, uint64_t what) {
  struct record *record = &state->ring[state->next++ % RING];
  record->ticks = __rdtsc();
  record->what = what;
}
#define ENTER(state, id) put(state, (id) << 1)
#define LEAVE(state, id) put(state, (id) << 1 | 1)
#endif

static void thread_begin(struct state *state, int index) {
  (void)index;
  state->ring = calloc(RING, sizeof *state->ring);
  state->next = 0;
}
static void thread_end(struct state *state) { free(state->ring); }
static void output_open(const char *path, int threads) { (void)path, (void)threads; }
static void output_close(void) {}

#include "workload.h"
