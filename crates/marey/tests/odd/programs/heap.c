/* Whatever a program may do with its heap: in handlers, on small stacks, by way of libraries that come and go, and in
 * children. What is printed are sums over what blocks hold, none of which a recorder may change. */
#include "odd.h"
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/time.h>
#include <ucontext.h>

enum { LARGE = 1 << 20, BLOCK = 8 << 10 };
#define KEEP(pointer) __asm__ volatile("" : "+r"(pointer) : : "memory")

/* A block that was there before anybody could have looked. */
static char *early;
__attribute__((constructor(101))) static void before_all(void) {
    early = realloc(calloc(1, BLOCK), 3 * BLOCK);
    free(malloc(BLOCK));
}

static __attribute__((noinline)) char *filled(size_t size, unsigned seed) {
    char *at = malloc(size);
    CHECK(at && malloc_usable_size(at) >= size);
    at[0] = (char)seed, at[size - 1] = (char)(seed >> 8);
    return at;
}
static void emptied(char *at, size_t size, unsigned seed) {
    CHECK(at[0] == (char)seed && at[size - 1] == (char)(seed >> 8));
    free(at);
}

/* Handlers that allocate while their thread does. Blocks so large are mapped one by one, so that the C library minds
 * it no more than without anybody else. */
static volatile unsigned handled;
static sigjmp_buf back;
static volatile int may_jump;
static void handler(int signal) {
    (void)signal;
    /* The next signal may come, and be handled, while this one is. */
    unsigned own = handled;
    emptied(filled(LARGE + own % 100, own), LARGE + own % 100, own);
    handled++;
    if (may_jump) siglongjmp(back, 1);
}
static void interrupt(int flags, stack_t *stack) {
    if (stack) CHECK(!sigaltstack(stack, 0));
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | flags};
    CHECK(!sigaction(SIGALRM, &action, 0));
    struct itimerval every = {{0, 150}, {0, 150}};
    CHECK(!setitimer(ITIMER_REAL, &every, 0));
}
static void quiet(void) {
    struct itimerval never = {{0, 0}, {0, 0}};
    CHECK(!setitimer(ITIMER_REAL, &never, 0));
}
static void handlers(void) {
    static char other[64 << 10];
    stack_t stack = {.ss_sp = other, .ss_size = odd_below(2) ? sizeof other : 9000};
    mallopt(M_MMAP_THRESHOLD, LARGE / 2);
    interrupt(odd_below(2) ? SA_ONSTACK : 0, &stack);
    for (unsigned i = 0; handled < 300; i++) emptied(filled(LARGE + i % 9, i), LARGE + i % 9, i);
    quiet();
    VISIT("handled");
}
static void jumps(void) {
    mallopt(M_MMAP_THRESHOLD, LARGE / 2);
    interrupt(SA_NODEFER, 0);
    for (volatile unsigned i = 0; handled < 200;) {
        if (sigsetjmp(back, 1)) i++;
        may_jump = 1;
        /* What is jumped over is left behind. */
        char *at = filled(LARGE + i % 9, i);
        may_jump = 0;
        free(at);
    }
    quiet();
    VISIT("jumped");
}

static __attribute__((noinline)) unsigned deep(unsigned depth) {
    volatile char room[64];
    char *at = depth % 50 == 0 ? filled(BLOCK + depth, depth) : 0;
    room[depth % 64] = (char)depth;
    unsigned sum = depth == 0 ? 0 : 1 + deep(depth - 1);
    if (at) emptied(at, BLOCK + depth, depth);
    return sum + (room[depth % 64] != (char)depth);
}

/* Threads with as little stack as there may be, that allocate wherever they are in it. */
static __attribute__((noinline)) unsigned squeeze(unsigned depth, const char *low) {
    volatile char room[200];
    room[0] = (char)depth;
    emptied(filled(BLOCK, depth), BLOCK, depth);
    /* Less room than this the C library may want itself. */
    if ((char *)&room - low < 2600) return depth;
    return squeeze(depth + 1, low) + (room[0] != (char)depth);
}
static void *in_small(void *unused) {
    (void)unused;
    pthread_attr_t attributes;
    void *low;
    size_t size;
    CHECK(!pthread_getattr_np(pthread_self(), &attributes) && !pthread_attr_getstack(&attributes, &low, &size));
    CHECK(!pthread_attr_destroy(&attributes));
    return (void *)(intptr_t)(squeeze(0, low) > 5);
}
static void small(void) {
    pthread_attr_t attributes;
    CHECK(!pthread_attr_init(&attributes) && !pthread_attr_setstacksize(&attributes, (size_t)(16 + odd_below(40)) << 10));
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        void *result;
        CHECK(!pthread_create(&thread, &attributes, in_small, 0) && !pthread_join(thread, &result) && result);
    }
    VISIT("small");
}

static ucontext_t main_context, other_context;
static void aside(void) {
    for (unsigned i = 0;; i++) {
        emptied(filled(BLOCK + i, i), BLOCK + i, i);
        swapcontext(&other_context, &main_context);
    }
}
static void coroutines(void) {
    static char stack[8 << 10];
    CHECK(!getcontext(&other_context));
    other_context.uc_stack.ss_sp = stack, other_context.uc_stack.ss_size = sizeof stack;
    makecontext(&other_context, aside, 0);
    for (unsigned i = 0; i < 200; i++) {
        CHECK(!swapcontext(&main_context, &other_context));
        emptied(filled(2 * BLOCK, i), 2 * BLOCK, i);
    }
    VISIT("aside");
}

