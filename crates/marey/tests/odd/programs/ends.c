/* Ways to end, amid visits. */
#include "odd.h"
#include <pthread.h>
#include <setjmp.h>

static void late(void) { VISIT("late"); }
static void status_late(int status, void *word) {
    (void)status, (void)word;
    VISITS("onexit", 5);
}
static void *work(void *nothing) {
    for (;;) VISIT("busy");
    return nothing;
}
static void *exits(void *nothing) {
    VISIT("thread");
    exit(41);
    return nothing;
}
static void *outlives(void *main_thread) {
    CHECK(!pthread_join(*(pthread_t *)main_thread, 0));
    VISITS("thread", 200);
    printf("outlived\n");
    exit(42);
    return 0;
}
static sigjmp_buf back;
static void leaves(int number) { siglongjmp(back, number); }
static void again(void) {
    VISIT("late");
    _exit(44);
}
/* Ends this process from outside after some microseconds. */
static void shoot(int number) {
    pid_t me = getpid();
    unsigned us = odd_below(30000);
    if (fork() == 0) {
        usleep(us);
        kill(me, number);
        _exit(0);
    }
}
int main(int count, char **words) {
    static pthread_t main_thread;
    pthread_t thread;
    main_thread = pthread_self();
    odd_seed(words[count - 1]);
    signal(SIGCHLD, SIG_IGN);
    VISITS("main", odd_below(2000));
    printf("%s\n", words[1]), fflush(stdout);
    if (IS("return")) atexit(late), on_exit(status_late, 0);
    if (IS("_exit")) atexit(late), _exit(40);
    if (IS("group")) syscall(SYS_exit_group, 40);
    if (IS("quick")) at_quick_exit(late), quick_exit(40);
    if (IS("_Exit")) _Exit(39);
    if (IS("amid")) {
        for (int i = 0; i < 3; i++) CHECK(!pthread_create(&thread, 0, work, 0));
        VISITS("main", 1000 + odd_below(3000));
        if (odd_below(2)) exit(38);
        _exit(38);
    }
    if (IS("thread")) {
        CHECK(!pthread_create(&thread, 0, exits, 0));
        for (;;) VISIT("busy");
    }
    if (IS("main")) {
        CHECK(!pthread_create(&thread, 0, outlives, &main_thread));
        VISIT("main");
        pthread_exit(0);
    }
    if (IS("atexit")) atexit(again), exit(43);
    if (IS("abort")) {
        signal(SIGABRT, leaves);
        if (!sigsetjmp(back, 1)) abort();
        VISITS("main", 10);
    }
    if (IS("aborts")) abort();
    if (IS("fault")) WITHIN("fault", *(volatile int *)8 = 1);
    if (IS("self")) WITHIN("fault", raise(SIGTERM));
    if (IS("killed") || IS("ended")) {
        for (int i = 0; i < 2; i++) CHECK(!pthread_create(&thread, 0, work, 0));
        shoot(IS("killed") ? SIGKILL : SIGTERM);
        for (;;) VISIT("main");
    }
    if (IS("defining")) {
        shoot(SIGKILL);
        struct odd_slot *slot = odd_slot("learnt");
        for (unsigned i = 0;; i++) {
            marey_region *region = (marey_region *)calloc(1, sizeof *region);
            region->name = "learnt", region->file = __FILE__, region->line = i % 5000;
            ODD_BEGIN(slot), marey_enter(region), marey_leave(region), ODD_DONE(slot);
        }
    }
    return 45;
}
