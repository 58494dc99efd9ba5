/* Functions of C that are entered and left in all ways that C has; what they print depends on lines, too. */
#include "various.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define TWICE(name, type) \
    static type name(type x) { return x + x; }

TWICE(twice, int)

static jmp_buf back;

static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

/* The old way. */
static int old_style(a, b)
    int a;
    long b;
{
    return a + (int)b;
}

static int early(int n)
{
    if (n < 0) return -1;
    if (n == 0) goto out;
    switch (n) {
    case 1: { return 10; }
    default: break;
    }
    while (n > 3) {
        if (n % 7 == 0) goto out;
        n -= 2;
    }
out:
    return n;
}

static void deep(int n) {
    if (n == 0) longjmp(back, 1);
    deep(n - 1);
}

static int is_even(unsigned n);
static int is_odd(unsigned n) { return n == 0 ? 0 : is_even(n - 1); }
static int is_even(unsigned n) { return n == 0 ? 1 : is_odd(n - 1); }

static int compare(const void *one, const void *other) {
    int a = *(const int *)one, b = *(const int *)other;
    return (a > b) - (a < b);
}

struct node { struct node *left, *right; int value; };

static struct node *insert(struct node *tree, int value) {
    if (!tree) {
        tree = calloc(1, sizeof *tree);
        tree->value = value;
    } else if (value < tree->value) tree->left = insert(tree->left, value);
    else tree->right = insert(tree->right, value);
    return tree;
}

static long sum(const struct node *tree) {
    return tree ? tree->value + sum(tree->left) + sum(tree->right) : 0;
}

static void *work(void *what) {
    long *n = what;
    *n = fib((int)*n);
    return NULL;
}

#if defined(NEVER)
static int either(int n, int m)
#else
static int either(int n)
#endif
{ return n + __LINE__; }

static int in_loops(int n) {
    int i, j, all = 0;
    for (i = 0; i < n; i++)
        for (j = 0; j < i; j++)
            if ((i + j) % 5 == 0) continue;
            else all += 1;
    do {
        all++;
        if (all > 1000) break;
    } while (all % 9);
    switch (n & 3) { /* Duff's: a case leads into the loop. */
    case 0: do { all += 2;
    case 3:      all += 3;
    case 2:      all += 5;
    case 1:      all += 7;
            } while (--n > 0);
    }
    return all;
}

static int never_called(void) { return 1; }

int main(int argc, char **argv) {
    int i, values[40];
    long numbers[3] = {10, 11, 12};
    pthread_t threads[3];
    struct node *tree = NULL;
    for (i = 0; i < 40; i++) values[i] = (i * 37) % 41;
    qsort(values, 40, sizeof *values, compare);
    for (i = 0; i < 40; i++) tree = insert(tree, (values[i] * 17) % 43);
    for (i = 0; i < 3; i++) pthread_create(&threads[i], NULL, work, &numbers[i]);
    for (i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    if (setjmp(back) == 0) deep(5);
    printf("%ld %d %d %ld\n", fib(15), old_style(3, 4L), twice(21), sum(tree));
    printf("%ld %ld %ld %d\n", numbers[0], numbers[1], numbers[2], __LINE__);
    for (i = -1; i < 30; i++) printf("%d ", early(i));
    printf("\n%d %d %d %d %s:%d\n", is_even(10), is_odd(7), either(2), in_loops(20), __FILE__, __LINE__);
    printf("%d\n", clamp(70, 0, 9) + clamp(-3, 0, 9));
    if (argc > 1) exit(atoi(argv[1]));
    return argc > 5 ? never_called() : 3;
}
