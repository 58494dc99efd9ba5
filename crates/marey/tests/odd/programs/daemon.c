/* Leaves its session, its directory, its root, its namespaces, its user, and closes what is not its own. */
#include "odd.h"
#include <grp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <linux/close_range.h>

static int is_done(pid_t child, int code) {
    CHECK(odd_wait(child) == code);
    printf("done\n");
    return 100;
}
int main(int count, char **words) {
    odd_seed(words[count - 1]);
    unsigned before = odd_below(300), after = 1 + odd_below(20000);
    VISITS("main", before);
    pid_t child;
    if (IS("daemon") || IS("byhand")) {
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        child = fork();
        if (child == 0) {
            if (IS("daemon")) {
                CHECK(!daemon(0, 0));
            } else {
                setsid();
                if (fork()) _exit(0);
                CHECK(!chdir("/"));
                umask(0777);
                for (int i = 0; i < 1024; i++) close(i);
            }
            VISITS("daemon", after);
            _exit(7);
        }
        CHECK(odd_wait(child) == 0); /* the first child, which is daemon's parent */
        return is_done(-1, 7);
    }
    if (IS("closefrom")) {
        for (int i = 0; i < 20; i++) {
            VISITS("main", odd_below(2000));
            closefrom(3);
        }
        VISITS("main", after);
    }
    if (IS("closerange")) {
        syscall(SYS_close_range, 3, ~0u, 0);
        VISITS("main", after);
    }
    if (IS("unshare")) {
        /* What may be done depends on the machine, alike with a recorder and without. */
        int got = unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_FS | CLONE_FILES);
        VISITS("main", after);
        if (got == 0) (void)!sethostname("elsewhere", 9);
        child = fork();
        if (child == 0) {
            VISITS("child", after);
            _exit(3);
        }
        CHECK(odd_wait(child) == 3);
        printf("%d\n", got);
    }
    if (IS("pids")) {
        /* The child is number 1 of its own world. */
        int got = unshare(CLONE_NEWPID);
        child = fork();
        if (child == 0) {
            VISITS("child", after);
            _exit(3);
        }
        CHECK(odd_wait(child) == 3);
        printf("%d\n", got);
    }
    if (IS("users")) {
        child = fork();
        if (child == 0) {
            int got = unshare(CLONE_NEWUSER);
            VISITS("child", after);
            _exit(got == 0 ? 3 : 4);
        }
        int code = odd_wait(child);
        printf("%d\n", code);
    }
    if (IS("chroot")) {
        child = fork();
        if (child == 0) {
            int got = chroot("/proc/self");
            if (chdir("/")) _exit(5);
            VISITS("child", after);
            /* A child of this one finds no place for its files. */
            pid_t lost = fork();
            if (lost == 0) {
                VISITS("lost", 100);
                _exit(2);
            }
            _exit(odd_wait(lost) == 2 ? 3 + (got != 0) : 6);
        }
        printf("%d\n", odd_wait(child));
    }
    if (IS("chdir")) {
        CHECK(!chdir("/"));
        child = fork();
        if (child == 0) {
            VISITS("child", after);
            _exit(2);
        }
        CHECK(odd_wait(child) == 2);
    }
    if (IS("user")) {
        /* From root to nobody: the spool is root's. */
        child = fork();
        if (child == 0) {
            int got = setgid(65534) | setuid(65534);
            VISITS("lost", after);
            _exit(got ? 4 : 3);
        }
        int code = odd_wait(child);
        if (geteuid() == 0) CHECK(!seteuid(65534));
        VISITS("main", after);
        printf("%d\n", code);
    }
    printf("%s done\n", words[1]);
    return 101;
}
