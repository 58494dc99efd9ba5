/* Plays with its own address space, its words and its environment. */
#include "odd.h"
#include <pthread.h>
#include <sys/prctl.h>
extern char **environ;

static void *work(void *nothing) {
    VISITS("thread", 200);
    return nothing;
}
int main(int count, char **words) {
    char name[32];
    snprintf(name, sizeof name, "%s", words[1]);
    odd_seed(words[count - 1]);
    VISITS("main", odd_below(5000));
    if (IS("fixed")) {
        for (size_t i = 0; i < 200; i++) {
            size_t at = 0x10000000 + (size_t)odd_below(0x10000) * 0x100000;
            char *got = (char *)mmap((void *)at, 1 << 20, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
            VISITS("main", odd_below(100));
            if (got != MAP_FAILED) memset(got, 0xff, 1 << 20), munmap(got, 1 << 20);
        }
    } else if (IS("many")) {
        /* More mappings than the kernel allows: nobody gets another one. */
        static char *all[70000];
        size_t n = 0;
        for (; n < 70000; n++) {
            char *at = (char *)mmap(0, 4096, n % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (at == MAP_FAILED) break;
            all[n] = at;
        }
        CHECK(n > 60000);
        VISITS("main", 100000);
        while (n--) munmap(all[n], 4096);
        VISITS("main", 100000);
    } else if (IS("words")) {
        /* As servers do that show their state in ps. */
        char *end = words[count - 1] + strlen(words[count - 1]);
        memset(words[0], 'x', (size_t)(end - words[0]));
        prctl(PR_SET_NAME, "renamed", 0, 0, 0);
        VISITS("main", 100);
        pid_t child = fork();
        if (child == 0) {
            VISITS("child", 100);
            _exit(5);
        }
        CHECK(odd_wait(child) == 5);
    } else if (IS("environment")) {
        pthread_t thread;
        pid_t child;
        for (char **word = environ; *word; word++) memset(*word, 'y', strlen(*word));
        clearenv();
        VISITS("main", 1000);
        CHECK(!pthread_create(&thread, 0, work, 0) && !pthread_join(thread, 0));
        if ((child = fork()) == 0) {
            VISITS("child", 1000);
            exit(5);
        }
        CHECK(odd_wait(child) == 5);
        environ = 0;
        CHECK(system("exit 3") == 3 << 8);
        VISITS("main", 1000);
    } else if (IS("noenvironment")) {
        /* Its names point nowhere at all while it goes on. */
        environ = 0;
        VISITS("main", 1000);
    } else if (IS("locked")) {
        (void)!mlockall(MCL_CURRENT | MCL_FUTURE);
        VISITS("main", 100000);
    } else if (IS("nodump")) {
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
        pid_t child = fork();
        if (child == 0) {
            VISITS("child", 1000);
            exit(5);
        }
        CHECK(odd_wait(child) == 5);
    }
    printf("%s done\n", name);
    return 110;
}
