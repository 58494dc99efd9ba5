/* Rank 1 asks for what rank 0 has not sent, and will not until it is told to: so every poll is in vain but
 * the last one of each kind. Two ranks. Each function is called ROUNDS times in vain from one place. */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 1000, KINDS = 7 };

int main(int argc, char **argv) {
    int rank, go = 1, x = 7, y[KINDS], flag, found = 0, n, idx[2], i;
    MPI_Request r[KINDS];
    MPI_Status st, sts[2];
    MPI_Message m;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Recv(&go, 1, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (i = 0; i < KINDS; i++) MPI_Send(&x, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
    } else if (rank == 1) {
        for (i = 0; i < 5; i++) MPI_Irecv(&y[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &r[i]);
        for (i = 0; i < ROUNDS; i++) MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE), found += flag;
        for (i = 0; i < ROUNDS; i++) MPI_Testany(1, &r[1], &n, &flag, &st), found += flag;
        for (i = 0; i < ROUNDS; i++) MPI_Testall(1, &r[2], &flag, MPI_STATUSES_IGNORE), found += flag;
        for (i = 0; i < ROUNDS; i++) MPI_Testsome(1, &r[3], &n, idx, sts), found += n;
        for (i = 0; i < ROUNDS; i++) MPI_Request_get_status(r[4], &flag, &st), found += flag;
        for (i = 0; i < ROUNDS; i++) MPI_Iprobe(0, 5, MPI_COMM_WORLD, &flag, &st), found += flag;
        for (i = 0; i < ROUNDS; i++) MPI_Improbe(0, 6, MPI_COMM_WORLD, &flag, &m, &st), found += flag;
        MPI_Send(&go, 1, MPI_INT, 0, 99, MPI_COMM_WORLD);
        do MPI_Test(&r[0], &flag, &st); while (!flag);
        do MPI_Testany(1, &r[1], &n, &flag, &st); while (!flag);
        do MPI_Testall(1, &r[2], &flag, MPI_STATUSES_IGNORE); while (!flag);
        do MPI_Testsome(1, &r[3], &n, idx, sts); while (n != 1);
        do MPI_Request_get_status(r[4], &flag, &st); while (!flag);
        MPI_Wait(&r[4], MPI_STATUS_IGNORE);
        do MPI_Iprobe(0, 5, MPI_COMM_WORLD, &flag, &st); while (!flag);
        MPI_Recv(&y[5], 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &st);
        do MPI_Improbe(0, 6, MPI_COMM_WORLD, &flag, &m, &st); while (!flag);
        MPI_Mrecv(&y[6], 1, MPI_INT, &m, &st);
        for (i = 0; i < KINDS; i++) found += y[i] != x;
        printf("%s\n", found ? "wrong" : "well");
    }
    MPI_Finalize();
    return 0;
}
