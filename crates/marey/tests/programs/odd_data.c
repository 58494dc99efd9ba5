/* Messages from memory whose datum is hard to tell; says where each buffer lies: `TAG WHAT BEGIN OFFSET`. */
#define _GNU_SOURCE
#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK = 1 << 16, BLOCK = 8192, BEFORE = 300, MANY = 300, LEVELS = 40 };

static int fixed[4];

/* To the process itself, into memory that is no matter here. */
static void send(void *buffer, int tag) {
    int taken;
    MPI_Request request;
    MPI_Irecv(&taken, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, &request);
    MPI_Send(buffer, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void says(int tag, const char *what, void *begin, void *buffer) {
    printf("%d %s %ld %ld\n", tag, what, (long)begin, (long)((char *)buffer - (char *)begin));
}

static ucontext_t *home, *away;
static char *stack;
static int tag;

/* Runs on a stack of its own, and has from two halves the address of a block that only stacks have. */
static void coroutine(unsigned low, unsigned high) {
    int local[4] = {1, 2, 3, 4};
    char *volatile block = (char *)((unsigned long)high << 32 | low);
    send(&local[1], tag);
    says(tag++, "stack", stack, &local[1]);
    send(block + 64, tag);
    says(tag++, "block", block, block + 64);
    send(&fixed[2], tag);
    says(tag++, "fixed", fixed, &fixed[2]);
    /* In a second visit what is remembered is still true. */
    swapcontext(away, home);
    send(&local[1], tag);
    says(tag++, "stack", stack, &local[1]);
}

static void on(char *memory) {
    ucontext_t here, there;
    char *block = calloc(1, BLOCK);
    unsigned long address = (unsigned long)block;
    home = &here;
    away = &there;
    stack = memory;
    getcontext(&there);
    there.uc_stack.ss_sp = memory;
    there.uc_stack.ss_size = STACK;
    there.uc_link = &here;
    makecontext(&there, (void (*)(void))coroutine, 2, (unsigned)address, (unsigned)(address >> 32));
    swapcontext(&here, &there);
    swapcontext(&here, &there);
    free(block);
}

/* One stack ends where nothing can be read, the other is a block of the heap. */
static void coroutines(void) {
    char *mapped = mmap(NULL, 2 * STACK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(mapped, STACK, PROT_READ | PROT_WRITE);
    on(mapped);
    char *block = malloc(STACK);
    on(block);
    free(block);
    munmap(mapped, 2 * STACK);
}

static void *sends(void *unused) {
    send(fixed, 0);
    return unused;
}

static void threads(int n) {
    for (int i = 0; i < n; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, sends, NULL);
        pthread_join(thread, NULL);
    }
}

/* Each sends from all of an array of its own, which lies where that of the other did. */
static __attribute__((noinline)) void one(void) {
    int first[MANY] = {0};
    for (int i = 0; i < MANY; i++) send(&first[i], tag), says(tag++, "first", first, &first[i]);
}

static __attribute__((noinline)) void other(void) {
    int second[MANY] = {0};
    for (int i = 0; i < MANY; i++) send(&second[i], tag), says(tag++, "second", second, &second[i]);
}

/* From an array of its own, and from all of one further out. */
static __attribute__((noinline)) void deep(int levels, int *outer) {
    int own[2] = {0};
    send(own, tag);
    says(tag++, "own", own, own);
    for (int i = 0; i < MANY; i += 10) send(&outer[i], tag), says(tag++, "held", outer, &outer[i]);
    if (levels) deep(levels - 1, outer);
    send(&own[1], tag);
    says(tag++, "own", own, &own[1]);
}

static __attribute__((noinline)) void holds(void) {
    int held[MANY] = {0};
    deep(LEVELS, held);
    held[0] = tag;
}

/* More buffers take turns than a thread remembers at first, and more frames than it remembers ever. */
static void turns(void) {
    static int lasting[MANY];
    char *blocks[MANY];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++) send(&lasting[i], tag), says(tag++, "lasting", lasting, &lasting[i]);
        for (int i = 0; i < MANY; i++) blocks[i] = calloc(1, BLOCK);
        for (int again = 0; again < 2; again++)
            for (int i = 0; i < MANY; i++) send(blocks[i] + 8, tag), says(tag++, "block", blocks[i], blocks[i] + 8);
        for (int i = 0; i < MANY; i++) free(blocks[i]);
        one();
        other();
        one();
        holds();
    }
}

