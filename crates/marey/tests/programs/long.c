/* Functions whose code is long: 9000 instructions of eight bytes each, which do nothing. Each takes its time. */
#include <time.h>

#define LONG(name)                                                                                             \
    __attribute__((noinline)) static void name(void)                                                           \
    {                                                                                                          \
        __asm__ volatile(".rept 9000\n .byte 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n .endr");                        \
    }
#define EACH(it)                                                                                               \
    it(a0) it(a1) it(a2) it(a3) it(a4) it(a5) it(a6) it(a7) it(a8) it(a9)                                      \
    it(b0) it(b1) it(b2) it(b3) it(b4) it(b5) it(b6) it(b7) it(b8) it(b9)
#define NAME(name) name,

EACH(LONG)

int main(void)
{
    static void (*const all[])(void) = { EACH(NAME) };
    for (unsigned it = 0; it < sizeof all / sizeof *all; it++) {
        clock_t begin = clock();
        while (clock() - begin < CLOCKS_PER_SEC / 20)
            for (int visit = 0; visit < 50; visit++)
                all[it]();
    }
}
