/* A program without OpenMP that asks whether there is some, and loads libraries with it privately. */
#include <dlfcn.h>
#include <stdio.h>

extern void GOMP_barrier(void) __attribute__((weak));
extern void omp_set_lock(long *) __attribute__((weak));
extern int omp_test_lock(long *) __attribute__((weak));

int main(int argc, char **argv) {
    long lock[8] = {0}, (*work[8])(void) = {0};
    void (*add[8])(void) = {0};
    if (GOMP_barrier) GOMP_barrier();
    if (omp_set_lock) omp_set_lock(lock);
    for (int i = 1; i < argc && i < 8; i++) {
        void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            puts(dlerror());
            return 1;
        }
        *(void **)&work[i] = dlsym(library, "work");
        *(void **)&add[i] = dlsym(library, "add");
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 1; i < argc && i < 8; i++) printf("%ld\n", work[i]());
        /* In turn: each section is given back to the runtime that has it. */
        for (int i = 1; i < argc && i < 8; i++) add[i]();
    }
}
