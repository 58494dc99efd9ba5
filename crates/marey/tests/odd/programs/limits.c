/* Limits of all kinds: from the start of an image, or midway. Words: CASE WHEN SEED; with WHEN "start" the
 * program sets its limit, then goes on as itself. */
#include "odd.h"
#include <dirent.h>
#include <pthread.h>
#include <sys/resource.h>

static void limit(int which, rlim_t value) {
    struct rlimit now;
    getrlimit(which, &now);
    if (now.rlim_max != RLIM_INFINITY && value > now.rlim_max) value = now.rlim_max;
    now.rlim_cur = value;
    CHECK(!setrlimit(which, &now));
}
static void *work(void *nothing) {
    VISITS("thread", 300);
    return nothing;
}
static unsigned long mapped_kib(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    return pages * 4;
}
int main(int count, char **words) {
    odd_seed(words[count - 1]);
    odd_truth();
    int is_start = strcmp(words[2], "start") == 0, is_again = strcmp(words[2], "again") == 0;
    pthread_t thread;
    pid_t child;
    char *line[] = {words[0], words[1], (char *)"again", words[3], 0};
    if (!is_start) VISITS("main", odd_below(20) * odd_below(1000));
    if (!is_again) {
        if (IS("files")) limit(RLIMIT_NOFILE, 3 + odd_below(4));
        if (IS("memory")) limit(RLIMIT_AS, ((is_start ? 0 : mapped_kib()) + (is_start ? 12000 : 100) + odd_below(30000)) << 10);
        if (IS("data")) limit(RLIMIT_DATA, (1500 + odd_below(8000)) << 10);
        if (IS("processes")) limit(RLIMIT_NPROC, 0);
        if (IS("stack")) limit(RLIMIT_STACK, (64 + odd_below(200)) << 10);
        if (IS("core")) limit(RLIMIT_CORE, 0);
        if (IS("size")) signal(SIGXFSZ, SIG_DFL), limit(RLIMIT_FSIZE, odd_below(300) << 10);
        if (IS("nosize")) limit(RLIMIT_FSIZE, 0);
        if (IS("locked")) limit(RLIMIT_MEMLOCK, 0);
        if (IS("closed")) close(0), close(1), close(2);
        if (is_start) {
            execv(words[0], line);
            return 96;
        }
    }
    if (IS("full")) {
        while (dup(0) >= 0) continue;
        CHECK(errno == EMFILE);
    }
    VISITS("main", 1000 + odd_below(30000));
    if (!IS("memory") && !IS("data")) {
        CHECK(!pthread_create(&thread, 0, work, 0) && !pthread_join(thread, 0));
        child = fork();
        if (child == 0) {
            VISITS("child", 50 + odd_below(3000));
            _exit(9);
        }
        CHECK(odd_wait(child) == 9);
    }
    if (IS("closed")) {
        /* What the program opens has the lowest number, as it would alone. */
        int file = open("/dev/null", O_RDWR);
        VISITS("main", 5000);
        CHECK(file <= 2 && open("/dev/null", O_RDWR) == file + 1);
        return 91;
    }
    if (!IS("size") && !IS("nosize")) printf("%s done\n", words[1]), fflush(stdout);
    return 90;
}
