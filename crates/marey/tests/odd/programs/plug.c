/* A library that makes visits when it is loaded, called and unloaded. Built twice, with other names. */
#include "odd.h"
#include <pthread.h>

__attribute__((constructor)) static void loaded(void) { VISIT(PLUG "loads"); }
__attribute__((destructor)) static void unloaded(void) { VISIT(PLUG "ends"); }
static void *aside(void *nothing) {
    VISIT(PLUG "aside");
    return nothing;
}
void *plug_block(size_t size) {
    char *block = malloc(size);
    block[size - 1] = 1;
    return block;
}
void plug_work(unsigned times) {
    pthread_t thread;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    VISITS(PLUG "works", times);
    pthread_mutex_lock(&lock), pthread_mutex_unlock(&lock);
    CHECK(!pthread_create(&thread, 0, aside, 0) && !pthread_join(thread, 0));
}
