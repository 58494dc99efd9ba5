/* Calls of the C library that return at once, a million each: what remains is what a call costs. Prints for each the
 * processor time of one, ns; what a call that waits costs is told by one that could have waited (`poll` finds something)
 * and one that was only asked (`recv` finds nothing).
 *
 *   poll_ns       poll of a pipe in which something lies, with a time to wait
 *   asked_ns      recv of an empty socket with MSG_DONTWAIT
 *   send_ns       send of a byte and recv of it, both together
 *   read_ns       read of a byte of /dev/zero
 *   fwrite_ns     fwrite of 8 bytes
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1e9 + now.tv_nsec;
}

#define MEASURE(name, call)                                        \
  do {                                                             \
    for (long i = 0; i < calls / 10; i++) call;                    \
    double start = now_ns();                                       \
    for (long i = 0; i < calls; i++) call;                         \
    printf(name "_ns %.2f\n", (now_ns() - start) / (double)calls); \
  } while (0)

int main(int argc, char **argv) {
  long calls = argc > 1 ? atol(argv[1]) : 1000000;
  int ends[2], pair[2], zero = open("/dev/zero", O_RDONLY);
  char byte;
  if (zero < 0 || pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || write(ends[1], "x", 1) != 1) return 1;
  FILE *null = fopen("/dev/null", "w");
  if (!null) return 1;
  struct pollfd ready = {ends[0], POLLIN, 0};
  MEASURE("poll", poll(&ready, 1, 1000));
  MEASURE("asked", recv(pair[0], &byte, 1, MSG_DONTWAIT));
  MEASURE("send", (send(pair[1], "x", 1, 0), recv(pair[0], &byte, 1, 0)));
  MEASURE("read", if (read(zero, &byte, 1) != 1) return 1);
  MEASURE("fwrite", fwrite("12345678", 8, 1, null));
  return 0;
}
