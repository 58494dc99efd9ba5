/* Sends from where types say, with no buffer at all, and nothing, after another array was used. */
#include <mpi.h>
#include <stddef.h>

static double other[1000], named[1000], taken[1000];

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int me, length = 2;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Aint place;
    MPI_Datatype inner = MPI_DOUBLE, absolute;
    MPI_Get_address(&named[3], &place);
    MPI_Type_create_struct(1, &length, &place, &inner, &absolute);
    MPI_Type_commit(&absolute);
    MPI_Allreduce(MPI_IN_PLACE, other, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        MPI_Sendrecv(MPI_BOTTOM, 1, absolute, 1 - me, 1, taken, 2, MPI_DOUBLE, 1 - me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 5; i++)
        MPI_Sendrecv(NULL, 0, MPI_DOUBLE, 1 - me, 2, NULL, 0, MPI_DOUBLE, 1 - me, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&absolute);
    MPI_Finalize();
    return 0;
}
