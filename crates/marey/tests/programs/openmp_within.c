/* Regions of one compiler's runtime within those of another's: the program loads a library of the other one. */
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

#ifdef LIBRARY
int inner(void) {
    int n = 0;
#pragma omp parallel num_threads(1) reduction(+ : n)
    n++;
    return n;
}
#else
static void nap(int ms) {
    struct timespec time = {0, ms * 1000000L};
    nanosleep(&time, NULL);
}

int main(int argc, char **argv) {
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    int (*inner)(void) = library ? (int (*)(void))dlsym(library, "inner") : NULL;
    if (!inner) return 2;
    int sum = 0;
    for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
        {
            sum += inner();
            nap(2);
#pragma omp critical
            nap(2);
        }
        nap(3);
    }
    printf("%d\n", sum);
    return 0;
}
#endif
