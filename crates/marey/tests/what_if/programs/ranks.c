/* Programs with two ranks. Rank 0 prints how long all took, from a barrier behind MPI_Init to the end. */
#include "parts.h"
#include <mpi.h>

static int rank;
#define WORLD MPI_COMM_WORLD

APART void barrier(void) { MPI_Barrier(WORLD); }
APART void send(int to, int n) {
    static char data[1 << 20];
    MPI_Send(data, n, MPI_BYTE, to, 0, WORLD);
}
APART void synchronous(int to) {
    char data = 0;
    MPI_Ssend(&data, 1, MPI_BYTE, to, 0, WORLD);
}
APART void receive(int from, int n) {
    static char data[1 << 20];
    MPI_Recv(data, n, MPI_BYTE, from, 0, WORLD, MPI_STATUS_IGNORE);
}
APART void all(void) {
    double mine = 1, sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD);
}

/* The barrier waits for force. */
static void on_path(void) {
    if (rank == 0) force(300);
    else other(50);
    barrier();
}

/* The barrier waits for the other rank. */
static void off_path(void) {
    if (rank == 1) force(100);
    else other(300);
    barrier();
}

/* Half of what the barrier waits for is force. */
static void half(void) {
    if (rank == 0) {
        force(150);
        update(150);
    } else other(50);
    barrier();
}

/* The other rank is as late soon. */
static void limited(void) {
    if (rank == 0) force(300);
    else other(220);
    barrier();
}

/* Each waits for the other in turn. */
static void chain(void) {
    for (int turn = 0; turn < 4; turn++)
        if (rank == 0) {
            force(60);
            send(1, 8);
            receive(1, 8);
        } else {
            receive(0, 8);
            update(40);
            send(0, 8);
        }
}

/* A barrier each step; force is done by each rank in turn. */
static void steps(void) {
    for (int step = 0; step < 8; step++) {
        if (step % 2 == rank) force(60);
        else other(40);
        barrier();
    }
}

/* All with all each step, one is always slower; both have force. */
static void sums(void) {
    for (int step = 0; step < 6; step++) {
        force(rank == 0 ? 60 : 20);
        update(rank == 0 ? 10 : 30);
        all();
    }
}

/* What is computed meanwhile hides the message, until force is faster than it comes. */
static void overlap(void) {
    for (int step = 0; step < 5; step++) {
        if (rank == 0) {
            char data;
            MPI_Request request;
            MPI_Irecv(&data, 1, MPI_BYTE, 1, 0, WORLD, &request);
            force(80);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            send(1, 1);
        } else {
            other(60);
            send(0, 1);
            receive(0, 1);
        }
    }
}

/* A send that waits for the receive, which is late because of force. */
static void rendezvous(void) {
    if (rank == 0) {
        synchronous(1);
        update(100);
    } else {
        force(200);
        receive(0, 1);
        other(50);
    }
    barrier();
}

/* A send that does not: its data wait. */
static void eager(void) {
    if (rank == 0) {
        send(1, 8);
        update(150);
    } else {
        force(200);
        receive(0, 8);
    }
    barrier();
}

/* One to all, then all to one. */
static void rooted(void) {
    for (int step = 0; step < 4; step++) {
        double data = 1, sum;
        if (rank == 0) force(60);
        else other(20);
        MPI_Bcast(&data, 1, MPI_DOUBLE, 0, WORLD);
        if (rank == 1) update(40);
        MPI_Reduce(&data, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, WORLD);
    }
}

/* Nothing but MPI_Finalize brings them together in the end. */
static void leaving(void) {
    if (rank == 1) force(300);
    else other(100);
}

/* Useful time that is evened out, in two steps. */
static void uneven(void) {
    if (evened) other(150);
    else other(rank == 0 ? 250 : 50);
    barrier();
    if (evened) update(100);
    else update(rank == 0 ? 60 : 140);
    barrier();
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"on_path", on_path}, {"off_path", off_path}, {"half", half},       {"limited", limited}, {"chain", chain},
             {"steps", steps},     {"sums", sums},         {"overlap", overlap}, {"rendezvous", rendezvous},
             {"eager", eager},     {"rooted", rooted},     {"leaving", leaving}, {"uneven", uneven}};

int main(int count, char **words) {
    const char *told = getenv("OMPI_COMM_WORLD_RANK");
    if (!told) told = getenv("PMI_RANK");
    if (told) keep_to(atoi(told));
    const char *name = begin(count, words);
    MPI_Init(&count, &words);
    MPI_Comm_rank(WORLD, &rank);
    is_rank_0 = rank == 0;
    barrier();
    double before = now();
    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++)
        if (!strcmp(cases[at].name, name)) cases[at].run();
    if (strcmp(name, "leaving")) barrier();
    double after = now();
    MPI_Finalize();
    if (!strcmp(name, "leaving")) after = now();
    if (rank == 0) printf("%.9f\n", after - before);
    return 0;
}
