/* A library that makes MPI calls, and is unloaded again. */
#include "odd.h"
#include <mpi.h>
void plug_mpi(int peer) {
    int word = 0, got = 0;
    struct odd_slot *slot = odd_slot("MPI_Sendrecv");
    ODD_BEGIN(slot);
    MPI_Sendrecv(&word, 1, MPI_INT, peer, 6, &got, 1, MPI_INT, peer, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ODD_DONE(slot);
    VISIT("plugged");
}
