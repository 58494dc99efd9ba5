// Functions of C++ that must have no guard, each with the reason behind it, and others.
#include "heads.h"
#include <cstdio>

#define MY_CONSTEXPR constexpr
#define LIB_INLINE_DEVICE_FUNC inline

MY_CONSTEXPR int square(int x) { return x * x; } // constexpr: it may run in the compiler
EVERYWHERE int cube(int x) { return x * x * x; } // constexpr: it may run in the compiler
LIB_INLINE_DEVICE_FUNC int there(int x) { return x + 1; } // it may run on another device
// What these two stand for, only the command line of the compiler says.
LIB_CONSTEXPR20 int fourth(int x) { return cube(x) * x; } // constexpr: it may run in the compiler
KOKKOS_INLINE_FUNCTION int anywhere(int x) { return x - 1; } // it may run on another device
static int table[square(2)], more[cube(2) + fourth(1)];

template <class T> struct Values {
    T all[4];
    T &operator[](int i) { return all[i]; }
    EVERYWHERE static int size() { return 4; } // constexpr: it may run in the compiler
};

static int sum(const int (&values)[4]) {
    int all = 0;
    for (int value : values) all += value; /* it has a guard */
    return all;
}

#if defined(__clang__)
static int last(int x) { // musttail: nothing can be done behind its last call
    [[clang::musttail]] return there(x);
}
#else
#define last there
#endif

int main() {
    Values<int> values{};
    char sized[Values<int>::size()] = "abc";
    values[1] = 2;
    std::printf("%d %d %d %d %s\n", table[0] + more[8], values[1], last(anywhere(4)), sum(table), sized);
    return 0;
}
