/* Waits in each call that can, and says how often, how long at least, and how long by its own clock, which is read
 * around each call: a line for each, `CALL CALLS LEAST_NS OWN_NS`. The function that calls CALL is `in_CALL`. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define CHECK(...)                                                                   \
    do {                                                                             \
        if (!(__VA_ARGS__)) printf("%d: %s (%d)\n", __LINE__, #__VA_ARGS__, errno), fflush(stdout), _exit(99); \
    } while (0)
#define MS 1000000L

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}
static struct truth {
    const char *name;
    long calls, least, own;
} truths[64];
static void took(const char *name, long least, long own) {
    struct truth *truth = truths;
    while (truth->name && strcmp(truth->name, name)) truth++;
    truth->name = name, truth->calls++, truth->least += least, truth->own += own;
}
/* A function that makes one call and expects a result of it. */
#define IN(name, parameters, call, expected)                                      \
    static __attribute__((noinline)) void in_##name parameters {                  \
        errno = 0;                                                                \
        long began = now(), result = (long)(call);                                \
        long ended = now();                                                       \
        CHECK((void)result, expected);                                                    \
        took(#name, least, ended - began);                                        \
    }

static struct timespec ms(long n) { return (struct timespec){n / 1000, n % 1000 * MS}; }
static struct timespec in_ms(long n) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    long ns = time.tv_nsec + n * MS;
    return (struct timespec){time.tv_sec + ns / 1000000000L, ns % 1000000000L};
}

IN(nanosleep, (long least), nanosleep(&(struct timespec){0, least}, 0), result == 0)
IN(clock_nanosleep, (long least), clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, least}, 0), result == 0)
IN(usleep, (long least), usleep((unsigned)(least / 1000)), result == 0)
IN(sleep, (long least), sleep((unsigned)(least / 1000000000L)), result == 0)
IN(thrd_sleep, (long least), thrd_sleep(&(struct timespec){0, least}, 0), result == 0)
IN(poll, (long least, int fd, int n), poll(&(struct pollfd){fd, POLLIN, 0}, 1, (int)(least / MS)), result == n)
IN(ppoll, (long least, int fd), ppoll(&(struct pollfd){fd, POLLIN, 0}, 1, &(struct timespec){0, least}, 0), result == 0)
IN(select, (long least), select(0, 0, 0, 0, &(struct timeval){0, least / 1000}), result == 0)
IN(pselect, (long least), pselect(0, 0, 0, 0, &(struct timespec){0, least}, 0), result == 0)
IN(epoll_wait, (long least, int fd), epoll_wait(fd, &(struct epoll_event){0}, 1, (int)(least / MS)), result == 0)
IN(epoll_pwait, (long least, int fd), epoll_pwait(fd, &(struct epoll_event){0}, 1, (int)(least / MS), 0), result == 0)
IN(wait, (long least, pid_t child), wait(0), result == child)
IN(waitpid, (long least, pid_t child, int options, long expect), waitpid(child, 0, options), result == expect)
IN(wait3, (long least, pid_t child), wait3(0, 0, 0), result == child)
IN(wait4, (long least, pid_t child), wait4(child, 0, 0, 0), result == child)
IN(waitid, (long least, pid_t child), waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED), result == 0)
IN(system, (long least, const char *line), system(line), WEXITSTATUS(result) == 3)
IN(pclose, (long least, FILE *stream), pclose(stream), WEXITSTATUS(result) == 4)
IN(connect, (long least, int fd, struct sockaddr_un *at), connect(fd, (struct sockaddr *)at, sizeof *at), result == 0)
IN(accept, (long least, int fd), accept(fd, 0, 0), result >= 0)
IN(accept4, (long least, int fd), accept4(fd, 0, 0, SOCK_CLOEXEC), result >= 0)
IN(recv, (long least, int fd, int flags, long expect), recv(fd, (char[8]){0}, 8, flags), result == expect)
IN(recvfrom, (long least, int fd), recvfrom(fd, (char[8]){0}, 8, 0, 0, 0), result == 1)
IN(recvmsg, (long least, int fd, struct msghdr *to), recvmsg(fd, to, 0), result == 1)
IN(recvmmsg, (long least, int fd, struct mmsghdr *to), recvmmsg(fd, to, 1, 0, 0), result == 1)
IN(send, (long least, int fd), send(fd, "s", 1, 0), result == 1)
IN(sendto, (long least, int fd), sendto(fd, "t", 1, 0, 0, 0), result == 1)
IN(sendmsg, (long least, int fd, struct msghdr *of), sendmsg(fd, of, 0), result == 1)
IN(sendmmsg, (long least, int fd, struct mmsghdr *of), sendmmsg(fd, of, 1, 0), result == 1)
IN(pause, (long least), pause(), result == -1 && errno == EINTR)
IN(sigsuspend, (long least, sigset_t *set), sigsuspend(set), result == -1 && errno == EINTR)
IN(sigwait, (long least, sigset_t *set), sigwait(set, &(int){0}), result == 0)
IN(sigwaitinfo, (long least, sigset_t *set), sigwaitinfo(set, 0), result == SIGUSR1)
IN(sigtimedwait, (long least, sigset_t *set), sigtimedwait(set, 0, &(struct timespec){0, least}), errno == EAGAIN)
IN(flock, (long least, int fd, int how), flock(fd, how), result == 0)
IN(lockf, (long least, int fd, int how), lockf(fd, how, 0), result == 0)
IN(msgsnd, (long least, int queue, void *message), msgsnd(queue, message, 1, 0), result == 0)
IN(msgrcv, (long least, int queue, void *message), msgrcv(queue, message, 1, 0, 0), result == 1)
IN(semop, (long least, int set, int by), semop(set, &(struct sembuf){0, (short)by, 0}, 1), result == 0)
IN(semtimedop, (long least, int set), semtimedop(set, &(struct sembuf){0, -1, 0}, 1, &(struct timespec){0, least}), errno == EAGAIN)
IN(mq_send, (long least, mqd_t queue), mq_send(queue, "m", 1, 0), result == 0)
IN(mq_timedsend, (long least, mqd_t queue, struct timespec *until), mq_timedsend(queue, "m", 1, 0, until), errno == ETIMEDOUT)
IN(mq_receive, (long least, mqd_t queue), mq_receive(queue, (char[1]){0}, 1, 0), result == 1)
IN(mq_timedreceive, (long least, mqd_t queue, struct timespec *until), mq_timedreceive(queue, (char[1]){0}, 1, 0, until), errno == ETIMEDOUT)
IN(getaddrinfo, (long least, const char *name, struct addrinfo **found), getaddrinfo(name, 0, 0, found), result == 0)

