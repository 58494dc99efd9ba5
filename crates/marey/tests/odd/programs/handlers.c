/* Signal handlers that make visits while they interrupt anything, and that never come back. */
#include "odd.h"
#include <pthread.h>
#include <setjmp.h>
#include <sys/time.h>
#include <ucontext.h>

static sigjmp_buf back;
static volatile sig_atomic_t may_jump;
static volatile unsigned handled;

static void visits(int number) {
    (void)number;
    VISIT("handler");
    handled++;
}
static void jumps(int number) {
    (void)number;
    VISIT("handler");
    handled++;
    if (may_jump) siglongjmp(back, 1);
}
static void deep(int number) {
    WITHIN("deep", if (handled++ % 3 == 0) raise(number == SIGUSR1 ? SIGUSR2 : SIGUSR1));
}
static void tick(unsigned us) {
    struct itimerval every = {{0, us}, {0, us}};
    setitimer(ITIMER_REAL, &every, 0);
}
static void handle(int number, void (*handler)(int), int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler, action.sa_flags = flags;
    sigaction(number, &action, 0);
}
static pthread_t target;
static volatile int over;
static void *pesters(void *nothing) {
    while (!over) pthread_kill(target, SIGUSR1);
    return nothing;
}
static ucontext_t outer, inner;
static void coroutine(void) {
    for (;;) {
        VISITS("coroutine", 50);
        swapcontext(&inner, &outer);
    }
}
int main(int count, char **words) {
    odd_seed(words[count - 1]);
    unsigned us = 20 + odd_below(400), enough = 200 + odd_below(800);
    VISIT("main");
    VISIT("handler"); /* so that handlers find it defined, as a rule */
    if (IS("visits")) {
        handle(SIGALRM, visits, SA_RESTART);
        tick(us);
        while (handled < enough) VISITS("main", 100);
    } else if (IS("first")) {
        /* The handler's regions are learnt amid the learning of others. Alarms do not interrupt each other: on a
         * busy machine they would come faster than they can be handled. */
        handle(SIGALRM, deep, SA_RESTART), handle(SIGUSR1, deep, SA_NODEFER), handle(SIGUSR2, deep, SA_NODEFER);
        tick(us);
        struct odd_slot *slot = odd_slot("learnt");
        for (unsigned i = 0; handled < 100; i++) {
            marey_region *region = (marey_region *)calloc(1, sizeof *region);
            region->name = "learnt", region->file = __FILE__, region->line = i;
            ODD_BEGIN(slot), marey_enter(region), marey_leave(region), ODD_DONE(slot);
        }
    } else if (IS("jumps")) {
        VISIT("landed"); /* or on a busy machine it is jumped out of before it is defined, for ever */
        handle(SIGALRM, jumps, 0);
        tick(us);
        if (sigsetjmp(back, 1)) VISIT("landed");
        may_jump = 1;
        while (handled < enough) VISITS("main", 10);
        may_jump = 0;
    } else if (IS("altstack")) {
        static char memory[1 << 20];
        stack_t stack = {memory, 0, sizeof memory};
        sigaltstack(&stack, 0);
        VISIT("landed");
        handle(SIGALRM, jumps, SA_ONSTACK);
        /* Each jump lets the next signal come before it has left the stack: there must be room for those that do. */
        tick(us + 300);
        if (sigsetjmp(back, 1)) VISIT("landed");
        may_jump = 1;
        while (handled < enough) VISITS("main", 10);
        may_jump = 0;
    } else if (IS("nested")) {
        handle(SIGUSR1, deep, SA_NODEFER), handle(SIGUSR2, deep, SA_NODEFER), handle(SIGALRM, deep, 0);
        tick(us);
        while (handled < enough) VISITS("main", 100);
    } else if (IS("pestered")) {
        pthread_t thread;
        target = pthread_self();
        handle(SIGUSR1, visits, SA_RESTART);
        CHECK(!pthread_create(&thread, 0, pesters, 0));
        VISITS("main", 20000 + odd_below(20000));
        over = 1;
        CHECK(!pthread_join(thread, 0));
    } else if (IS("segv")) {
        struct rlimit;
        handle(SIGSEGV, jumps, SA_NODEFER);
        may_jump = 1;
        for (volatile int i = 0; i < 200; i++) {
            if (sigsetjmp(back, 1) == 0) {
                VISIT("main");
                *(volatile int *)8 = i;
            }
        }
    } else if (IS("contexts")) {
        static char memory[1 << 17];
        handle(SIGALRM, visits, SA_RESTART);
        tick(us);
        getcontext(&inner);
        inner.uc_stack.ss_sp = memory, inner.uc_stack.ss_size = sizeof memory, inner.uc_link = 0;
        makecontext(&inner, coroutine, 0);
        for (int i = 0; i < 500; i++) {
            swapcontext(&outer, &inner);
            VISITS("main", 20);
        }
    }
    tick(0);
    printf("%s done\n", words[1]);
    return 30;
}
