/* The part of all.c that lies in a shared library. */
#include "marey.h"

int in_library(int n) {
    MAREY_SCOPE("in a library");
    return n;
}
