/* Arguments that do not count, by the standard: nobody may look at what they hold.

   Prints of each operation what this process gives and gets, and whether what came is right: `rank name given got right`. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size;

/* A place and a type that nobody may look at, and a count that is none. No compiler knows where it is. */
static void *volatile nowhere = (void *)16;
#define NOWHERE nowhere
#ifdef OPEN_MPI
#define NO_TYPE ((MPI_Datatype)NOWHERE)
#else
#define NO_TYPE ((MPI_Datatype)0x7fffffff)
#endif
#define NO_COUNT (-7)

static void say(const char *name, int given, int got, int right) {
    printf("%d %s %d %d %d\n", rank, name, given, got, right);
}

/* Of two processes. */
static void within(MPI_Comm comm) {
    int root = rank == 0;
    double own[3] = {rank + 1, rank + 1, rank + 1}, all[6] = {0}, sum[3] = {0};
    int counts[2] = {1, 2}, places[2] = {0, 1}, mine = counts[rank];

    if (root) MPI_Gather(own, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, 0, comm);
    else MPI_Gather(own, 2, MPI_DOUBLE, NOWHERE, NO_COUNT, NO_TYPE, 0, comm);
    say("MPI_Gather", 16, root ? 32 : 0, !root || all[3] == 2);

    if (root) MPI_Gatherv(own, mine, MPI_DOUBLE, all, counts, places, MPI_DOUBLE, 0, comm);
    else MPI_Gatherv(own, mine, MPI_DOUBLE, NOWHERE, NOWHERE, NOWHERE, NO_TYPE, 0, comm);
    say("MPI_Gatherv", 8 * mine, root ? 24 : 0, !root || all[1] == 2);

    if (root) MPI_Scatter(all, 3, MPI_DOUBLE, own, 3, MPI_DOUBLE, 0, comm);
    else MPI_Scatter(NOWHERE, NO_COUNT, NO_TYPE, own, 3, MPI_DOUBLE, 0, comm);
    say("MPI_Scatter", root ? 48 : 0, 24, own[0] == (root ? 1 : 2));

    if (root) MPI_Scatterv(all, counts, places, MPI_DOUBLE, own, mine, MPI_DOUBLE, 0, comm);
    else MPI_Scatterv(NOWHERE, NOWHERE, NOWHERE, NO_TYPE, own, mine, MPI_DOUBLE, 0, comm);
    say("MPI_Scatterv", root ? 24 : 0, 8 * mine, own[0] == (root ? 1 : 2));

    MPI_Reduce(own, root ? sum : NOWHERE, 3, MPI_DOUBLE, MPI_SUM, 0, comm);
    say("MPI_Reduce", 24, root ? 24 : 0, !root || sum[0] == 3);

    /* What is in place has neither count nor type. */
    if (root) MPI_Gather(MPI_IN_PLACE, NO_COUNT, NO_TYPE, all, 1, MPI_DOUBLE, 0, comm);
    else MPI_Gather(own, 1, MPI_DOUBLE, NOWHERE, NO_COUNT, NO_TYPE, 0, comm);
    say("MPI_Gather", root ? 0 : 8, root ? 16 : 0, !root || all[1] == 2);

    if (root) MPI_Scatter(all, 1, MPI_DOUBLE, MPI_IN_PLACE, NO_COUNT, NO_TYPE, 0, comm);
    else MPI_Scatter(NOWHERE, NO_COUNT, NO_TYPE, own, 1, MPI_DOUBLE, 0, comm);
    say("MPI_Scatter", root ? 16 : 0, root ? 0 : 8, root || own[0] == 2);
}

