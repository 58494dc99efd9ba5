/* MPI programs that do odd things. Each rank counts its sends and receives. Words: CASE [PLUG] SEED. */
#include "odd.h"
#include <mpi.h>
#include <pthread.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/time.h>

static int rank;
/* A message to the other rank and back, MPI's own names being the regions. */
static void rounds(unsigned times) {
    static struct odd_slot *sends = 0, *receives = 0;
    if (!sends) receives = odd_slot("MPI_Recv"), sends = odd_slot("MPI_Send");
    for (unsigned i = 0; i < times; i++) {
        int word = (int)i, peer = 1 - rank;
        for (int turn = 0; turn < 2; turn++) {
            if (turn == rank) {
                ODD_BEGIN(sends), MPI_Send(&word, 1, MPI_INT, peer, 5, MPI_COMM_WORLD), ODD_DONE(sends);
            } else {
                ODD_BEGIN(receives), MPI_Recv(&word, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                ODD_DONE(receives);
            }
        }
        CHECK(word == (int)i);
    }
}
static void visits(int number) {
    (void)number;
    VISIT("handler");
}
static void late(void) {
    int is_over = 0;
    MPI_Finalized(&is_over);
    VISIT("late");
    if (!is_over) MPI_Finalize();
}
static void *calls(void *nothing) {
    int size;
    for (int i = 0; i < 100; i++) MPI_Comm_size(MPI_COMM_WORLD, &size);
    VISIT("thread");
    return nothing;
}
/* From now on a process that looks into the memory of one by name is ended. MPI does not, for messages that
 * are short. */
static void shut_in(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}
int main(int count, char **words) {
    int level;
    MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    odd_seed(words[count - 1]);
    unsigned times = 20 + odd_below(300);
    rounds(times);
    if (IS("fork")) {
        pid_t child = fork();
        if (child == 0) {
            VISITS("child", times);
            _exit(6);
        }
        CHECK(odd_wait(child) == 6);
        CHECK(system("exit 4") == 4 << 8);
    } else if (IS("handlers")) {
        struct itimerval every = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_handler = visits, action.sa_flags = SA_RESTART;
        sigaction(SIGALRM, &action, 0);
        setitimer(ITIMER_REAL, &every, 0);
        rounds(20 * times);
        setitimer(ITIMER_REAL, &never, 0);
    } else if (IS("atexit")) {
        atexit(late);
        MPI_Barrier(MPI_COMM_WORLD);
        printf("%d done\n", rank);
        return 0;
    } else if (IS("plug")) {
        for (int i = 0; i < 10; i++) {
            void *library = dlopen(words[2], RTLD_NOW);
            CHECK(library);
            ((void (*)(int))dlsym(library, "plug_mpi"))(1 - rank);
            dlclose(library);
            rounds(3);
        }
    } else if (IS("threads")) {
        pthread_t threads[8];
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < 8; i++) CHECK(!pthread_create(&threads[i], 0, calls, 0));
            for (int i = 0; i < 8; i++) CHECK(!pthread_join(threads[i], 0));
        }
        rounds(5);
    } else if (IS("shut")) {
        shut_in();
        rounds(20);
    } else if (IS("exit")) {
        /* Without MPI_Finalize; the launcher says what it wants to that. */
        MPI_Barrier(MPI_COMM_WORLD);
        _exit(0);
    }
    rounds(5);
    MPI_Finalize();
    VISITS("after", 10);
    printf("%d done\n", rank);
    return 0;
}
