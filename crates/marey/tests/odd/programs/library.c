/* Loads and unloads measured code. Words: CASE PLUG OTHER SEED. */
#include "odd.h"
#include <pthread.h>

static void use(const char *path, unsigned times) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(library);
    void (*work)(unsigned) = (void (*)(unsigned))dlsym(library, "plug_work");
    CHECK(work);
    work(times);
    CHECK(!dlclose(library));
}
static void *threaded(void *words) {
    for (int i = 0; i < 30; i++) use(((char **)words)[2 + i % 2], 10);
    return 0;
}
int main(int count, char **words) {
    pthread_t threads[3];
    odd_seed(words[count - 1]);
    VISIT("main");
    if (IS("again")) for (int i = 0; i < 100; i++) use(words[2], 1 + odd_below(20));
    if (IS("other")) for (int i = 0; i < 100; i++) use(words[2 + i % 2], 1 + odd_below(20));
    if (IS("threads")) {
        for (int i = 0; i < 3; i++) CHECK(!pthread_create(&threads[i], 0, threaded, words));
        for (int i = 0; i < 3; i++) CHECK(!pthread_join(threads[i], 0));
    }
    if (IS("fork")) {
        void *library = dlopen(words[2], RTLD_NOW);
        ((void (*)(unsigned))dlsym(library, "plug_work"))(5);
        pid_t child = fork();
        if (child == 0) {
            ((void (*)(unsigned))dlsym(library, "plug_work"))(7);
            dlclose(library);
            use(words[3], 9);
            exit(3);
        }
        dlclose(library);
        CHECK(odd_wait(child) == 3);
        use(words[3], 9);
    }
    printf("%s done\n", words[1]);
    return 50;
}
