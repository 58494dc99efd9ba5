/* Three loops that take processor time, one of them within another and one in a function that a loop calls, and one that
   calls a library. Prints the processor time of each, ns, and how often it wrote. */
#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

static volatile double sink;

static long long now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return at.tv_sec * 1000000000LL + at.tv_nsec;
}

static void burn(double *values, int number)
{
    for (int it = 0; it < number; it++)             /* loop burn */
        values[it % 512] = values[(it + 1) % 512] * 0.999 + 1.0;
    sink = values[0];
}

int main(int argc, char **argv)
{
    static double values[512];
    int work = argc > 1 ? atoi(argv[1]) : 1000000;
    int file = open("/dev/null", O_WRONLY);
    long long inner = 0, called = 0, writes = 0;
    for (int step = 0; step < 40; step++) {         /* loop outer */
        long long begin = now();
        for (int it = 0; it < 3 * work; it++)       /* loop inner */
            values[it % 512] += 1.0 / (it + 1.0);
        sink = values[1];
        inner += now() - begin;
        begin = now();
        burn(values, work);
        called += now() - begin;
        for (int it = 0; it < 5; it++)              /* loop writes */
            writes += write(file, values, 64) == 64;
    }                                               /* end outer */
    printf("%lld %lld %lld\n", inner, called, writes);
}
