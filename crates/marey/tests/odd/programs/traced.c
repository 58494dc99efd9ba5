/* A process that another one traces, call by call or signal by signal. */
#include "odd.h"
#include <sys/ptrace.h>

int main(int count, char **words) {
    odd_seed(words[count - 1]);
    long how = IS("calls") ? PTRACE_SYSCALL : PTRACE_CONT;
    VISIT("main");
    pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0)) _exit(12);
        raise(SIGSTOP);
        for (int i = 0; i < 20; i++) {
            VISITS("child", odd_below(3000));
            raise(SIGUSR1);
        }
        if (IS("execs")) execl("/bin/sh", "sh", "-c", "exit 13", (char *)0);
        _exit(13);
    }
    int status, signals = 0;
    for (;;) {
        CHECK(waitpid(child, &status, 0) == child);
        if (!WIFSTOPPED(status)) break;
        if (WSTOPSIG(status) == SIGUSR1) signals++;
        CHECK(!ptrace((enum __ptrace_request)how, child, 0, 0));
    }
    printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    printf("%s done after %d\n", words[1], how == PTRACE_CONT ? signals : 20);
    return 120;
}