/* Ends of threads: blocks that destructors free and allocate. */
static pthread_key_t key;
static void last(void *block) {
    emptied(block, BLOCK, 77);
    static __thread int rounds = 0;
    if (rounds++ < 3) pthread_setspecific(key, filled(BLOCK, 77));
}
static void *ends_late(void *unused) {
    CHECK(!pthread_setspecific(key, filled(BLOCK, 77)));
    free(filled(3 * BLOCK, 1));
    return unused;
}
static void late(void) {
    CHECK(!pthread_key_create(&key, last));
    for (int i = 0; i < 200; i++) {
        pthread_t thread;
        CHECK(!pthread_create(&thread, 0, ends_late, 0));
        if (i % 3) CHECK(!pthread_join(thread, 0)); else CHECK(!pthread_detach(thread));
    }
    VISIT("late");
    usleep(20000);
}

static void *busy(void *stop) {
    unsigned i = 0;
    while (!*(volatile int *)stop) emptied(filled(BLOCK + i % 100, i), BLOCK + i % 100, i), i++;
    return 0;
}
static void forks(void) {
    volatile int stop = 0;
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) CHECK(!pthread_create(&threads[i], 0, busy, (void *)&stop));
    char *before = filled(5 * BLOCK, 5);
    unsigned sum = 0;
    for (int i = 0; i < 30; i++) {
        pid_t child = i % 5 == 4 ? vfork() : fork();
        if (child == 0) {
            if (i % 5 == 4) _exit(3);
            emptied(before, 5 * BLOCK, 5);
            for (unsigned j = 0; j < 100; j++) emptied(filled(BLOCK + j, j), BLOCK + j, j);
            _exit(3);
        }
        sum += odd_wait(child);
    }
    stop = 1;
    for (int i = 0; i < 3; i++) CHECK(!pthread_join(threads[i], 0));
    emptied(before, 5 * BLOCK, 5);
    VISIT("forked");
    printf("%u\n", sum);
}

/* A library that is loaded and closed, again and again, at whatever address; blocks of its outlive it. */
static void plugs(const char *plug, const char *other) {
    void *kept[40];
    for (int i = 0; i < 40; i++) {
        void *library = dlopen(i % 2 ? plug : other, RTLD_NOW | (i % 3 ? 0 : RTLD_DEEPBIND));
        CHECK(library);
        void *(*block)(size_t) = (void *(*)(size_t))dlsym(library, "plug_block");
        CHECK(block);
        kept[i] = block(BLOCK + i);
        free(block(3 * BLOCK));
        dlclose(library);
    }
    for (int i = 0; i < 40; i++) free(kept[i]);
    VISIT("closed");
}

/* All that there is, in any order, checked. */
static void any(void) {
    enum { PLACES = 300 };
    static char *blocks[PLACES];
    static size_t sizes[PLACES];
    unsigned sum = 0;
    for (unsigned i = 0; i < 20000; i++) {
        unsigned place = odd_below(PLACES), seed = place * 3 + 1;
        size_t size = odd_below(8) ? odd_below(3 * BLOCK) + 2 : odd_below(LARGE) + 2;
        if (blocks[place]) CHECK(blocks[place][0] == (char)seed && blocks[place][sizes[place] - 1] == (char)(seed >> 8));
        char *at = blocks[place];
        if (at && odd_below(2)) {
            size_t least = size < sizes[place] ? size : sizes[place];
            at[least / 2] = 42;
            at = odd_below(2) ? realloc(at, size) : reallocarray(at, size, 1);
            CHECK(at && at[least / 2] == 42);
        } else {
            free(at);
            switch (odd_below(7)) {
            case 0: at = calloc(1, size); CHECK(!at[0] && !at[size / 2] && !at[size - 1]); break;
            case 1: CHECK(!posix_memalign((void **)&at, 1 << (3 + odd_below(12)), size)); break;
            case 2: at = aligned_alloc(64, size); CHECK(!((uintptr_t)at % 64)); break;
            case 3: at = memalign(512, size); CHECK(!((uintptr_t)at % 512)); break;
            case 4: at = valloc(size); CHECK(!((uintptr_t)at % 4096)); break;
            case 5: at = pvalloc(size); CHECK(!((uintptr_t)at % 4096)); break;
            default: at = malloc(size);
            }
        }
        CHECK(at && malloc_usable_size(at) >= size);
        KEEP(at);
        at[0] = (char)seed, at[size - 1] = (char)(seed >> 8);
        blocks[place] = at, sizes[place] = size;
        sum += (unsigned)size;
    }
    VISIT("any");
    printf("%u\n", sum);
    errno = 5;
    for (int i = 0; i < PLACES; i++) free(blocks[i]);
    CHECK(errno == 5);
}

int main(int count, char **words) {
    odd_seed(words[count - 1]);
    VISITS("main", odd_below(10));
    free(early);
    if (IS("handlers")) handlers();
    if (IS("jumps")) jumps();
    if (IS("deep")) { printf("%u\n", deep(20000)); VISIT("deep"); }
    if (IS("small")) small();
    if (IS("coroutines")) coroutines();
    if (IS("late")) late();
    if (IS("forks")) forks();
    if (IS("plugs")) plugs(words[2], words[3]);
    if (IS("any")) any();
    VISIT("main");
    return 7;
}