static void ignores(int number) { (void)number; }

/* Children, and what waits for them beside what is timed, use bare calls. */
static pid_t child(long after_ms, void (*does)(int), int with) {
    pid_t child = fork();
    if (child == 0) {
        struct timespec time = ms(after_ms);
        while (syscall(SYS_nanosleep, &time, &time)) continue;
        if (does) does(with);
        _exit(0);
    }
    CHECK(child > 0);
    return child;
}
static void reap(pid_t child) {
    siginfo_t how;
    CHECK(syscall(SYS_waitid, P_PID, child, &how, WEXITED, 0) == 0);
}
static void signals(int number) { kill(getppid(), number); }
static void sends(int fd) { CHECK(write(fd, "x", 1) == 1); }
static void awaits_word(int fd) {
    char byte;
    CHECK(read(fd, &byte, 1) == 1);
    struct timespec time = ms(20);
    syscall(SYS_nanosleep, &time, 0);
}
static void connects(int unused) {
    (void)unused;
    struct sockaddr_un at = {AF_UNIX, "socket"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(syscall(SYS_connect, fd, &at, sizeof at) == 0);
}

static void sleeps(void) {
    for (int i = 0; i < 3; i++) in_nanosleep(20 * MS);
    in_clock_nanosleep(15 * MS);
    for (int i = 0; i < 5; i++) in_usleep(4 * MS);
    in_sleep(1000 * MS);
    in_thrd_sleep(10 * MS);
}
static void polls(void) {
    int ends[2], epoll = epoll_create1(0);
    CHECK(!pipe(ends) && epoll >= 0);
    for (int i = 0; i < 1000; i++) in_poll(0, ends[0], 0);
    in_poll(25 * MS, ends[0], 0);
    pid_t writes = child(10, sends, ends[1]);
    for (int there = 0; !there; sched_yield()) ioctl(ends[0], FIONREAD, &there);
    in_poll(0, ends[0], 1);
    reap(writes);
    char byte;
    CHECK(read(ends[0], &byte, 1) == 1);
    in_ppoll(15 * MS, ends[0]);
    for (int i = 0; i < 10; i++) in_select(0);
    in_select(20 * MS);
    in_pselect(15 * MS);
    for (int i = 0; i < 10; i++) in_epoll_wait(0, epoll);
    in_epoll_wait(20 * MS, epoll);
    in_epoll_pwait(10 * MS, epoll);
}
static void children(void) {
    in_wait(0, child(20, 0, 0));
    int ends[2];
    CHECK(!pipe(ends));
    pid_t late = child(0, awaits_word, ends[0]);
    in_waitpid(0, late, WNOHANG, 0);
    CHECK(write(ends[1], "x", 1) == 1);
    in_waitpid(0, late, 0, late);
    in_wait3(0, child(10, 0, 0));
    in_wait4(0, child(10, 0, 0));
    in_waitid(0, child(10, 0, 0));
    in_system(30 * MS, "sleep 0.03; exit 3");
    in_pclose(0, popen("sleep 0.03; exit 4", "r"));
}
static void sockets(void) {
    int pair[2], listens = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un at = {AF_UNIX, "socket"};
    char byte;
    struct iovec to = {&byte, 1};
    struct msghdr message = {.msg_iov = &to, .msg_iovlen = 1};
    struct mmsghdr messages = {.msg_hdr = message};
    CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    CHECK(!bind(listens, (struct sockaddr *)&at, sizeof at) && !listen(listens, 5));
    pid_t first = child(20, connects, 0);
    in_accept(0, listens);
    reap(first);
    in_connect(0, socket(AF_UNIX, SOCK_STREAM, 0), &at);
    in_accept4(0, listens);
    for (int i = 0; i < 7; i++) in_recv(0, pair[0], MSG_DONTWAIT, -1);
    pid_t late = child(25, sends, pair[1]);
    in_recv(0, pair[0], 0, 1);
    reap(late);
    in_send(0, pair[1]), in_recvfrom(0, pair[0]);
    in_sendto(0, pair[1]), in_recvmsg(0, pair[0], &message);
    in_sendmsg(0, pair[1], &message), in_recvmmsg(0, pair[0], &messages);
    in_sendmmsg(0, pair[1], &messages);
}
static void awaits(void) {
    sigset_t none, one;
    sigemptyset(&none), sigemptyset(&one), sigaddset(&one, SIGUSR1);
    signal(SIGALRM, ignores);
    signal(SIGUSR1, ignores);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 100000}, {0, 100000}}, 0);
    in_pause(0);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, 0);
    CHECK(!sigprocmask(SIG_BLOCK, &one, 0));
    pid_t sender = child(20, signals, SIGUSR1);
    in_sigsuspend(0, &none);
    reap(sender), sender = child(20, signals, SIGUSR1);
    in_sigwait(0, &one);
    reap(sender), sender = child(20, signals, SIGUSR1);
    in_sigwaitinfo(0, &one);
    reap(sender);
    in_sigtimedwait(15 * MS, &one);
}
static void locks(void) {
    int fd = open("locked", O_RDWR | O_CREAT, 0600);
    in_flock(0, fd, LOCK_EX), in_flock(0, fd, LOCK_UN);
    in_lockf(0, fd, F_LOCK), in_lockf(0, fd, F_ULOCK);
}
static void queues(void) {
    struct { long type; char byte; } message = {1, 'm'};
    int queue = msgget(IPC_PRIVATE, 0600), set = semget(IPC_PRIVATE, 1, 0600);
    CHECK(queue >= 0 && set >= 0);
    in_msgsnd(0, queue, &message), in_msgrcv(0, queue, &message);
    in_semop(0, set, 1), in_semop(0, set, -1);
    in_semtimedop(20 * MS, set);
    msgctl(queue, IPC_RMID, 0), semctl(set, 0, IPC_RMID);
    char name[64];
    snprintf(name, sizeof name, "/marey-waits-%d", getpid());
    mqd_t mailbox = mq_open(name, O_RDWR | O_CREAT, 0600, &(struct mq_attr){.mq_maxmsg = 1, .mq_msgsize = 1});
    if (mailbox == (mqd_t)-1) return; /* not every container has them */
    mq_unlink(name);
    in_mq_send(0, mailbox);
    struct timespec until = in_ms(20);
    in_mq_timedsend(0, mailbox, &until);
    in_mq_receive(0, mailbox);
    until = in_ms(20);
    in_mq_timedreceive(0, mailbox, &until);
}
static void names(void) {
    struct addrinfo *found;
    in_getaddrinfo(0, "127.0.0.1", &found);
    freeaddrinfo(found);
}

