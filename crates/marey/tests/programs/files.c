/* Calls on files of every kind. What is printed are results and `errno`, which must be the same with a recorder. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int out;
static void say(const char *what, long result) {
    char line[100];
    int len = snprintf(line, sizeof line, "%s %ld %d\n", what, result, result < 0 ? errno : 0);
    if (write(out, line, (size_t)len) != len) abort();
    if (write(1, line, (size_t)len) != len) abort();
}
#define SAY(call) say(#call, (long)(call))

static char bytes[100000];

static void plain(void) {
    struct iovec parts[2] = {{bytes, 100}, {bytes + 500, 200}};
    int fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < 20; i++) SAY(write(fd, bytes, 1000 + (size_t)i));
    SAY(writev(fd, parts, 2));
    SAY(pwrite(fd, bytes, 300, 70000));
    SAY(pwritev(fd, parts, 2, 50000));
    SAY(pwritev2(fd, parts, 2, -1, 0));
    SAY(lseek(fd, 100, SEEK_SET));
    SAY(read(fd, bytes, 50));
    SAY(readv(fd, parts, 2));
    SAY(pread(fd, bytes, 99, 3));
    SAY(preadv(fd, parts, 2, 7));
    SAY(preadv2(fd, parts, 2, -1, 0));
    SAY(lseek(fd, -10, SEEK_END));
    /* Less than asked for, and nothing at all. */
    SAY(read(fd, bytes, 5000));
    SAY(read(fd, bytes, 5000));
    SAY(pread(fd, bytes, 1, 1000000));
    SAY(fsync(fd));
    SAY(fdatasync(fd));
    SAY(sync_file_range(fd, 0, 100, SYNC_FILE_RANGE_WRITE));
    SAY(ftruncate(fd, 30000));
    SAY(posix_fallocate(fd, 0, 40000));
    SAY(fallocate(fd, 0, 0, 45000));
    SAY(lseek(fd, 0, SEEK_CUR));
    SAY(close(fd));
    SAY(read(fd, bytes, 10));
    SAY(close(fd));
}
static void failing(void) {
    SAY(open("missing", O_RDONLY));
    SAY(open((const char *)8, O_RDONLY));
    int fd = open("data", O_RDONLY);
    SAY(write(fd, bytes, 77));
    SAY(pwrite(fd, bytes, 77, 0));
    SAY(pread(fd, bytes, 77, -5));
    SAY(read(fd, (void *)8, 77));
    SAY(lseek(fd, -1, SEEK_SET));
    SAY(read(fd, bytes, 5));
    SAY(close(fd));
    SAY(write(-1, bytes, 5));
    SAY(read(1000000, bytes, 5));
}
static void copies(void) {
    int a = open("first", O_RDWR | O_CREAT | O_TRUNC, 0600), b = creat("second", 0600);
    SAY(write(a, bytes, 11));
    SAY(write(b, bytes, 22));
    int c = dup(a);
    SAY(write(c, bytes, 33));
    SAY(write(a, bytes, 44));
    SAY(dup2(a, b));
    SAY(write(b, bytes, 55));
    SAY(dup3(c, 100, O_CLOEXEC));
    SAY(write(100, bytes, 66));
    int d = fcntl(b, F_DUPFD, 200);
    SAY(write(d, bytes, 77));
    SAY(close(a));
    int e = open("third", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    SAY(e == a);
    SAY(write(e, bytes, 88));
    SAY(write(d, bytes, 99));
    SAY(fcntl(d, F_GETFL) & O_ACCMODE);
    close(b), close(c), close(d), close(e), close(100);
    int from = open("first", O_RDONLY), to = open("fourth", O_RDWR | O_CREAT | O_TRUNC, 0600);
    SAY(read(from, bytes, 10));
    SAY(sendfile(to, from, NULL, 100));
    SAY(read(from, bytes, 10));
    SAY(copy_file_range(from, NULL, to, NULL, 1000, 0));
    int ends[2];
    SAY(pipe(ends));
    SAY(write(ends[1], bytes, 500));
    SAY(splice(ends[0], NULL, to, NULL, 300, 0));
    SAY(splice(from, &(off_t){ 0 }, ends[1], NULL, 40, 0));
    close(ends[0]), close(ends[1]);
    SAY(write(to, bytes, 1));
    close(from), close(to);
}
static void places(void) {
    int fd = open("appended", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    int other = open("appended", O_WRONLY | O_APPEND);
    SAY(write(fd, bytes, 10));
    SAY(write(other, bytes, 20));
    SAY(write(fd, bytes, 30));
    close(fd), close(other);
    fd = open("shared", O_RDWR | O_CREAT | O_TRUNC, 0600);
    SAY(write(fd, bytes, 100));
    SAY(lseek(fd, 0, SEEK_SET));
    SAY(read(fd, bytes, 5));
    pid_t child = fork();
    if (child == 0) _exit(read(fd, bytes, 10) != 10);
    int status = 1;
    waitpid(child, &status, 0);
    SAY(status);
    SAY(read(fd, bytes, 20));
    close(fd);
    SAY(mkdir("below", 0700));
    SAY(chdir("below"));
    int dir = open("..", O_RDONLY | O_DIRECTORY);
    fd = open("./inner//../own", O_WRONLY | O_CREAT, 0600);
    SAY(fd);
    fd = open(".//own", O_WRONLY | O_CREAT, 0600);
    SAY(write(fd, bytes, 9));
    close(fd);
    fd = openat(dir, "beside", O_WRONLY | O_CREAT, 0600);
    SAY(write(fd, bytes, 8));
    close(fd), close(dir);
    SAY(chdir(".."));
}
static int streams(void) {
    char line[1000], word[100];
    FILE *file = fopen("lines", "w");
    for (int i = 0; i < 3000; i++) {
        fprintf(file, "%d %s %f %f %f %f %f %f %f %f %f %d %d\n", i, "word", 1., 2., 3., 4., 5., 6., 7., 8., 9., i, i);
        fputs("another line\n", file);
    }
    fwrite(bytes, 8, 1000, file);
    fflush(file);
    dprintf(fileno(file), "directly %d\n", 5);
    fclose(file);
    file = fopen("lines", "r");
    while (fgets(line, sizeof line, file) && line[0]) {}
    fclose(file);
    file = fopen("numbers", "w");
    for (int i = 0; i < 5000; i++) fprintf(file, "%d ", i);
    file = freopen("block", "w", file);
    fwrite(bytes, 1, 30000, file);
    fclose(file);
    file = fopen("numbers", "r");
    long sum = 0;
    for (int number; fscanf(file, "%d", &number) == 1;) sum += number;
    fclose(file);
    file = fopen("block", "r");
    size_t got = 0, now;
    while ((now = fread(bytes, 1, 777, file))) got += now;
    fclose(file);
    int fd = open("wrapped", O_RDWR | O_CREAT | O_TRUNC, 0600);
    file = fdopen(fd, "w+");
    fprintf(file, "one two\nthree\n");
    rewind(file);
    char *text = NULL;
    size_t room = 0;
    ssize_t first = getline(&text, &room, file);
    if (fscanf(file, "%99s ", word) != 1) abort();
    fclose(file);
    free(text);
    printf("%ld %zu %zd %s\n", sum, got, first, word);
    return 0;
}
static int numbers;
static void *reads(void *nothing) {
    char piece[16];
    for (int i = 0; i < 1024; i++) {
        if (read(numbers, piece, 16) != 16) abort();
    }
    return nothing;
}
static int threads(void) {
    numbers = open("numbers", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (write(numbers, bytes, 65536) != 65536) abort();
    lseek(numbers, 0, SEEK_SET);
    pthread_t all[4];
    for (int i = 0; i < 4; i++) pthread_create(&all[i], NULL, reads, NULL);
    for (int i = 0; i < 4; i++) pthread_join(all[i], NULL);
    return close(numbers);
}
static int calls(void) {
    out = open("printed", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    plain();
    failing();
    copies();
    places();
    return close(out);
}
static int second = -1;
static void closes(int signal) { (void)signal, close(second); }

/* Descriptors whose numbers come to stand for something else where it is hard to see. */
static int renumbered(void) {
    int directory = open(".", O_RDONLY | O_DIRECTORY), ends[2];
    DIR *list = fdopendir(directory);
    if (!list || closedir(list) || pipe(ends) || ends[0] != directory) return 1;
    if (write(ends[1], bytes, 7) != 7 || read(ends[0], bytes, 7) != 7) return 2;
    close(ends[0]), close(ends[1]);
    /* A handler closes a file, over and over while files are read; another one gets its number. */
    signal(SIGALRM, closes);
    struct itimerval every = {{0, 100}, {0, 100}};
    int busy = open("busy", O_RDWR | O_CREAT, 0600);
    for (int i = 0; i < 1000; i++) {
        second = open("old", O_RDWR | O_CREAT, 0600);
        int number = second;
        setitimer(ITIMER_REAL, &every, 0);
        while (fcntl(number, F_GETFD) != -1)
            if (pread(busy, bytes, 1, 0) < 0) return 3;
        memset(&every, 0, sizeof every), setitimer(ITIMER_REAL, &every, 0);
        every.it_value.tv_usec = every.it_interval.tv_usec = 100;
        second = -1;
        if (pipe(ends) || ends[0] != number || write(ends[1], bytes, 3) != 3 || read(ends[0], bytes, 3) != 3) return 4;
        close(ends[0]), close(ends[1]);
    }
    return 0;
}

int main(int count, char **words) {
    memset(bytes, 'x', sizeof bytes);
    const char *word = count > 1 ? words[1] : "";
    if (!strcmp(word, "calls")) return calls();
    if (!strcmp(word, "streams")) return streams();
    if (!strcmp(word, "renumbered")) return renumbered();
    return threads();
}
