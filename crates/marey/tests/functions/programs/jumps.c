/* Functions that are left by `longjmp`: from recursion, out of a handler, from deeper than is kept of open
 * regions. Whatever is called next is called by whom the source says.
 */
#define _GNU_SOURCE
#include "counted.h"
#include <setjmp.h>
#include <signal.h>

static volatile long sink;
static jmp_buf back;
static sigjmp_buf from_handler;

__attribute__((noinline)) static void after(void) {
  HERE("after");
  sink++;
}

/* Jumps back into its outermost call, or to whom has called that. */
__attribute__((noinline)) static void recurse(int n, int most) {
  HERE("recurse");
  sink += n;
  if (n == most) longjmp(back, 1);
  if (n == 0 && most % 2) {
    if (setjmp(back) == 0) recurse(n + 1, most);
    after();
    return;
  }
  recurse(n + 1, most);
  sink++;
}

__attribute__((noinline)) static void caller(int most) {
  HERE("caller");
  if (most % 2) {
    recurse(0, most);
  } else if (setjmp(back) == 0) {
    recurse(0, most);
  }
  after();
}

/* Two that are alike, so that they have their frames at the same place. */
__attribute__((noinline)) static void leaves_one(void) {
  HERE("leaves_one");
  sink++;
  longjmp(back, 1);
}
__attribute__((noinline)) static void leaves_two(void) {
  HERE("leaves_two");
  sink++;
  longjmp(back, 1);
}
__attribute__((noinline)) static void alternates(void) {
  HERE("alternates");
  for (volatile int i = 0; i < 10; i++) {
    if (setjmp(back) == 0) leaves_one();
    if (setjmp(back) == 0) leaves_two();
  }
}

static void handler(int signal) {
  HERE("handler");
  sink += signal;
  siglongjmp(from_handler, 1);
}

__attribute__((noinline)) static void interrupted(void) {
  HERE("interrupted");
  if (sigsetjmp(from_handler, 1) == 0) raise(SIGUSR1);
  after();
}

int main(void) {
  HERE("main");
  signal(SIGUSR1, handler);
  for (int i = 0; i < 100; i++) {
    caller(6);
    caller(7);
    interrupted();
    alternates();
  }
  caller(2000);
  caller(2001);
  after();
  CALLED("main/caller", 202);
  CALLED("main/caller/after", 202);
  CALLED("main/caller/recurse/after", 101);
  CALLED("main/interrupted/handler", 100);
  CALLED("main/interrupted/after", 100);
  CALLED("main/alternates", 100);
  CALLED("main/alternates/leaves_one", 1000);
  CALLED("main/alternates/leaves_two", 1000);
  CALLED("main/after", 1);
  return 0;
}
