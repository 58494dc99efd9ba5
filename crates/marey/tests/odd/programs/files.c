/* Whatever a program may do with descriptors, streams and names of files. What is printed are results, `errno` and
 * what files hold, none of which a recorder may change. */
#include "odd.h"
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>

static char block[4096];

static int make(const char *name, int flags) { return open(name, O_CREAT | flags, 0600); }

/* Closes all there is, again and again, and goes on with numbers that others had. */
static void closes(void) {
    for (unsigned i = 0, n = 3 + odd_below(10); i < n; i++) {
        int fd = make("one", O_RDWR | O_TRUNC), other = make("two", O_RDWR | O_TRUNC);
        CHECK(write(fd, "abc", 3) == 3 && write(other, "d", 1) == 1);
        switch (odd_below(5)) {
        case 0: closefrom(3); break;
        case 1: CHECK(!close_range(3, ~0u, 0)); break;
        case 2: CHECK(!syscall(SYS_close_range, 3, ~0u, 0)); break;
        case 3:
            for (int fd = 3; fd < 256; fd++) syscall(SYS_close, fd);
            break;
        default:
            for (int fd = 3; fd < 256; fd++) close(fd);
        }
        errno = 0;
        CHECK(write(fd, "x", 1) == -1 && errno == EBADF);
        int ends[2];
        CHECK(!pipe(ends));
        CHECK(write(ends[1], "hello", 5) == 5 && read(ends[0], block, 100) == 5);
        CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
        CHECK(write(ends[1], "socket", 6) == 6 && read(ends[0], block, 100) == 6);
        VISIT("closed");
    }
    struct stat status;
    CHECK(!stat("one", &status));
    printf("%ld\n", (long)status.st_size);
}
/* One descriptor over another, also standard output, and back. */
static void duplicates(void) {
    fflush(stdout);
    int kept = dup(1);
    for (unsigned i = 0, n = 1 + odd_below(50); i < n; i++) {
        int fd = make("printed", O_WRONLY | O_APPEND);
        CHECK(dup2(fd, 1) == 1);
        printf("line %u\n", i);
        fflush(stdout);
        CHECK(dup2(kept, 1) == 1 && dup2(1, 1) == 1 && dup3(fd, 77, 0) == 77);
        errno = 0;
        CHECK(dup3(fd, fd, 0) == -1 && errno == EINVAL);
        CHECK(write(77, "77\n", 3) == 3 && !close(77) && !close(fd) && close(fd) == -1);
        VISIT("again");
    }
    struct stat status;
    CHECK(!stat("printed", &status));
    printf("%ld\n", (long)status.st_size);
}
/* Parent and child read on where the other one stopped. */
static void shares(void) {
    int fd = make("shared", O_RDWR | O_TRUNC);
    for (int i = 0; i < 100; i++) CHECK(write(fd, "0123456789", 10) == 10);
    CHECK(lseek(fd, 0, SEEK_SET) == 0);
    unsigned sum = 0;
    for (unsigned i = 0; i < 20; i++) {
        CHECK(read(fd, block, 1 + odd_below(20)) > 0);
        sum += (unsigned char)block[0];
        pid_t child = odd_below(2) ? fork() : (pid_t)syscall(SYS_fork);
        if (child == 0) {
            int got = read(fd, block, 10) == 10;
            FILE *stream = fopen("child", "a");
            fprintf(stream, "%d\n", got);
            fclose(stream);
            VISIT("child");
            _exit(got ? 0 : 1);
        }
        CHECK(odd_wait(child) == 0);
    }
    printf("%u %ld\n", sum, (long)lseek(fd, 0, SEEK_CUR));
}
static int numbers;
static void *reads(void *sum) {
    int number;
    while (read(numbers, &number, sizeof number) == sizeof number) *(long *)sum += number;
    return sum;
}
static void threads(void) {
    numbers = make("numbers", O_RDWR | O_TRUNC);
    for (int i = 0; i < 2000; i++) CHECK(write(numbers, &i, sizeof i) == sizeof i);
    CHECK(lseek(numbers, 0, SEEK_SET) == 0);
    pthread_t all[4];
    long sums[4] = {0, 0, 0, 0};
    for (int i = 0; i < 4; i++) CHECK(!pthread_create(&all[i], 0, reads, &sums[i]));
    for (int i = 0; i < 4; i++) CHECK(!pthread_join(all[i], 0));
    printf("%ld\n", sums[0] + sums[1] + sums[2] + sums[3]);
}
/* Threads that are cancelled while they wait for a pipe, in `read` and in what is made of it. */
static int ends[2];
static volatile int cleaned, waiting;
static void cleans(void *fd) {
    cleaned++;
    CHECK(write(*(int *)fd, "bye\n", 4) == 4);
}
static void *waits(void *how) {
    int fd = make("cleaned", O_WRONLY | O_APPEND);
    pthread_cleanup_push(cleans, &fd);
    struct iovec part = {block, 10};
    VISIT("waits");
    waiting = 1;
    switch ((int)(long)how) {
    case 0: read(ends[0], block, 10); break;
    case 1: readv(ends[0], &part, 1); break;
    case 2: fgets(block, 10, fdopen(dup(ends[0]), "r")); break;
    case 3: open("fifo", O_RDONLY); break;
    default: fscanf(fdopen(dup(ends[0]), "r"), "%9s", block);
    }
    pthread_cleanup_pop(0);
    return 0;
}
static void cancels(void) {
    CHECK(!pipe(ends) && !mkfifo("fifo", 0600));
    for (long how = 0; how < 5; how++) {
        pthread_t thread;
        void *result;
        waiting = 0;
        CHECK(!pthread_create(&thread, 0, waits, (void *)how));
        while (!waiting) usleep(100);
        usleep(odd_below(3000));
        CHECK(!pthread_cancel(thread));
        CHECK(!pthread_join(thread, &result) && result == PTHREAD_CANCELED);
        VISIT("joined");
    }
    struct stat status;
    printf("%d %d\n", cleaned, stat("cleaned", &status) ? 0 : (int)status.st_size == 4 * cleaned);
}
/* Handlers that write and open, amid calls of the same kind. */
static volatile sig_atomic_t rung;
static int rings;
static void on_ring(int number) {
    (void)number;
    int error = errno;
    int fd = open("handled", O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (write(fd, "!", 1) != 1) abort();
    if (pread(rings, block, 10, 0) < 0) abort();
    close(fd);
    rung++;
    errno = error;
}
static void handlers(void) {
    static char stack[1 << 16];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = on_ring, .sa_flags = SA_RESTART | (odd_below(2) ? SA_ONSTACK : 0)};
    CHECK(!sigaltstack(&alternate, 0) && !sigaction(SIGALRM, &action, 0));
    rings = make("rings", O_RDWR | O_TRUNC);
    struct itimerval often = {{0, 100 + odd_below(200)}, {0, 100}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, 0);
    long written = 0;
    while (rung < 200) {
        written += write(rings, "ring", 4);
        CHECK(lseek(rings, 0, SEEK_END) == written);
        FILE *stream = fopen("rings", "r");
        CHECK(stream && fread(block, 1, 4, stream) == 4 && !fclose(stream));
        free(malloc(odd_below(5000)));
        VISIT("rings");
    }
    setitimer(ITIMER_REAL, &never, 0);
    struct stat status;
    CHECK(!stat("handled", &status) && status.st_size == rung);
    CHECK(!stat("rings", &status) && status.st_size == written);
    printf("done\n");
}
/* Reads that are interrupted, and read that a handler jumps out of. */
static sigjmp_buf back;
static volatile int jumps;
static void jump(int number) {
    (void)number;
    if (jumps) siglongjmp(back, 1);
}
static void interrupted(void) {
    struct sigaction action = {.sa_handler = jump};
    CHECK(!pipe(ends) && !sigaction(SIGALRM, &action, 0) && !mkfifo("fifo", 0600));
    struct itimerval soon = {{0, 0}, {0, 2000}};
    for (unsigned i = 0; i < 5 + odd_below(10); i++) {
        jumps = 0;
        setitimer(ITIMER_REAL, &soon, 0);
        errno = 0;
        CHECK(read(ends[0], block, 1) == -1 && errno == EINTR);
        setitimer(ITIMER_REAL, &soon, 0);
        errno = 0;
        CHECK(open("fifo", O_RDONLY) == -1 && errno == EINTR);
        jumps = 1;
        if (!sigsetjmp(back, 1)) {
            setitimer(ITIMER_REAL, &soon, 0);
            if (i % 2) read(ends[0], block, 1); else open("fifo", O_RDONLY);
            CHECK(0);
        }
        CHECK(write(ends[1], "x", 1) == 1 && read(ends[0], block, 1) == 1);
        VISIT("back");
    }
    printf("done\n");
}
/* Descriptors and names that are hardly any. */
static void odd(void) {
    int path = open(".", O_PATH | O_DIRECTORY);
    errno = 0;
    CHECK(read(path, block, 1) == -1 && errno == EBADF);
    int fd = openat(path, "beside", O_CREAT | O_RDWR, 0600);
    CHECK(fd >= 0 && write(fd, "x", 1) == 1 && !unlink("beside") && write(fd, "y", 1) == 1 && !close(fd));
    CHECK(open(0, O_RDONLY) == -1 && errno == EFAULT);
    CHECK(open("", O_RDONLY) == -1 && errno == ENOENT);
    char *longest = malloc(PATH_MAX + 100);
    memset(longest, 'n', PATH_MAX + 99), longest[PATH_MAX + 99] = 0;
    CHECK(open(longest, O_RDONLY) == -1 && errno == ENAMETOOLONG);
    CHECK(read(-1, block, 1) == -1 && errno == EBADF && read(INT_MAX, block, 1) == -1 && errno == EBADF);
    CHECK(write(1000000, block, 1) == -1 && errno == EBADF);
    CHECK(!fopen("none", "r") && errno == ENOENT && !fopen("none", "?") && errno == EINVAL);
    for (const char *const *name = (const char *const[]){"/proc/self/maps", "/proc/self/stat", "/dev/zero", 0}; *name;
         name++) {
        fd = open(*name, O_RDONLY);
        CHECK(fd >= 0 && read(fd, block, sizeof block) > 0 && !close(fd));
    }
    FILE *full = fopen("/dev/full", "w");
    CHECK(full && fputs("no room", full) >= 0 && fflush(full) == EOF && errno == ENOSPC);
    fclose(full);
    CHECK(!mkdir("below", 0700) && !chdir("below"));
    fd = make("../up", O_WRONLY);
    CHECK(write(fd, "up", 2) == 2 && !close(fd) && !chdir("..") && !access("up", R_OK));
    CHECK(!mkdir("gone", 0700) && !chdir("gone") && !rmdir("../gone"));
    CHECK(open("here", O_CREAT | O_WRONLY, 0600) == -1 && errno == ENOENT && !chdir(".."));
    char name[] = "madeXXXXXX";
    fd = mkstemp(name);
    CHECK(fd >= 0 && write(fd, "m", 1) == 1 && !close(fd));
    FILE *stream = tmpfile();
    CHECK(stream && fputs("t", stream) >= 0 && !fclose(stream));
    stream = popen("cat > piped", "w");
    CHECK(stream && fprintf(stream, "%s %.2f %d\n", "text", 2.5, 7) == 12 && !pclose(stream));
    CHECK(!system("cat piped >> printed"));
    stream = fopen("printed", "r");
    float real = 0;
    int number = 0;
    CHECK(fscanf(stream, "%99s %f %d", block, &real, &number) == 3 && !fclose(stream));
    printf("%s %g %d %g %g %g %g %g %g %g %g %g %s\n", block, real, number, 1., 2., 3., 4., 5., 6., 7., 8., 9., "end");
    DIR *list = opendir(".");
    fd = openat(dirfd(list), "piped", O_RDONLY);
    CHECK(read(fd, block, 4) == 4 && !closedir(list));
    CHECK(!pipe(ends) && write(ends[1], "abc", 3) == 3 && read(ends[0], block, 3) == 3);
    VISIT("odd");
}
/* More files than anybody has names for, and more open ones than usual. */
static void many(void) {
    struct rlimit limit;
    CHECK(!getrlimit(RLIMIT_NOFILE, &limit));
    limit.rlim_cur = limit.rlim_max < 3000 ? limit.rlim_max : 3000;
    CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
    long sum = 0;
    int last = 0;
    CHECK(!mkdir("many", 0700));
    for (unsigned i = 0; i < 2500; i++) {
        char name[40];
        snprintf(name, sizeof name, "many/file-%u", i);
        int fd = make(name, O_RDWR);
        if (fd < 0) break;
        sum += write(fd, block, 10 + i % 7);
        last = fd;
        if (i % 5 == 0) VISIT("many");
    }
    for (int fd = 3; fd <= last; fd++) close(fd);
    printf("%ld\n", sum);
}
/* Looks into a file, wherever it comes: also where the loader has unmapped a library and not forgotten it yet. */
static void looks(int number) {
    (void)number;
    int before = errno, fd = open("/dev/null", O_RDONLY);
    char byte;
    if (fd >= 0) read(fd, &byte, 1), close(fd);
    errno = before;
}
static void unloads(const char *plug, const char *other) {
    struct sigaction action = {.sa_handler = looks, .sa_flags = SA_RESTART};
    CHECK(!sigaction(SIGALRM, &action, 0));
    unsigned each = 40 + odd_below(60);
    struct itimerval timer = {{0, each}, {0, each}}, none = {{0, 0}, {0, 0}};
    for (int i = 0; i < 1000; i++) {
        CHECK(!setitimer(ITIMER_REAL, &timer, 0));
        void *library = dlopen(i % 2 ? plug : other, RTLD_NOW);
        CHECK(library);
        dlclose(library);
        CHECK(!setitimer(ITIMER_REAL, &none, 0));
    }
    VISIT("closed");
}
int main(int count, char **words) {
    odd_seed(words[count - 1]);
    memset(block, 'b', sizeof block);
    VISITS("main", odd_below(10));
    if (IS("closes")) closes();
    if (IS("duplicates")) duplicates();
    if (IS("shares")) shares();
    if (IS("threads")) threads();
    if (IS("cancels")) cancels();
    if (IS("handlers")) handlers();
    if (IS("interrupted")) interrupted();
    if (IS("odd")) odd();
    if (IS("many")) many();
    if (IS("unloads")) unloads(words[2], words[3]);
    VISIT("main");
    return 7;
}
