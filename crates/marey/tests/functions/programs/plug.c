/* A library that is loaded and closed: WHICH tells two of them apart that have their functions at the same
 * places.
 */
#define JOINED(name, which) name##which
#define NAMED(name, which) JOINED(name, which)

long NAMED(counted_, WHICH);

__attribute__((constructor)) static void NAMED(opened_, WHICH)(void) { NAMED(counted_, WHICH)++; }

long NAMED(called_, WHICH)(int n) { return n == 0 ? 0 : 1 + NAMED(called_, WHICH)(n - 1); }
