#ifndef VARIOUS_H
#define VARIOUS_H
#include <stddef.h>

static inline int clamp(int n, int low, int high) {
    if (n < low) return low;
    return n > high ? high : n;
}

#endif
