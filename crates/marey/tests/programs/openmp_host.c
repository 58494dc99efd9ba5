/* A program without OpenMP that asks whether there is some, and loads libraries with it privately. Of those with a + before
   their name `add` is called first of all; those with a = are loaded for all to see, and closed after one call of `add`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

extern void GOMP_barrier(void) __attribute__((weak));
extern void omp_set_lock(long *) __attribute__((weak));
extern int omp_test_lock(long *) __attribute__((weak));

static void *loaded(const char *path, int flags) {
    void *library = dlopen(path, RTLD_NOW | flags);
    if (!library) puts(dlerror());
    return library;
}

/* Loads the library, calls it, closes it and sees to it that nothing lies where its runtime lay. */
static int come_and_go(const char *path) {
    void *library = loaded(path, RTLD_GLOBAL), (*add)(void);
    if (!library) return 0;
    *(void **)&add = dlsym(library, "add");
    add();
    uintptr_t runtime = (uintptr_t)dlsym(library, "omp_get_level") & ~4095ul;
    dlclose(library);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    return mmap((void *)runtime, 4096, PROT_NONE, flags, -1, 0) == (void *)runtime;
}

int main(int argc, char **argv) {
    long lock[8] = {0}, (*work[8])(void) = {0};
    void (*add[8])(void) = {0};
    int n = 0;
    if (GOMP_barrier) GOMP_barrier();
    if (omp_set_lock) omp_set_lock(lock);
    for (int i = 1; i < argc && i < 8; i++) {
        if (*argv[i] == '=') {
            if (!come_and_go(argv[i] + 1)) return 1;
            continue;
        }
        void *library = loaded(argv[i] + (*argv[i] == '+'), RTLD_LOCAL);
        if (!library) return 1;
        *(void **)&work[n] = dlsym(library, "work");
        *(void **)&add[n] = dlsym(library, "add");
        if (*argv[i] == '+') add[n]();
        n++;
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < n; i++) printf("%ld\n", work[i]());
        /* In turn: each section is given back to the runtime that has it. */
        for (int i = 0; i < n; i++) add[i]();
    }
}
