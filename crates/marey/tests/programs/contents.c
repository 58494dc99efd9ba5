/* Rank 0 sends rank 1 one message of each kind of call and datatype; element k of the message with tag t is
 * 100 t + k, but for texts, which are the alphabet from the t-th letter on. Two ranks. */
#include <mpi.h>
#include <stdint.h>
#include <string.h>

#define W MPI_COMM_WORLD
enum { N = 10 };

static int rank;
#define MESSAGE(type, ctype, tag)                                                              \
    do {                                                                                       \
        ctype buffer[N];                                                                       \
        for (int k = 0; k < N; k++) buffer[k] = (ctype)(rank ? 0 : 100 * (tag) + k);           \
        if (rank) MPI_Recv(buffer, N, type, 0, tag, W, MPI_STATUS_IGNORE);                     \
        else MPI_Send(buffer, N, type, 1, tag, W);                                             \
    } while (0)

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(W, &rank);
    MESSAGE(MPI_INT, int, 1);
    MESSAGE(MPI_DOUBLE, double, 2);
    MESSAGE(MPI_FLOAT, float, 3);
    MESSAGE(MPI_INT64_T, int64_t, 4);
    MESSAGE(MPI_UNSIGNED_SHORT, unsigned short, 5);

    double numbers[N], more[N];
    for (int k = 0; k < N; k++) numbers[k] = more[k] = rank ? -1 : 600 + k;
    MPI_Request request[2];
    if (rank) MPI_Irecv(numbers, N, MPI_DOUBLE, 0, 6, W, &request[0]);
    else MPI_Isend(numbers, N, MPI_DOUBLE, 1, 6, W, &request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);

    /* Both ways, and where what was sent stood: only what came can be seen. */
    for (int k = 0; k < N; k++) numbers[k] = 700 + k, more[k] = 0;
    MPI_Sendrecv(numbers, N, MPI_DOUBLE, 1 - rank, 7, more, N, MPI_DOUBLE, 1 - rank, 7, W, MPI_STATUS_IGNORE);
    for (int k = 0; k < N; k++) numbers[k] = 800 + k;
    MPI_Sendrecv_replace(numbers, N, MPI_DOUBLE, 1 - rank, 8, 1 - rank, 8, W, MPI_STATUS_IGNORE);

    for (int k = 0; k < N; k++) numbers[k] = rank ? 0 : 900 + k;
    if (rank) MPI_Recv_init(numbers, N, MPI_DOUBLE, 0, 9, W, &request[0]);
    else MPI_Send_init(numbers, N, MPI_DOUBLE, 1, 9, W, &request[0]);
    for (int i = 0; i < 2; i++) MPI_Start(&request[0]), MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&request[0]);

    char text[N + 1] = "";
    if (!rank) memcpy(text, "klmnopqrst", N);
    if (rank) MPI_Recv(text, N, MPI_CHAR, 0, 10, W, MPI_STATUS_IGNORE);
    else MPI_Send(text, N, MPI_CHAR, 1, 10, W);

    /* Shorter than the receiver has room for, empty, and of a type of the program's own: the last two say
     * nothing. */
    int few[N] = {1100, 1101, 1102};
    if (rank) MPI_Recv(few, N, MPI_INT, 0, 11, W, MPI_STATUS_IGNORE);
    else MPI_Send(few, 3, MPI_INT, 1, 11, W);
    if (rank) MPI_Recv(NULL, 0, MPI_INT, 0, 12, W, MPI_STATUS_IGNORE);
    else MPI_Send(NULL, 0, MPI_INT, 1, 12, W);
    MPI_Datatype every_second;
    MPI_Type_vector(3, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    if (rank) MPI_Recv(few, 1, every_second, 0, 13, W, MPI_STATUS_IGNORE);
    else MPI_Send(few, 1, every_second, 1, 13, W);
    MPI_Type_free(&every_second);
    MPI_Finalize();
    return 0;
}
