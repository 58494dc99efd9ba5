/* Allocates in many ways, and keeps a book of it: what each function has allocated, freed and had, and what all of them
   had when together they had most. The book is printed; what a recorder says must be the same. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LEAST = 4096, TAGS = 32, BLOCKS = 1 << 16 };

struct sum {
  const char *name;
  size_t blocks, bytes, freed_blocks, freed_bytes, peak, at_peak;
};
static struct sum book[TAGS];
static size_t live, peak, least = LEAST;
static struct { void *at; size_t size; int tag; } known[BLOCKS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int tag_of(const char *name) {
  for (int tag = 0; tag < TAGS; tag++) {
    if (!book[tag].name) book[tag].name = name;
    if (!strcmp(book[tag].name, name)) return tag;
  }
  abort();
}

static size_t place_of(void *at) {
  size_t place = ((uintptr_t)at >> 4) * 0x9E3779B97F4A7C15u >> 48;
  while (known[place].at && known[place].at != at) place = (place + 1) % BLOCKS;
  return place;
}

static void add(const char *name, void *at, size_t size) {
  if (!at || size < least) return;
  pthread_mutex_lock(&lock);
  struct sum *sum = &book[tag_of(name)];
  sum->blocks++, sum->bytes += size, live += size;
  if (sum->bytes - sum->freed_bytes > sum->peak) sum->peak = sum->bytes - sum->freed_bytes;
  if (live > peak) {
    peak = live;
    for (int tag = 0; tag < TAGS; tag++) book[tag].at_peak = book[tag].bytes - book[tag].freed_bytes;
  }
  size_t place = place_of(at);
  known[place].at = at, known[place].size = size, known[place].tag = sum - book;
  pthread_mutex_unlock(&lock);
}

static void gone(void *at) {
  pthread_mutex_lock(&lock);
  size_t place = place_of(at);
  if (known[place].at) {
    struct sum *sum = &book[known[place].tag];
    sum->freed_blocks++, sum->freed_bytes += known[place].size, live -= known[place].size;
    /* Those behind it may have wanted its place. */
    known[place].at = 0;
    for (size_t next = (place + 1) % BLOCKS; known[next].at; next = (next + 1) % BLOCKS) {
      void *at = known[next].at;
      size_t size = known[next].size;
      int tag = known[next].tag;
      known[next].at = 0;
      size_t right = place_of(at);
      known[right].at = at, known[right].size = size, known[right].tag = tag;
    }
  }
  pthread_mutex_unlock(&lock);
}

static void print_book(void) {
  printf("whole %zu %zu\n", peak, live);
  for (int tag = 0; tag < TAGS && book[tag].name; tag++) {
    struct sum s = book[tag];
    printf("%s %zu %zu %zu %zu %zu %zu\n", s.name, s.blocks, s.bytes, s.freed_blocks, s.freed_bytes, s.peak, s.at_peak);
  }
}

/* Each way has a function of its own, by which it is known. */
#define WAY __attribute__((noinline, noclone)) static
#define KEEP(pointer) __asm__ volatile("" : "+r"(pointer) : : "memory")
WAY void *by_malloc(size_t n) { void *at = malloc(n); KEEP(at); add(__func__, at, n); return at; }
WAY void *by_calloc(size_t n, size_t size) {
  void *at = calloc(n, size);
  KEEP(at);
  if (at) for (size_t i = 0; i < n * size; i++) if (((char *)at)[i]) abort();
  add(__func__, at, n * size);
  return at;
}
WAY void *by_realloc(void *old, size_t n) {
  if (old) gone(old);
  void *at = realloc(old, n);
  KEEP(at);
  add(__func__, at, n);
  return at;
}
WAY void *by_reallocarray(void *old, size_t n, size_t size) {
  if (old) gone(old);
  void *at = reallocarray(old, n, size);
  KEEP(at);
  add(__func__, at, n * size);
  return at;
}
WAY void *by_posix_memalign(size_t align, size_t n) {
  void *at = 0;
  if (posix_memalign(&at, align, n)) return 0;
  KEEP(at);
  add(__func__, at, n);
  return at;
}
WAY void *by_aligned_alloc(size_t align, size_t n) { void *at = aligned_alloc(align, n); KEEP(at); add(__func__, at, n); return at; }
WAY void *by_memalign(size_t align, size_t n) { void *at = memalign(align, n); KEEP(at); add(__func__, at, n); return at; }
WAY void *by_valloc(size_t n) { void *at = valloc(n); KEEP(at); add(__func__, at, n); return at; }
WAY void *by_pvalloc(size_t n) { void *at = pvalloc(n); KEEP(at); add(__func__, at, n); return at; }
WAY void give_back(void *at) { if (at) gone(at); free(at); }

static void aligned(void *at, size_t align) { if (!at || (uintptr_t)at % align) abort(); }

