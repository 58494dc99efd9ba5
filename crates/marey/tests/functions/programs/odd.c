/* What recorders trip over: an allocator of the program's own that is instrumented, coroutines, handlers on a stack
 * of their own, threads that exit or are cancelled, destructors behind a thread's end, a resolver that the loader
 * calls before the program begins, a child of vfork. `errno` stays what it was.
 */
#define _GNU_SOURCE
#include "counted.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static volatile long sink;

/* Nothing is ever freed: the C library frees behind a thread's end. */
static char arena[64 << 20];
static size_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *grab(size_t size) {
  HERE("grab");
  char *block = arena + used;
  used += (size + 31) & ~(size_t)15;
  memcpy(block, &size, sizeof size);
  return block + 16;
}

/* Whoever called it again from inside would wait for ever. */
void *malloc(size_t size) {
  HERE("malloc");
  pthread_mutex_lock(&lock);
  void *block = grab(size);
  pthread_mutex_unlock(&lock);
  return block;
}
UNSEEN void free(void *block) { (void)block; }
void *calloc(size_t number, size_t size) {
  HERE("calloc");
  return memset(malloc(number * size), 0, number * size);
}
void *realloc(void *block, size_t size) {
  HERE("realloc");
  size_t old = 0;
  void *new = malloc(size);
  if (block) memcpy(&old, (char *)block - 16, sizeof old), memcpy(new, block, old < size ? old : size);
  return new;
}

static int compare(const void *a, const void *b) {
  HERE("compare");
  return *(const int *)a - *(const int *)b;
}

static void work(int n) {
  HERE("work");
  sink += n;
}

static ucontext_t back, coroutines[2];
static void coroutine(int which) {
  HERE("coroutine");
  for (int i = 0; i < 100; i++) work(i), swapcontext(&coroutines[which], &back);
}

static void on_own_stack(int signal) {
  HERE("on_own_stack");
  work(signal);
}

static void ends(void *nothing) {
  HERE("ends");
  sink += (long)nothing;
}
static void *exits(void *nothing) {
  HERE("exits");
  pthread_cleanup_push(ends, nothing);
  work(1);
  pthread_exit(0);
  pthread_cleanup_pop(0);
  return 0;
}
static void *waits(void *nothing) {
  HERE("waits");
  pthread_cleanup_push(ends, nothing);
  for (;;) pause();
  pthread_cleanup_pop(0);
  return 0;
}

/* Called in each of the four rounds that a thread's end has. */
static pthread_key_t key;
static void last_words(void *round) {
  HERE("last_words");
  if ((long)round < 4) pthread_setspecific(key, (void *)((long)round + 1));
}
static void *speaks(void *nothing) {
  HERE("speaks");
  pthread_setspecific(key, (void *)1);
  return nothing;
}

/* Who resolves is not counted: it is called before there is anything to count with. */
static int chosen(int n) {
  HERE("chosen");
  return n + 1;
}
static void *resolve(void) { return (void *)chosen; }
int picked(int n) __attribute__((ifunc("resolve")));

int main(void) {
  HERE("main");
  errno = 33;
  work(0);
  if (errno != 33) return 4;
  int numbers[1000];
  for (int i = 0; i < 1000; i++) numbers[i] = (i * 7919) % 1000;
  qsort(numbers, 1000, sizeof *numbers, compare);
  for (int i = 0; i < 2; i++) {
    getcontext(&coroutines[i]);
    coroutines[i].uc_stack = (stack_t){.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    coroutines[i].uc_link = &back;
    makecontext(&coroutines[i], (void (*)(void))coroutine, 1, i);
  }
  for (int i = 0; i < 100; i++) swapcontext(&back, &coroutines[i % 2]), work(i);
  stack_t own = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
  sigaltstack(&own, 0);
  struct sigaction action = {.sa_handler = on_own_stack, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, 0);
  for (int i = 0; i < 20; i++) raise(SIGUSR1);
  pthread_t thread;
  for (int i = 0; i < 10; i++) pthread_create(&thread, 0, exits, 0), pthread_join(thread, 0);
  pthread_create(&thread, 0, waits, 0);
  pthread_cancel(thread);
  pthread_join(thread, 0);
  pthread_key_create(&key, last_words);
  for (int i = 0; i < 10; i++) pthread_create(&thread, 0, speaks, 0), pthread_join(thread, 0);
  sink += picked(3);
  int status;
  pid_t pid = vfork();
  if (pid == 0) _exit(3);
  waitpid(pid, &status, 0);
  work(0);
  CALLED("main/on_own_stack/work", 20);
  CALLED("exits/work", 10);
  return WEXITSTATUS(status) != 3;
}
