/* What a command takes from its start to its end: `spent CMD…` runs it and then prints one figure a
 * line, name and value:
 *
 *   program_wall_ns  elapsed time, start-up and exit included
 *   program_cpu_ns   processor time of the command and of all descendants it waited for, the kernel's
 *                    share (page faults) included
 *   peak_bytes       the largest resident set of any one of these processes
 *
 * A program of its own and small, because the peak of a process starts with that of the process it
 * was forked from. Exits as the command does.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double nanoseconds(struct timeval time) { return time.tv_sec * 1e9 + time.tv_usec * 1e3; }

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e9 + now.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc < 2) return fprintf(stderr, "usage: %s CMD...\n", argv[0]), 2;
  double start = now_ns();
  pid_t child = fork();
  if (child == 0) {
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    _exit(127);
  }
  int status;
  struct rusage use;
  if (child < 0 || wait4(child, &status, 0, &use) != child) return perror(argv[1]), 1;
  printf("program_wall_ns %.0f\n", now_ns() - start);
  printf("program_cpu_ns %.0f\n", nanoseconds(use.ru_utime) + nanoseconds(use.ru_stime));
  printf("peak_bytes %.0f\n", use.ru_maxrss * 1024.0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
