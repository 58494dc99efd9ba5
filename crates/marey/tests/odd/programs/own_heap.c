/* A program that is its own allocator. It counts what it gives out and gets back: all of it must come to it. */
#include "odd.h"
#include <pthread.h>

static char memory[64 << 20] __attribute__((aligned(16)));
static size_t used;
static volatile unsigned given, back;

void *malloc(size_t size) {
    size_t at = __atomic_fetch_add(&used, (size + 47) / 16 * 16, __ATOMIC_SEQ_CST);
    if (at + size + 48 > sizeof memory) { errno = ENOMEM; return 0; }
    *(size_t *)(memory + at) = size;
    __atomic_fetch_add(&given, 1, __ATOMIC_SEQ_CST);
    return memory + at + 16;
}
void free(void *block) {
    if (!block) return;
    if ((char *)block < memory || (char *)block >= memory + sizeof memory) abort();
    __atomic_fetch_add(&back, 1, __ATOMIC_SEQ_CST);
}
void *calloc(size_t n, size_t size) { return malloc(n * size); }
void *realloc(void *block, size_t size) {
    char *at = malloc(size);
    if (at && block) {
        size_t old = *(size_t *)((char *)block - 16);
        memcpy(at, block, old < size ? old : size);
    }
    free(block);
    return at;
}
#if ODD_ALL
void *memalign(size_t align, size_t size) {
    uintptr_t at = (uintptr_t)malloc(size + align + 16);
    return (void *)((at + align - 1) / align * align);
}
int posix_memalign(void **to, size_t align, size_t size) { *to = memalign(align, size); return 0; }
void *aligned_alloc(size_t align, size_t size) { return memalign(align, size); }
#endif

static void *work(void *unused) {
    for (unsigned i = 0; i < 100; i++) {
        char *at = reallocarray(realloc(calloc(1, 5000 + i), 9000), 3, 4000);
        at[8999] = 1;
        free(at);
    }
    return unused;
}

int main(int count, char **words) {
    odd_seed(words[count - 1]);
    pthread_t threads[3];
    unsigned before = given, freed = back;
    work(0);
    printf("%u %u\n", given - before, back - freed);
    for (int i = 0; i < 3; i++) CHECK(!pthread_create(&threads[i], 0, work, 0));
    for (int i = 0; i < 3; i++) CHECK(!pthread_join(threads[i], 0));
    VISIT("main");
    return 7;
}
