/* Functions whose frames the unwinder must step through: plain, recursive, of variable size, realigned,
   reached through the C library. Each calls back at several depths. */
#include <stdlib.h>
#include <string.h>

typedef void (*callback_t)(void);
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif
#define KEEP() __asm__ volatile("" ::: "memory")

NOINLINE static void leaf(callback_t callback) {
    callback();
    KEEP();
}
/* Two callers with equal frames: only the return address tells them apart. */
NOINLINE static void left(callback_t callback) {
    leaf(callback);
    KEEP();
}
NOINLINE static void right(callback_t callback) {
    leaf(callback);
    KEEP();
}
NOINLINE static int recurse(callback_t callback, int depth) {
    int n = 1;
    if (depth > 0) n += recurse(callback, depth - 1);
    leaf(callback);
    KEEP();
    return n;
}
NOINLINE static int variable(callback_t callback, size_t size) {
    volatile char block[size];
    memset((char *)block, 1, size);
    left(callback);
    KEEP();
    return block[size / 2];
}
NOINLINE static double realigned(callback_t callback, int n, double x) {
    double block[8] __attribute__((aligned(64)));
    for (int i = 0; i < 8; i++) block[i] = x + i;
    __asm__ volatile("" : : "r"(block) : "memory");
    if (n > 0) x += realigned(callback, n - 1, x);
    variable(callback, 40 + 8 * (size_t)n);
    __asm__ volatile("" : : "r"(block) : "memory");
    return block[n & 7] + x;
}
/* Callers of a function whose frame ends where rbp says. What one of them takes more, the callee takes
   less: the return addresses of the first call stay behind, unchanged, in the space that the second leaves
   unwritten, and only rbp tells the two stacks apart. */
NOINLINE static void shallow(callback_t callback, size_t size) {
    char space[size];
    __asm__ volatile("" : : "r"(space) : "memory");
    variable(callback, 512 - size);
    KEEP();
}
NOINLINE static void deep(callback_t callback, size_t size) {
    char space[size];
    __asm__ volatile("" : : "r"(space) : "memory");
    variable(callback, 512 - size);
    KEEP();
}
NOINLINE static void lookalikes(callback_t callback) {
    void (*volatile callers[])(callback_t, size_t) = {shallow, deep};
    /* Volatile, so that the loop keeps its one call. */
    for (volatile int i = 0; i < 2; i++) callers[i](callback, i ? 256 : 16);
    KEEP();
}
/* Two stacks that differ in nothing but the first return address behind the entry's. */
NOINLINE static void twice(callback_t callback) {
    leaf(callback);
    KEEP();
    leaf(callback);
    KEEP();
}
static callback_t current;
static int compare(const void *a, const void *b) {
    leaf(current);
    KEEP();
    return *(const int *)a - *(const int *)b;
}
NOINLINE static void through_qsort(callback_t callback) {
    int values[] = {3, 1, 2, 5, 4};
    current = callback;
    qsort(values, 5, sizeof *values, compare);
    KEEP();
}
void run_stacks(callback_t callback) {
    for (int round = 0; round < 3; round++) {
        left(callback);
        right(callback);
        recurse(callback, 12);
        variable(callback, 100 + 64 * (size_t)round);
        realigned(callback, 4, 1.0);
        through_qsort(callback);
        lookalikes(callback);
        twice(callback);
    }
    recurse(callback, 60);
    KEEP();
}
