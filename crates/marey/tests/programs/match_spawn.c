/* Two more processes are spawned, which have a world of their own: messages over the intercommunicator
 * to them, in each world, and over both worlds merged. Writes what match.h says; the files of the
 * children are child0.txt and child1.txt and their serial numbers begin at 1000 * 10^9. Runs on 1,
 * 2 … ranks, and starts itself: it must be called by a path that is valid everywhere. Where MPI
 * cannot spawn (Debian's MPICH talks to its launcher through Slurm's library, which has no spawn),
 * it says so and exits with 77. */
#include "match.h"

#define CHILDREN 2

/* A parent writes to every child; a child answers whoever has written to it. */
static void parent(MPI_Comm inter) {
    for (int child = 0; child < CHILDREN; child++) SEND(MPI_Send, "inter", inter, child, 20 + child);
    for (int child = 0; child < CHILDREN; child++) receive("inter", inter, MPI_ANY_SOURCE, MPI_ANY_TAG);
}
static void child(MPI_Comm inter, int rank) {
    int n_parents;
    MPI_Comm_remote_size(inter, &n_parents);
    for (int i = 0; i < n_parents; i++) {
        struct slot in;
        MPI_Status status;
        posting(&in, "inter");
        MPI_Recv(&in.serial, 1, MPI_INT64_T, MPI_ANY_SOURCE, 20 + rank, inter, &status);
        received(&in, &status);
        SEND(MPI_Send, "inter", inter, status.MPI_SOURCE, 30 + rank);
    }
}

int main(int argc, char **argv) {
    MPI_Comm inter, merged;
    char name[16];
    int rank, failed, errors[CHILDREN];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&inter);
    int spawned = inter != MPI_COMM_NULL;
    /* Spawned processes need not have the environment of those who spawn them. */
    const char *out = spawned ? argv[1] : getenv("MATCH_OUT");
    snprintf(name, sizeof name, spawned ? "child%d" : "%d", rank);
    match_open(out, name, spawned ? 1000 + rank : rank);
    if (!spawned) {
        char *arguments[] = {(char *)(out ? out : "."), NULL};
        ring("world", MPI_COMM_WORLD, 5, 1);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        if (MPI_Comm_spawn(argv[0], arguments, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, errors)) {
            if (rank == 0) printf("match_spawn skipped: this MPI cannot spawn\n");
            match_flush(), MPI_Finalize();
            return 77;
        }
    }
    ring(spawned ? "child-world" : "world", MPI_COMM_WORLD, 5, 2);
    if (spawned) child(inter, rank);
    else parent(inter);
    MPI_Intercomm_merge(inter, spawned, &merged);
    ring("merged", merged, 5, 3);
    failed = match_result("match_spawn", merged);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&inter);
    MPI_Finalize();
    return failed;
}
