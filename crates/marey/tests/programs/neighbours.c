/* Operations among the neighbours in a ring, in a row whose ends have one, and in a graph; says what each process gives and
   gets: `rank given got`. What is given to all alike counts once. */
#include <mpi.h>
#include <stdio.h>

static int rank, size, given[1000], got[1000];

static void say(int out, int in) { printf("%d %d %d\n", rank, out, in); }

/* With so many that it gives to, and gets from. `sends` and `takes` have 0 where there is nobody. */
static void all(MPI_Comm comm, const int *sends, const int *takes, const int *places) {
    int out = 0, in = 0, to = 0, from = 0;
    for (int i = 0; i < 2; i++) out += sends[i], in += takes[i], to += sends[i] > 0, from += takes[i] > 0;
    /* At the ends of a row there is a count for nobody, too. */
    int some[2] = {sends[0] ? sends[0] : 7, sends[1] ? sends[1] : 7};
    int others[2] = {takes[0] ? takes[0] : 7, takes[1] ? takes[1] : 7};
    MPI_Neighbor_alltoall(given, 10, MPI_INT, got, 10, MPI_INT, comm);
    say(40 * to, 40 * from);
    MPI_Neighbor_alltoallv(given, some, places, MPI_INT, got, others, places, MPI_INT, comm);
    say(4 * out, 4 * in);
    MPI_Request request;
    MPI_Ineighbor_allgather(given, 10, MPI_INT, got, 10, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say(40, 40 * from);
    int alike[2] = {20, 20};
    MPI_Neighbor_allgatherv(given, 20, MPI_INT, got, alike, places, MPI_INT, comm);
    say(80, 80 * from);
    MPI_Aint far[2] = {0, 400};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Neighbor_alltoallw(given, some, far, types, got, others, far, types, comm);
    say(4 * out, 4 * in);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm comm;
    int places[2] = {0, 100}, ring = 1, row = 0;

    /* 3 to the one before, 5 to the one behind. */
    int sends[2] = {3, 5}, takes[2] = {5, 3};
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &ring, 0, &comm);
    all(comm, sends, takes, places);
    MPI_Comm_free(&comm);

    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &row, 0, &comm);
    int first = rank == 0, last = rank == size - 1;
    int row_sends[2] = {first ? 0 : 3, last ? 0 : 5}, row_takes[2] = {first ? 0 : 5, last ? 0 : 3};
    all(comm, row_sends, row_takes, places);
    MPI_Comm_free(&comm);

    /* Everybody to the next: who gives and who gets are not the same. */
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    int one[2] = {6, 0};
    all(comm, one, one, places);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
