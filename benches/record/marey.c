/* The workload through marey.h. Started by `marey record` it records; started alone it shows what a
 * region costs while nobody does. Where the spool goes is the recorder's business, not OUTPUT's.
 */
#include "marey.h"

#define FIVE(tens)                                                                                     \
  MAREY_REGION("region " #tens "0"), MAREY_REGION("region " #tens "1"), MAREY_REGION("region " #tens "2"), \
      MAREY_REGION("region " #tens "3"), MAREY_REGION("region " #tens "4")

static marey_region regions[50] = {FIVE(0), FIVE(1), FIVE(2), FIVE(3), FIVE(4),
                                   FIVE(5), FIVE(6), FIVE(7), FIVE(8), FIVE(9)};

struct state {
  int unused;
} __attribute__((aligned(128)));

#define ENTER(state, id) ((void)(state), marey_enter(&regions[id]))
#define LEAVE(state, id) ((void)(state), marey_leave(&regions[id]))

static void thread_begin(struct state *state, int index) { (void)state, (void)index; }
static void thread_end(struct state *state) { (void)state; }
static void output_open(const char *path, int threads) { (void)path, (void)threads; }
static void output_close(void) {}

#include "workload.h"
