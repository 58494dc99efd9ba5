/* Opens and closes a file as often as the first argument says. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    long n = 1 < argc ? atol(argv[1]) : 0;
    for (long i = 0; i < n; i++) {
        FILE *nowhere = fopen("/dev/null", "w");
        if (!nowhere) return 1;
        fclose(nowhere);
    }
}
