/* A peer: libotf2, the library under Score-P, driven by hand. Whoever records through it pays at
 * least this: clock_gettime and an event in a chunk of 1 MiB, written out when it is full.
 */
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static OTF2_Archive *archive;
static int n_threads;
static uint64_t first_ns;

struct state {
  OTF2_EvtWriter *writer;
} __attribute__((aligned(128)));

static inline uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ull + now.tv_nsec;
}

#define ENTER(state, id) OTF2_EvtWriter_Enter((state)->writer, NULL, now_ns(), id)
#define LEAVE(state, id) OTF2_EvtWriter_Leave((state)->writer, NULL, now_ns(), id)

static OTF2_FlushType before_flush(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool final) {
  (void)data, (void)type, (void)location, (void)caller, (void)final;
  return OTF2_FLUSH;
}
static OTF2_TimeStamp after_flush(void *data, OTF2_FileType type, OTF2_LocationRef location) {
  (void)data, (void)type, (void)location;
  return now_ns();
}
static OTF2_FlushCallbacks flush = {before_flush, after_flush};

static void must(OTF2_ErrorCode code, const char *what) {
  if (code != OTF2_SUCCESS) fprintf(stderr, "otf2: %s: %s\n", what, OTF2_Error_GetDescription(code)), exit(1);
}

static void output_open(const char *path, int threads) {
  n_threads = threads;
  first_ns = now_ns();
  archive = OTF2_Archive_Open(path, "traces", OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20, OTF2_SUBSTRATE_POSIX,
                              OTF2_COMPRESSION_NONE);
  if (!archive) fprintf(stderr, "otf2: cannot open an archive in %s\n", path), exit(1);
  must(OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL), "flush callbacks");
  must(OTF2_Archive_SetSerialCollectiveCallbacks(archive), "collective callbacks");
  must(OTF2_Archive_OpenEvtFiles(archive), "open events");
  /* Writers are made here because making them is not safe among threads; writing is. */
  for (int i = 0; i < threads; i++) OTF2_Archive_GetEvtWriter(archive, i);
}

static void thread_begin(struct state *state, int index) {
  state->writer = OTF2_Archive_GetEvtWriter(archive, index);
}
static void thread_end(struct state *state) { (void)state; }

static void output_close(void) {
  for (int i = 0; i < n_threads; i++)
    must(OTF2_Archive_CloseEvtWriter(archive, OTF2_Archive_GetEvtWriter(archive, i)), "close writer");
  must(OTF2_Archive_CloseEvtFiles(archive), "close events");
  OTF2_GlobalDefWriter *definitions = OTF2_Archive_GetGlobalDefWriter(archive);
  uint64_t length = now_ns() - first_ns;
  OTF2_GlobalDefWriter_WriteClockProperties(definitions, 1000000000, first_ns, length, OTF2_UNDEFINED_TIMESTAMP);
  OTF2_GlobalDefWriter_WriteString(definitions, 0, "");
  for (int id = 0; id < 50; id++) {
    char name[16];
    snprintf(name, sizeof name, "region_%02d", id);
    OTF2_GlobalDefWriter_WriteString(definitions, 1 + id, name);
    OTF2_GlobalDefWriter_WriteRegion(definitions, id, 1 + id, 1 + id, 0, OTF2_REGION_ROLE_FUNCTION,
                                     OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, 0, 0, 0);
  }
  OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
  OTF2_GlobalDefWriter_WriteLocationGroup(definitions, 0, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                          OTF2_UNDEFINED_LOCATION_GROUP);
  for (int i = 0; i < n_threads; i++)
    OTF2_GlobalDefWriter_WriteLocation(definitions, i, 0, OTF2_LOCATION_TYPE_CPU_THREAD, 0, 0);
  must(OTF2_Archive_Close(archive), "close archive");
}

#include "workload.h"
