/* Ways to make a process: each child makes visits of its own. */
#include "odd.h"
#include <pthread.h>
#include <sched.h>
#include <spawn.h>

static volatile int done;
static void *busy(void *nothing) {
    while (!done) VISIT("busy");
    return nothing;
}
static pid_t make(const char *how) {
    if (!strcmp(how, "raw")) return (pid_t)syscall(SYS_fork);
    if (!strcmp(how, "clone")) return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    return fork();
}
static int child_of(const char *how, unsigned visits, int code) {
    pid_t child = make(how);
    if (child == 0) {
        alarm(30);
        VISITS("child", visits);
        _exit(code);
    }
    return odd_wait(child);
}
static void tree(int depth) {
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        VISIT("tree");
        if (child == 0) {
            if (depth > 1) tree(depth - 1);
            exit(depth);
        }
        CHECK(odd_wait(child) == depth);
    }
}
static pid_t from_handler;
static void forks(int number) {
    (void)number;
    from_handler = (pid_t)syscall(SYS_fork);
    VISIT("handler");
    if (from_handler == 0) _exit(5);
}
static int runs_threads(const char *how) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) CHECK(!pthread_create(&threads[i], 0, busy, 0));
    for (unsigned i = 0, n = 2 + odd_below(6); i < n; i++) CHECK(child_of(how, 1 + odd_below(50), 7) == 7);
    done = 1;
    for (int i = 0; i < 3; i++) CHECK(!pthread_join(threads[i], 0));
    return 12;
}
int main(int count, char **words) {
    odd_seed(words[count - 1]);
    VISITS("main", 1 + odd_below(3));
    if (IS("fork") || IS("raw") || IS("clone")) {
        for (unsigned i = 0, n = 1 + odd_below(5); i < n; i++) {
            int code = (int)odd_below(90);
            CHECK(child_of(words[1], odd_below(3000), code) == code);
            VISIT("parent");
        }
    } else if (IS("tree")) {
        tree(3);
    } else if (IS("inside")) {
        /* Both leave a region that only one has entered. */
        WITHIN("open", if (fork() == 0) { VISITS("child", 10); _exit(3); });
        CHECK(odd_wait(-1) == 3);
    } else if (IS("handler")) {
        signal(SIGUSR1, forks);
        for (int i = 0; i < 4; i++) {
            WITHIN("around", raise(SIGUSR1));
            CHECK(odd_wait(from_handler) == 5);
        }
    } else if (IS("threads")) {
        return runs_threads("fork");
    } else if (IS("rawthreads")) {
        return runs_threads("raw");
    } else if (IS("vfork")) {
        for (int i = 0; i < 5; i++) {
            pid_t child = vfork();
            if (child == 0) {
                if (i % 2) execl("/bin/sh", "sh", "-c", "exit 9", (char *)0);
                _exit(9);
            }
            CHECK(odd_wait(child) == 9);
            VISITS("parent", odd_below(100));
        }
    } else if (IS("spawn")) {
        extern char **environ;
        char *line[] = {"sh", "-c", "exec /bin/echo spawned", 0};
        pid_t child;
        CHECK(!posix_spawn(&child, "/bin/sh", 0, 0, line, environ));
        CHECK(odd_wait(child) == 0);
        CHECK(system("exit 4") == 4 << 8);
        FILE *pipe = popen("echo piped", "r");
        char said[32] = "";
        CHECK(pipe && fgets(said, sizeof said, pipe));
        pclose(pipe);
        VISIT("parent");
        fputs(said, stdout);
    } else if (IS("orphan")) {
        /* Nobody waits for the grandchild; its end is seen in a pipe. */
        int ends[2];
        char byte;
        CHECK(!pipe(ends));
        if (fork() == 0) {
            if (fork() == 0) {
                VISITS("child", 1 + odd_below(500));
                _exit(0);
            }
            _exit(1);
        }
        close(ends[1]);
        CHECK(odd_wait(-1) == 1);
        CHECK(read(ends[0], &byte, 1) == 0);
    }
    printf("%s done\n", words[1]);
    return 11;
}