static void family(void) {
  /* The sizes around the threshold: what counts is what is asked for, not what the allocator makes of it. */
  for (size_t n = LEAST - 40; n < LEAST + 40; n++) {
    char *at = by_malloc(n);
    if (malloc_usable_size(at) < n) abort();
    memset(at, 1, malloc_usable_size(at));
    give_back(at);
  }
  /* In place (nothing lies behind it), smaller in place, and moved, since another block lies behind it. */
  char *grown = by_realloc(0, 5000);
  for (size_t n = 5000; n < 100000; n += 7000) grown = by_realloc(grown, n);
  grown = by_realloc(grown, 20000);
  void *behind = by_malloc(6000);
  memset(grown, 7, 20000);
  grown = by_realloc(grown, 400000);
  for (int i = 0; i < 20000; i++) if (grown[i] != 7) abort();
  /* Through the threshold, both ways. */
  grown = by_realloc(grown, 100);
  grown = by_realloc(grown, 1 << 20);
  gone(grown);
  grown = realloc(grown, 0);
  if (grown) abort();
  give_back(behind);
  void *array = by_reallocarray(0, 100, 100);
  array = by_reallocarray(array, 300, 100);
  errno = 0;
  if (reallocarray(array, SIZE_MAX / 2, 4) || errno != ENOMEM) abort();
  /* What could not be had leaves all as it was. */
  volatile size_t huge = PTRDIFF_MAX;
  if (malloc(huge) || calloc(huge, 2) || calloc(huge, 4) || realloc(array, huge) || memalign(64, huge)) abort();
  give_back(by_calloc(1000, 10));
  void *kept = by_calloc(3, 5000);
  KEEP(kept);
  void *p[8] = {by_posix_memalign(64, 10000), by_aligned_alloc(256, 8192), by_memalign(4096, 5000), by_valloc(9000), by_pvalloc(9000)};
  aligned(p[0], 64), aligned(p[1], 256), aligned(p[2], 4096), aligned(p[3], 4096), aligned(p[4], 4096);
  void *unset = &unset;
  if (posix_memalign(&unset, 3, 5000) != EINVAL || unset != &unset) abort();
  for (int i = 0; i < 5; i++) give_back(p[i]);
  free(0);
  /* The peak, and then other blocks than those that made it. */
  void *high[10];
  for (int i = 0; i < 10; i++) high[i] = i % 2 ? by_calloc(i, 50000) : by_malloc(i * 60000 + 1);
  for (int i = 0; i < 7; i++) give_back(high[i]);
  for (int i = 0; i < 20; i++) give_back(by_memalign(32, 30000 + i));
  high[0] = by_malloc(70000);
  give_back(high[8]);
  /* What could not be made larger was there all the time. */
  give_back(array);
  errno = 77;
  give_back(high[0]);
  if (errno != 77) abort();
}

/* Blocks that go from hand to hand: who allocates them is mostly not who frees them. */
enum { THREADS = 6, ROUNDS = 4000, SHELF = 512, CONTESTS = 100000 };
static void *volatile shelf[SHELF];
WAY void *worker_malloc(size_t n) { void *at = malloc(n); KEEP(at); return at; }
static size_t made[THREADS], bytes[THREADS];
static void *work(void *argument) {
  int self = (intptr_t)argument;
  unsigned random = self * 7919 + 1;
  for (int i = 0; i < ROUNDS; i++) {
    random = random * 1103515245 + 12345;
    size_t n = LEAST + (random >> 8) % 60000;
    char *at = worker_malloc(n);
    at[0] = 1, at[n - 1] = 1;
    made[self]++, bytes[self] += n;
    free(__atomic_exchange_n(&shelf[(random >> 3) % SHELF], at, __ATOMIC_ACQ_REL));
  }
  /* All at the same path, as fast as it goes. */
  for (int i = 0; i < CONTESTS; i++) free(worker_malloc(LEAST));
  made[self] += CONTESTS, bytes[self] += (size_t)CONTESTS * LEAST;
  return 0;
}
static void threads(void) {
  pthread_t all[THREADS];
  for (intptr_t i = 0; i < THREADS; i++) pthread_create(&all[i], 0, work, (void *)i);
  for (int i = 0; i < THREADS; i++) pthread_join(all[i], 0);
  size_t blocks = 0, sum = 0, left = 0, left_bytes = 0;
  for (int i = 0; i < THREADS; i++) blocks += made[i], sum += bytes[i];
  /* Half of what is left stays: only whole blocks of a known size, so that its bytes are known. */
  for (int i = 0; i < SHELF; i++) free(shelf[i]);
  for (int i = 0; i < 100; i++) { KEEP(shelf[i]); shelf[i] = worker_malloc(10000 + i); blocks++, sum += 10000 + i, left++, left_bytes += 10000 + i; }
  printf("worker_malloc %zu %zu %zu %zu 0 0\n", blocks, sum, blocks - left, sum - left_bytes);
}

/* More blocks at a time than anybody has places for. */
WAY void *one_of_many(size_t n) { void *at = malloc(n); KEEP(at); return at; }
static void many(void) {
  enum { MANY = 3000000 };
  static void *all[MANY];
  for (int i = 0; i < MANY; i++) all[i] = one_of_many(20);
  for (int i = 0; i < MANY; i++) free(all[i]);
  for (int i = 0; i < 1000; i++) free(one_of_many(20));
  printf("one_of_many %d %d %d %d 0 0\n", MANY + 1000, (MANY + 1000) * 20, MANY + 1000, (MANY + 1000) * 20);
}

int main(int argc, char **argv) {
  static char buffer[1 << 14];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  const char *way = argc > 1 ? argv[1] : "family";
  if (getenv("LEAST")) least = strtoul(getenv("LEAST"), 0, 10);
  if (!strcmp(way, "family")) family();
  if (!strcmp(way, "threads")) { threads(); return 0; }
  if (!strcmp(way, "many")) { many(); return 0; }
  if (!strcmp(way, "killed")) {
    family();
    print_book();
    fflush(stdout);
    kill(getpid(), SIGKILL);
  }
  if (!strcmp(way, "fork")) {
    void *kept = by_malloc(50000), *before = by_calloc(1, 60000);
    pid_t child = fork();
    if (child == 0) {
      /* What was inherited is the parent's. */
      for (int i = 0; i < 1000; i++) free(malloc(5000 + i));
      free(before);
      void *at = malloc(123456);
      KEEP(at);
      _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    if (status) abort();
    give_back(before);
    KEEP(kept);
  }
  print_book();
  return 0;
}
