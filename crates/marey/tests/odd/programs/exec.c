/* Going on as another program, in every form; and as the same one, again and again. */
#include "odd.h"
#include <pthread.h>
extern char **environ;

static char left[16];
static char *line[5];
static void *threaded(void *file) {
    VISITS("thread", 20);
    execv(file, line);
    return file;
}
/* exec.c CASE LEFT SEED */
int main(int count, char **words) {
    int more = atoi(words[2]);
    odd_seed(words[count - 1]);
    VISITS("image", 1 + odd_below(400));
    printf("%s %d\n", words[1], more), fflush(stdout);
    if (more == 0) return 20;
    sprintf(left, "%d", more - 1);
    line[0] = words[0], line[1] = words[1], line[2] = left, line[3] = words[3];
    if (IS("execv")) execv(words[0], line);
    if (IS("execve")) execve(words[0], line, environ);
    if (IS("execvp")) execvp(words[0], line);
    if (IS("execl")) execl(words[0], words[0], words[1], left, words[3], (char *)0);
    if (IS("execlp")) execlp(words[0], words[0], words[1], left, words[3], (char *)0);
    if (IS("execvpe")) execvpe(words[0], line, environ);
    if (IS("execle")) execle(words[0], words[0], words[1], left, words[3], (char *)0, environ);
    if (IS("fexecve")) fexecve(open(words[0], O_RDONLY | O_CLOEXEC), line, environ);
    if (IS("execveat")) syscall(SYS_execveat, AT_FDCWD, words[0], line, environ, 0);
    if (IS("region")) WITHIN("open", execv(words[0], line));
    if (IS("thread")) {
        pthread_t thread;
        CHECK(!pthread_create(&thread, 0, threaded, words[0]));
        for (;;) VISIT("busy");
    }
    if (IS("fails")) {
        CHECK(execv("/nonexistent", line) < 0 && errno == ENOENT);
        VISITS("after", 100);
        return 21;
    }
    if (IS("shell")) {
        char *shell[] = {"sh", "-c", "echo gone on; exit 22", 0};
        execv("/bin/sh", shell);
    }
    if (IS("bare")) {
        /* The new image knows nothing of a recorder. */
        char *shell[] = {"sh", "-c", "echo bare; exit 23", 0}, *none[] = {0};
        execve("/bin/sh", shell, none);
    }
    if (IS("vfork")) {
        pid_t child = vfork();
        if (child == 0) {
            execv(words[0], line);
            _exit(98);
        }
        CHECK(odd_wait(child) == 20);
        VISIT("after");
        return 24;
    }
    return 97;
}
