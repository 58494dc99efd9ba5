/* Calls a tool of Kokkos's as Kokkos does, and as it should not: ends in another order, on another thread and of nothing,
 * regions without end, memory of devices that cannot be read, texts that are not there. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct space {
  char name[64];
};
struct settings {
  bool requires_global_fencing, padding[255];
};

static void *tool;

static void *found(const char *name) {
  void *function = dlsym(tool, name);
  if (function == NULL) {
    fprintf(stderr, "no %s\n", name);
    exit(1);
  }
  return function;
}

static uint64_t begin(const char *name, uint32_t device) {
  void (*function)(const char *, uint32_t, uint64_t *) = found("kokkosp_begin_parallel_for");
  uint64_t number = 0;
  function(name, device, &number);
  return number;
}

static void end(uint64_t number) {
  void (*function)(uint64_t) = found("kokkosp_end_parallel_for");
  function(number);
}

static uint64_t begin_fence(const char *name) {
  void (*function)(const char *, uint32_t, uint64_t *) = found("kokkosp_begin_fence");
  uint64_t number = 0;
  function(name, 0, &number);
  return number;
}

static void *ends_fence(void *number) {
  void (*function)(uint64_t) = found("kokkosp_end_fence");
  function(*(uint64_t *)number);
  return NULL;
}

static void push(const char *name) {
  void (*function)(const char *) = found("kokkosp_push_profile_region");
  function(name);
}

static void plain(const char *name) {
  void (*function)(void) = found(name);
  function();
}

static void memory(const char *name, const char *space, const char *label, uintptr_t at, uint64_t bytes) {
  void (*function)(struct space, const char *, const void *, uint64_t) = found(name);
  struct space handle;
  memset(handle.name, 'x', sizeof handle.name);
  strcpy(handle.name, space);
  function(handle, label, (void *)at, bytes);
}

static void *ends(void *number) {
  end(*(uint64_t *)number);
  return NULL;
}

static atomic_int n_begun, n_over;
static uint64_t number;

/* Begins something, and ends when it is told to, without calling once more; it spins, since a wait would be recorded, too. */
static void *begins(void *name) {
  number = begin(name, 0);
  int round = atomic_fetch_add(&n_begun, 1);
  while (atomic_load(&n_over) <= round) {
  }
  return NULL;
}

static pthread_t begun(char *name) {
  pthread_t thread;
  int round = atomic_load(&n_begun);
  pthread_create(&thread, NULL, begins, name);
  while (atomic_load(&n_begun) == round) {
  }
  return thread;
}

static void over(pthread_t thread) {
  atomic_fetch_add(&n_over, 1);
  pthread_join(thread, NULL);
}

/* What has begun on a thread that is about to end, and on one that has ended, is ended by this one. */
static void other_threads(void) {
  pthread_t thread = begun("waits");
  end(number);
  end(begin("mark", 0));
  over(thread);
  over(begun("gone"));
  end(number);
  /* More than are kept for a thread that never looks. */
  thread = begun("many");
  for (uint64_t n = 300; n > 0; n--) end(number + n);
  over(thread);
}

#ifdef LATER
/* What Kokkos has since 3.7. */
void parse(void *arguments) __asm__("_ZN6Kokkos5Tools4Impl27parse_environment_variablesERNS0_13InitArgumentsE");
void parse(void *arguments) { (void)arguments; }
#endif

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "variables") == 0) {
    if (getenv("KOKKOS_TOOLS_LIBS") != NULL) puts("KOKKOS_TOOLS_LIBS");
    if (getenv("KOKKOS_PROFILE_LIBRARY") != NULL) puts("KOKKOS_PROFILE_LIBRARY");
    return 0;
  }
  const char *libraries = getenv("KOKKOS_TOOLS_LIBS"), *older = getenv("KOKKOS_PROFILE_LIBRARY");
  if (libraries == NULL || older == NULL || strcmp(libraries, older) != 0) {
    puts("no tool");
    return 0;
  }
  tool = dlopen(libraries, RTLD_NOW | RTLD_GLOBAL);
  if (tool == NULL) {
    puts(dlerror());
    return 1;
  }
  struct settings settings = {.requires_global_fencing = true};
  ((void (*)(uint32_t, struct settings *))found("kokkosp_request_tool_settings"))(1, &settings);
  printf("fences %d\n", settings.requires_global_fencing);
  ((void (*)(int, uint64_t, uint32_t, void *))found("kokkosp_init_library"))(0, 20210225, 0, NULL);

  if (argc > 1 && strcmp(argv[1], "threads") == 0) {
    other_threads();
    return 0;
  }
  /* What is not there. */
  end(12345);
  end(0);
  plain("kokkosp_pop_profile_region");
  plain("kokkosp_end_deep_copy");
  memory("kokkosp_deallocate_data", "Host", "unknown", 64, 8);

  /* The outer one ends first, and the inner one once more. */
  push("order");
  uint64_t outer = begin("outer", 0), inner = begin("inner", 0);
  end(outer);
  begin("behind", 0);
  end(inner);
  end(outer);
  plain("kokkosp_pop_profile_region");

  /* By another thread. */
  push("thread");
  uint64_t there = begin("there", 0);
  pthread_t thread;
  pthread_create(&thread, NULL, ends, &there);
  pthread_join(thread, NULL);
  end(begin("afterwards", 0));
  plain("kokkosp_pop_profile_region");

  /* Fences: two that this thread ends, with a kernel behind one of them, and one that another thread does. */
  push("fences");
  uint64_t fence = begin_fence("before a copy");
  ends_fence(&fence);
  end(begin("between", 0));
  fence = begin_fence("before a copy");
  ends_fence(&fence);
  fence = begin_fence("there");
  pthread_create(&thread, NULL, ends_fence, &fence);
  pthread_join(thread, NULL);
  plain("kokkosp_pop_profile_region");

  /* Deeper than anybody looks, and out again. */
  for (int n = 0; n < 200; n++) push("deep");
  for (int n = 0; n < 200; n++) plain("kokkosp_pop_profile_region");
  end(begin("shallow", 0));

  end(begin("fill", 2u << 24 | 5));
  end(begin(NULL, 0xffffffff));
  push(NULL);
  plain("kokkosp_pop_profile_region");
  memory("kokkosp_allocate_data", "Cuda", "remote", 0x1000, 1 << 20);
  memory("kokkosp_deallocate_data", "Cuda", "remote", 0x1000, 1 << 20);
  memory("kokkosp_allocate_data", "Cuda", "kept", 0x200000, 8);
  memory("kokkosp_allocate_data", "Cuda", "again", 0x200000, 16);

  /* Without end. */
  push("open");
  begin("open", 0);
  plain("kokkosp_finalize_library");
  end(begin("last", 0));
  return 0;
}
