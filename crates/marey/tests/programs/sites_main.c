/* Calls `work`, which is linked to it, or which it finds in the library named on the command line.
 * Marks as in c_sites.c. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#ifndef LOADED
void work(void);
#endif

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv); // SITE main
#ifdef LOADED
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    void (*work)(void) = library ? (void (*)(void))dlsym(library, "work") : NULL;
    if (!work) return fprintf(stderr, "%s\n", dlerror()), 1;
#endif
    work();
#ifdef LOADED
    dlclose(library);
#endif
    MPI_Finalize(); // SITE main
    return 0;
}
