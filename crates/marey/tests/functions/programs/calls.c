/* Calls of all kinds in C: deep and mutual recursion, pointers, inlining, constructors, exit handlers, threads,
 * signal handlers, forked children.
 */
#define _GNU_SOURCE
#include "counted.h"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long sink;

__attribute__((constructor(200))) static void before_main(void) { HERE("before_main"); }
__attribute__((destructor(200))) static void after_main(void) { HERE("after_main"); }
static void at_exit(void) { HERE("at_exit"); }

static inline int inlined(int n) {
  HERE("inlined");
  return n + 1;
}

__attribute__((noinline)) static int leaf(int n) {
  HERE("leaf");
  return inlined(n) ^ 1;
}

static int odd(int n);
static int even(int n) {
  HERE("even");
  return n == 0 ? 1 : odd(n - 1);
}
static int odd(int n) {
  HERE("odd");
  return n == 0 ? 0 : even(n - 1);
}

/* Deeper than is kept of open regions. */
static int deep(int n) {
  HERE("deep");
  int found = n == 0 ? 0 : deep(n - 1);
  sink++;
  return found + 1;
}

/* Ends by jumping into the last call. */
__attribute__((noinline)) static void last(void) {
  HERE("last");
  sink++;
}
__attribute__((noinline)) static void first(int n) {
  HERE("first");
  last();
  if (n > 0) first(n - 1);
}

/* Goes on after its own call: at its end the inner one gives up its frame before it says so. */
__attribute__((noinline)) static void both(int n) {
  HERE("both");
  if (n > 0) both(n - 1);
  last();
}

static void handler(int signal) {
  HERE("handler");
  sink += signal;
}

static void *thread(void *argument) {
  HERE("thread");
  for (int i = 0; i < 5000; i++) sink += leaf(i);
  return argument;
}

static int child(void) {
  HERE("child");
  for (int i = 0; i < 100; i++) sink += leaf(i);
  return 7;
}

/* Room on the stack that is taken after the beginning is told. */
__attribute__((noinline)) static long roomy(int n) {
  HERE("roomy");
  volatile char room[n];
  room[n - 1] = 1;
  return leaf(room[n - 1]);
}

int main(void) {
  HERE("main");
  atexit(at_exit);
  int (*pointer)(int) = leaf;
  for (int i = 0; i < 1000; i++) sink += pointer(i);
  for (int i = 0; i < 200; i++) sink += even(i % 17);
  sink += deep(3000);
  sink += deep(10);
  for (int i = 0; i < 50; i++) both(i % 5);
  for (int i = 0; i < 50; i++) first(i % 5), sink += roomy(10 + 100 * i);
  struct sigaction action = {.sa_handler = handler};
  sigaction(SIGUSR1, &action, 0);
  for (int i = 0; i < 20; i++) raise(SIGUSR1);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, thread, 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
  for (int i = 0; i < 3; i++) {
    int status;
    pid_t pid = fork();
    if (pid == 0) _exit(child());
    if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 7) abort();
  }
  CALLED("main/leaf", 1000);
  CALLED("main/roomy/leaf", 50);
  /* What was open when a child was forked is its parent's. */
  CALLED("child/leaf", 300);
  CALLED("thread/leaf", 20000);
  CALLED("main/both/last", 50);
  CALLED("main/both/both/last", 40);
  CALLED("main/both/both/both/both/both/last", 10);
  CALLED("main/handler", 20);
  CALLED("main/even/odd/even/odd/even", 200 - 12 * 4);
  return 0;
}
