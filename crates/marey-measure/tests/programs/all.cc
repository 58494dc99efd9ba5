// The part of all.c that is C++: scopes that an exception leaves, typed fields by overloads.
#include "marey.h"

#include <stdexcept>

static void throws(int n) {
    MAREY_SCOPE("throws");
    if (n % 2) throw std::runtime_error("odd");
}

extern "C" int in_cxx(int n) {
    MAREY_SCOPE("in C++");
    try {
        throws(n);
    } catch (const std::exception &error) {
        if (n == 1) MAREY_EVENT("caught", "n", n, "u", 3u, "d", 1.5, "b", true, "what", error.what());
    }
    return n;
}
