/* Calls of the kernel that are under way for long. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MIB (1L << 20)

static void *drains(void *end) {
    static char room[16384];
    while (read(*(int *)end, room, sizeof room) > 0) {}
    return 0;
}

static int writes_less(int ends[2], const char *data) {
    pthread_t reader;
    int less = 0;
    pthread_create(&reader, 0, drains, &ends[0]);
    for (int i = 0; i < 20; i++) less += write(ends[1], data, 4 * MIB) != 4 * MIB;
    close(ends[1]);
    pthread_join(reader, 0);
    return less;
}

/* Megabytes at a time, of a device, a pipe and a socket. */
static int moves(void) {
    char *data = calloc(32, MIB);
    int ends[2], less = 0, zero = open("/dev/zero", O_RDONLY), random = open("/dev/urandom", O_RDONLY);
    for (int i = 0; i < 20; i++) less += read(zero, data, 32 * MIB) != 32 * MIB;
    for (int i = 0; i < 20; i++) less += read(random, data, 4 * MIB) != 4 * MIB;
    if (pipe(ends)) return 1;
    less += writes_less(ends, data);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;
    less += writes_less(ends, data);
    printf("%d of 80 moved less\n", less);
    return 0;
}

/* Becomes another process again and again, by the instruction, which nobody sees. */
static int becomes(char **words) {
    extern char **environ;
    char next[16];
    char *line[] = {words[0], words[1], next, 0};
    int left = atoi(words[2]);
    for (clock_t from = clock(); clock() < from + CLOCKS_PER_SEC / 50;) {}
    if (left == 0) return puts("done") == EOF;
    snprintf(next, sizeof next, "%d", left - 1);
    syscall(SYS_execve, words[0], line, environ);
    return 99;
}

int main(int count, char **words) { return count > 2 && !strcmp(words[1], "becomes") ? becomes(words) : moves(); }
