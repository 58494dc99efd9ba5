// What another file keeps: a pointer to a block that is no more, one of its own that is set anew, and one that others set.
#include <stdlib.h>

static double *kept;
double *shared;

// Leaves the address of a block that is given back in a variable of this file, and in one of all.
void *leaves_behind(size_t bytes) {
    kept = malloc(bytes);
    shared = kept;
    free(kept);
    return kept;
}
