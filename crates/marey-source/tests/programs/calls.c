/* Calls from plain, static, and inlined functions. The empty asm keeps a call from becoming a jump. */
void probe(int line, const char *function);
#define PROBE() do { probe(__LINE__, __func__); __asm__ volatile(""); } while (0)
#define NOINLINE __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))

INLINE void innermost(void) {
    PROBE();
}
INLINE void middle(void) {
    innermost();
}
NOINLINE void outer(void) {
    middle();
    PROBE();
}
static NOINLINE void file_local(int n) {
    PROBE();
    if (n > 0) file_local(n - 1);
    __asm__ volatile("");
}
int ENTRY(void) {
    outer();
    file_local(2);
    PROBE();
    return 0;
}