static double elsewhere[50];
static struct {
    int head;
    double payload[20];
} held;

/* From so far behind what is given as the buffer, twice: types that are made anew are told anew. */
static void send_behind(void *given, void *buffer, int doubles, const char *what) {
    static double taken[50];
    for (int i = 0; i < 2; i++) {
        MPI_Aint behind = (char *)buffer - (char *)given;
        MPI_Datatype type;
        MPI_Request request;
        MPI_Type_create_hindexed(1, &doubles, &behind, MPI_DOUBLE, &type);
        MPI_Type_commit(&type);
        MPI_Irecv(taken, doubles, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD, &request);
        MPI_Send(given, 1, type, 0, tag, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Type_free(&type);
        says(tag++, what, buffer, buffer);
    }
}

static void displaced(void) {
    send_behind(fixed, elsewhere, 50, "elsewhere");
    send_behind(elsewhere, fixed, 1, "fixed");
    send_behind(&held, held.payload, 20, "held.payload");
    send_behind(MPI_BOTTOM, elsewhere, 50, "elsewhere");
    send_behind(elsewhere, elsewhere, 50, "elsewhere");
}

/* Blocks that only other blocks have the addresses of, and one that `whole` has: all of them are sent by one function. */
struct mesh {
    char *one, *other;
};

static struct mesh *make(void) {
    struct mesh *mesh = malloc(sizeof *mesh);
    mesh->one = calloc(1, BLOCK);
    mesh->other = calloc(1, 2 * BLOCK);
    return mesh;
}

static void parameters(void) {
    struct mesh *meshes[] = {make(), make()};
    for (int i = 0; i < 2; i++) {
        send(meshes[i]->one, tag);
        says(tag++, "make", meshes[i]->one, meshes[i]->one);
        send(meshes[i]->other, tag);
        says(tag++, "make", meshes[i]->other, meshes[i]->other);
    }
    char *whole = calloc(1, BLOCK);
    send(whole, tag);
    says(tag++, "whole", whole, whole);
}

/* Small blocks, one behind the other, and then a large one where many of them were: sent from before and after, from where
 * each of them began. So many other large ones are made meanwhile. */
static void grown(int others) {
    enum { SMALL = 3000, BLOCKS = 1000, LARGE = 1 << 20 };
    static char *small[BLOCKS];
    /* From the heap, however large it is. */
    mallopt(M_MMAP_THRESHOLD, 1 << 26);
    for (int i = 0; i < BLOCKS; i++) small[i] = malloc(SMALL);
    /* The first of them last, so that it is remembered. */
    for (int i = BLOCKS; i-- > 0;) send(small[i], tag), says(tag++, "small", small[i], small[i]);
    for (int i = 0; i < BLOCKS; i++) free(small[i]);
    char *volatile large = malloc(LARGE), *volatile other;
    for (int i = 0; i < others; i++) other = malloc(BLOCK), free(other);
    for (int i = 0; i < BLOCKS; i++)
        if (large <= small[i] && small[i] < large + LARGE) send(small[i], tag), says(tag++, "large", large, small[i]);
    free(large);
}

/* KiB that nobody else has and no file holds. */
static long own_memory(void) {
    char line[256];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status)) sscanf(line, "RssAnon: %ld", &kib);
    fclose(status);
    return kib;
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 1);
    if (!strcmp(argv[1], "coroutines")) coroutines();
    if (!strcmp(argv[1], "turns")) turns();
    if (!strcmp(argv[1], "displaced")) displaced();
    if (!strcmp(argv[1], "parameters")) parameters();
    if (!strcmp(argv[1], "grown")) grown(atoi(argv[2]));
    if (!strcmp(argv[1], "threads")) {
        threads(BEFORE);
        long before = own_memory();
        threads(atoi(argv[2]));
        printf("%ld\n", own_memory() - before);
    }
    MPI_Finalize();
    return 0;
}
