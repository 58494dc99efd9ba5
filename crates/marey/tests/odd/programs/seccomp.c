/* Filters on system calls: refused, or the process ends. Words: CASE SEED; the case is an action and a
 * set of calls. What the program itself calls afterwards is never in the set. */
#include "odd.h"
#include <pthread.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))

enum how { BY_PRCTL, BY_SYSCALL, WITH_LISTENER };
static void forbid(const int *calls, int n, unsigned action, enum how how) {
    struct sock_filter code[64];
    int at = 0;
    code[at++] = (struct sock_filter)LOAD(nr);
    for (int i = 0; i < n; i++) {
        code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
        code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
    }
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {(unsigned short)at, code};
    CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    /* A listener is a descriptor, where the call without one returns nothing. */
    if (how == WITH_LISTENER)
        CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program) > 0);
    else if (how == BY_SYSCALL) CHECK(!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
    else CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}
/* Only what writes, exits and handles signals may go on. */
static void allow_only(const int *calls, int n, unsigned action) {
    struct sock_filter code[64];
    int at = 0;
    code[at++] = (struct sock_filter)LOAD(nr);
    for (int i = 0; i < n; i++) {
        code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
        code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
    struct sock_fprog program = {(unsigned short)at, code};
    CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}
static void *work(void *times) {
    VISITS("thread", (unsigned)(size_t)times);
    return 0;
}
static void learn(unsigned times) {
    struct odd_slot *slot = odd_slot("learnt");
    static marey_region regions[3000];
    for (unsigned i = 0; i < times && i < 3000; i++) {
        regions[i].name = "learnt", regions[i].file = __FILE__, regions[i].line = i;
        ODD_BEGIN(slot), marey_enter(&regions[i]), marey_leave(&regions[i]), ODD_DONE(slot);
    }
}
int main(int count, char **words) {
    static const int files[] = {SYS_openat, SYS_open, SYS_creat, SYS_ftruncate, SYS_fallocate, SYS_statx,
                                SYS_newfstatat, SYS_pwrite64, SYS_pwritev, SYS_readlink, SYS_getcwd};
    static const int memory[] = {SYS_mmap, SYS_munmap, SYS_madvise, SYS_mprotect, SYS_mremap, SYS_brk};
    static const int rest[] = {SYS_getrandom, SYS_clock_gettime, SYS_membarrier, SYS_prlimit64, SYS_sched_yield,
                               SYS_gettid, SYS_getppid, SYS_sched_getaffinity, SYS_sysinfo, SYS_uname};
    static const int few[] = {SYS_write, SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_futex};
    odd_seed(words[count - 1]);
    unsigned visits = 100000 + odd_below(100000);
    odd_slot("main"), odd_slot("thread"), odd_slot("learnt");
    VISIT("first");
    if (!strncmp(words[1], "midway", 6)) VISITS("main", odd_below(20000));
    printf("%s\n", words[1]), fflush(stdout);
    if (strstr(words[1], "clock")) {
        if (strstr(words[1], "syscall")) CHECK(!syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0));
        else CHECK(!prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0));
        VISITS("main", visits);
        learn(1000);
        printf("clock done\n");
        exit(83);
    }
    if (strstr(words[1], "strict")) {
        odd_silent_ = 1;
        CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0));
        VISITS("main", visits);
        learn(1000);
        (void)!write(1, "strict done\n", 12);
        __asm__ volatile("syscall" ::"a"(SYS_exit), "D"(80) : "rcx", "r11", "memory");
    }
    if (strstr(words[1], "few")) {
        odd_silent_ = 1;
        allow_only(few, 5, strstr(words[1], "kill") ? SECCOMP_RET_KILL : SECCOMP_RET_ERRNO | EPERM);
        VISITS("main", visits);
        learn(1000);
        (void)!write(1, "few done\n", 9);
        _exit(81);
    }
    unsigned action = strstr(words[1], "enosys") ? SECCOMP_RET_ERRNO | ENOSYS
                      : strstr(words[1], "eperm") ? SECCOMP_RET_ERRNO | EPERM
                      : strstr(words[1], "trap") ? SECCOMP_RET_TRAP : SECCOMP_RET_KILL;
    pthread_t thread;
    int may_start = !strstr(words[1], "memory");
    if (strstr(words[1], "files")) forbid(files, sizeof files / sizeof *files, action, BY_PRCTL);
    enum how how = strstr(words[1], "listener") ? WITH_LISTENER : BY_SYSCALL;
    if (strstr(words[1], "memory")) forbid(memory, sizeof memory / sizeof *memory, action, how);
    if (strstr(words[1], "rest")) forbid(rest, sizeof rest / sizeof *rest, action, how);
    /* The C library itself needs some of these for a thread, a child and a buffer. */
    if (action != SECCOMP_RET_KILL && action != SECCOMP_RET_TRAP && may_start) {
        CHECK(!pthread_create(&thread, 0, work, (void *)20000));
        CHECK(!pthread_join(thread, 0));
        pid_t child = (pid_t)syscall(SYS_fork);
        if (child == 0) {
            VISITS("child", 1000);
            _exit(4);
        }
        CHECK(odd_wait(child) == 4);
    }
    VISITS("main", visits);
    learn(2000);
    (void)!write(1, "done\n", 5);
    _exit(82);
}