/* Between two groups, the first of rank 0 and, if it is there, of rank 2, which has no part in what has a root. */
static void between(MPI_Comm comm) {
    MPI_Comm local, inter;
    MPI_Comm_split(comm, rank % 2, rank, &local);
    MPI_Intercomm_create(local, 0, comm, 1 - rank % 2, 9, &inter);
    int gives = rank == 0, takes = rank == 1;
    int root = gives ? MPI_ROOT : takes ? 0 : MPI_PROC_NULL;
    double data[4] = {rank, rank, rank, rank}, came[4] = {0};
    int counts[1] = {2}, places[1] = {0};
#define IF(is, value) ((is) ? (value) : 0)

    /* Open MPI looks at count and type of all. */
    MPI_Bcast(rank < 2 ? data : NOWHERE, 4, MPI_DOUBLE, root, inter);
    say("MPI_Bcast", IF(gives, 32), IF(takes, 32), !takes || data[0] == 0);

    if (gives) MPI_Scatterv(data, counts, places, MPI_DOUBLE, NOWHERE, NO_COUNT, NO_TYPE, root, inter);
    else if (takes) MPI_Scatterv(NOWHERE, NOWHERE, NOWHERE, NO_TYPE, came, 2, MPI_DOUBLE, root, inter);
    else MPI_Scatterv(NOWHERE, NOWHERE, NOWHERE, NO_TYPE, NOWHERE, NO_COUNT, NO_TYPE, root, inter);
    say("MPI_Scatterv", IF(gives, 16), IF(takes, 16), 1);

    /* The other way round: rank 0 takes what rank 1 has. */
    data[0] = rank;
    if (gives) MPI_Gather(NOWHERE, NO_COUNT, NO_TYPE, came, 3, MPI_DOUBLE, root, inter);
    else if (takes) MPI_Gather(data, 3, MPI_DOUBLE, NOWHERE, NO_COUNT, NO_TYPE, root, inter);
    else MPI_Gather(NOWHERE, NO_COUNT, NO_TYPE, NOWHERE, NO_COUNT, NO_TYPE, root, inter);
    say("MPI_Gather", IF(takes, 24), IF(gives, 24), !gives || came[0] == 1);

    if (gives) MPI_Gatherv(NOWHERE, NO_COUNT, NO_TYPE, came, counts, places, MPI_DOUBLE, root, inter);
    else if (takes) MPI_Gatherv(data, 2, MPI_DOUBLE, NOWHERE, NOWHERE, NOWHERE, NO_TYPE, root, inter);
    else MPI_Gatherv(NOWHERE, NO_COUNT, NO_TYPE, NOWHERE, NOWHERE, NOWHERE, NO_TYPE, root, inter);
    say("MPI_Gatherv", IF(takes, 16), IF(gives, 16), !gives || came[0] == 1);

    MPI_Reduce(takes ? data : NOWHERE, gives ? came : NOWHERE, 4, MPI_DOUBLE, MPI_SUM, root, inter);
    say("MPI_Reduce", IF(takes, 32), IF(gives, 32), !gives || came[0] == 1);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

/* Of a type that says of itself that its data lie elsewhere: `given` and `got` are only where they are said to lie. */
static double given[64], lies[64], got[64], comes[256];

static MPI_Datatype behind(double *at, double *where, int n) {
    MPI_Aint bytes = (char *)where - (char *)at;
    MPI_Datatype type;
    MPI_Type_create_hindexed(1, &n, &bytes, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

static void displaced(MPI_Comm comm) {
    MPI_Datatype out = behind(given, lies, 40), in = behind(got, comes, 40);
    MPI_Bcast(rank == 0 ? given : got, 1, rank == 0 ? out : in, 0, comm);
    MPI_Sendrecv(given, 1, out, 1 - rank, 0, got, 1, in, 1 - rank, 0, comm, MPI_STATUS_IGNORE);
    double *base;
    MPI_Win window;
    MPI_Win_allocate(512, 8, MPI_INFO_NULL, comm, &base, &window);
    MPI_Win_fence(0, window);
    MPI_Put(given, 1, out, 1 - rank, 0, 40, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Get(got, 1, in, 1 - rank, 0, 40, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    /* Who only reads gives nothing. */
    MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, got, 1, in, 1 - rank, 0, 40, MPI_DOUBLE, MPI_NO_OP, window);
    MPI_Fetch_and_op(NOWHERE, lies, MPI_DOUBLE, 1 - rank, 0, MPI_NO_OP, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Type_free(&out);
    MPI_Type_free(&in);
}

/* Nothing is given by who only reads, and to nobody. What fails has failed without a recorder, too. */
static void windows(MPI_Comm comm) {
    double *base, read[4] = {0}, one = 0;
    MPI_Win window;
    MPI_Win_allocate(64, 8, MPI_INFO_NULL, comm, &base, &window);
    for (int i = 0; i < 8; i++) base[i] = 10 * rank + i;
    MPI_Win_fence(0, window);
    MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, read, 4, MPI_DOUBLE, 1, 2, 4, MPI_DOUBLE, MPI_NO_OP, window);
    MPI_Fetch_and_op(NOWHERE, &one, MPI_DOUBLE, 1, 1, MPI_NO_OP, window);
    MPI_Win_fence(0, window);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    int error = MPI_Put(read, 1, MPI_DATATYPE_NULL, 1, 0, 1, MPI_DOUBLE, window);
    printf("%d got %d, error %d\n", rank, read[3] == 15 && one == 11, error != MPI_SUCCESS);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

/* The name of a port is for the first of a group alone. */
static void ports(MPI_Comm comm) {
    MPI_Comm half, inter;
    MPI_Comm_split(comm, rank % 2, rank, &half);
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 0, comm);
    }
    if (rank == 1) MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, comm, MPI_STATUS_IGNORE);
    if (rank % 2) MPI_Comm_connect(rank == 1 ? port : NOWHERE, MPI_INFO_NULL, 0, half, &inter);
    else MPI_Comm_accept(rank == 0 ? port : NOWHERE, MPI_INFO_NULL, 0, half, &inter);
    int remote, given = 7, taken = 0;
    MPI_Comm_remote_size(inter, &remote);
    if (rank == 0) MPI_Send(&given, 1, MPI_INT, 0, 3, inter);
    if (rank == 1) MPI_Recv(&taken, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE);
    printf("%d %d %d\n", rank, remote, taken);
    MPI_Comm_disconnect(&inter);
    MPI_Comm_free(&half);
    if (rank == 0) MPI_Close_port(port);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm two;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &two);
    if (argc > 1 && !strcmp(argv[1], "displaced")) displaced(two);
    if (argc > 1 && !strcmp(argv[1], "ports")) ports(MPI_COMM_WORLD);
    if (argc < 2 && rank < 2) within(two);
    if (argc < 2) between(MPI_COMM_WORLD);
    if (argc < 2) windows(MPI_COMM_WORLD);
    MPI_Comm_free(&two);
    MPI_Finalize();
    return 0;
}