/* Calls that never return, each followed by another one. */
static sigjmp_buf back;
static volatile int ticks;
static volatile long began;
static void jumps(int number) {
    (void)number;
    /* By the third it has surely come to wait. */
    if (++ticks == 3) siglongjmp(back, 1);
}
/* Were a call still open, this would be part of it. */
static void burn(long ns) {
    for (long until = now() + ns; now() < until;) continue;
}
static void cleans(void *unused) {
    (void)unused;
    took("sigwaitinfo", 0, now() - began);
    burn(10 * MS);
    in_usleep(5 * MS);
}
static void *is_cancelled(void *set) {
    pthread_cleanup_push(cleans, 0);
    began = now();
    ticks = 1;
    in_sigwaitinfo(0, set);
    pthread_cleanup_pop(0);
    return 0;
}
static void leaves(void) {
    sigset_t one;
    int pair[2];
    CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    signal(SIGALRM, jumps);
    for (volatile int i = 0; i < 5; i++) {
        began = now();
        if (sigsetjmp(back, 1) == 0) {
            ticks = 0;
            setitimer(ITIMER_REAL, &(struct itimerval){{0, 10000}, {0, 10000}}, 0);
            in_recv(0, pair[0], 0, 1);
        }
        took("recv", 0, now() - began);
        burn(10 * MS);
        setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, 0);
        in_usleep(5 * MS);
    }
    sigemptyset(&one), sigaddset(&one, SIGUSR1);
    CHECK(!pthread_sigmask(SIG_BLOCK, &one, 0));
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        void *result;
        ticks = 0;
        CHECK(!pthread_create(&thread, 0, is_cancelled, &one));
        while (!ticks) sched_yield();
        in_nanosleep(20 * MS);
        CHECK(!pthread_cancel(thread) && !pthread_join(thread, &result) && result == PTHREAD_CANCELED);
    }
}

