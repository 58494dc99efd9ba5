// Calls of MPI that are left without returning: by exceptions out of an error handler, and by a jump
// out of a signal handler that ends a wait. Prints what it caught.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <mpi.h>
#include <sys/time.h>

struct Failure {};

static void fail(MPI_Comm *, int *, ...) { throw Failure(); }

static sigjmp_buf back;

static void give_up(int) { siglongjmp(back, 1); }

static int failing_calls(int rounds) {
    int caught = 0, value = 0;
    for (int i = 0; i < rounds; i++) {
        try {
            MPI_Send(&value, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
        } catch (Failure) {
            caught++;
        }
        try {
            MPI_Bcast(&value, 1, MPI_INT, 99, MPI_COMM_WORLD);
        } catch (Failure) {
            caught++;
        }
    }
    return caught;
}

static int given_up_wait() {
    MPI_Request request;
    int value;
    struct itimerval soon = {{0, 0}, {0, 20000}};
    signal(SIGALRM, give_up);
    MPI_Irecv(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    if (sigsetjmp(back, 1) == 0) {
        setitimer(ITIMER_REAL, &soon, nullptr);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return 0;
    }
    MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return 1;
}

int main(int argc, char **argv) {
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(fail, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    int caught = failing_calls(1500);
    int jumped = given_up_wait();
    std::printf("%d %d\n", caught, jumped);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