/* What comes while a call makes calls of its own is not told from these. */
static void polls_within(int number) {
    (void)number;
    poll(0, 0, 1);
}
static void within(void) {
    signal(SIGALRM, polls_within);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 10000}, {0, 10000}}, 0);
    in_system(50 * MS, "sleep 0.05; exit 3");
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, 0);
}

/* What these calls do to descriptors. */
static void descriptors(void) {
    char ten[10];
    int pair[2];
    close(0);
    CHECK(open("shared", O_RDWR | O_CREAT | O_TRUNC, 0600) == 0);
    CHECK(write(0, "0123456789abcdefghijABCDEFGHIJ", 30) == 30 && lseek(0, 0, SEEK_SET) == 0);
    CHECK(read(0, ten, 10) == 10);
    /* A child that has the place in the file with us. */
    CHECK(system("dd bs=10 count=1 of=/dev/null 2>/dev/null") == 0);
    CHECK(read(0, ten, 10) == 10 && ten[0] == 'A');
    FILE *stream = popen("cat >/dev/null", "w");
    int piped = fileno(stream);
    CHECK(fputs("a line", stream) >= 0 && pclose(stream) == 0);
    CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair) && pair[1] == piped && write(piped, "x", 1) == 1);
}

/* Beside the first thread, one works and sleeps, and one only serves. */
static volatile int over;
static void *works(void *pipe) {
    for (int i = 0; i < 4; i++) {
        burn(10 * MS);
        in_nanosleep(10 * MS);
    }
    return pipe;
}
static __attribute__((noinline)) void in_service(int fd) {
    while (poll(&(struct pollfd){fd, POLLIN, 0}, 1, 1000) != 1) continue;
}
static void *serves(void *fd) {
    in_service(*(int *)fd);
    return fd;
}
static void threads(void) {
    pthread_t worker, server;
    int ends[2];
    CHECK(!pipe(ends));
    CHECK(!pthread_create(&server, 0, serves, ends) && !pthread_create(&worker, 0, works, 0));
    CHECK(!pthread_join(worker, 0));
    burn(100 * MS);
    CHECK(write(ends[1], "x", 1) == 1 && !pthread_join(server, 0));
}

int main(int count, char **words) {
    static const struct {
        const char *name;
        void (*run)(void);
    } groups[] = {{"sleeps", sleeps}, {"polls", polls},   {"children", children}, {"sockets", sockets}, {"awaits", awaits},
                  {"locks", locks},   {"queues", queues}, {"names", names},       {"threads", threads}, {"leaves", leaves},   {"within", within},
                  {"descriptors", descriptors}};
    for (int word = 1; word < count; word++)
        for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
            if (!strcmp(words[word], groups[i].name)) groups[i].run();
    for (struct truth *truth = truths; truth->name; truth++)
        printf("%s %ld %ld %ld\n", truth->name, truth->calls, truth->least, truth->own);
    return 0;
}
