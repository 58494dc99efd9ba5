/* What lies where a message is sent from, by a log of all blocks: preloaded beside the recorder, slow and simple.
   A line for each message that is sent, in their order, in the file `blocks.<rank>`:
   address, and then `heap`, beginning of the block, its size, and the calls on the way to it, innermost first,
   as library+address; `stack`; or `library`, its name and address there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEP = 24, MOST = 1 << 20 };

struct block {
    char *from;
    size_t size;
    int depth;
    void *calls[DEEP];
};

/* Blocks that are there, in no order; what is freed makes room for the last. */
static struct block *blocks;
static int n_blocks, is_lost;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int is_inside;
static void *(*real_malloc)(size_t), *(*real_calloc)(size_t, size_t), *(*real_realloc)(void *, size_t);
static void (*real_free)(void *);
static int (*real_posix_memalign)(void **, size_t, size_t);
static void *(*real_aligned_alloc)(size_t, size_t), *(*real_memalign)(size_t, size_t);

/* What `dlsym` asks for before `calloc` is known. */
static char early[4096];
static size_t n_early;

static void find(void) {
    is_inside++;
    real_malloc = dlsym(RTLD_NEXT, "malloc");
    real_calloc = dlsym(RTLD_NEXT, "calloc");
    real_realloc = dlsym(RTLD_NEXT, "realloc");
    real_free = dlsym(RTLD_NEXT, "free");
    real_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
    real_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
    real_memalign = dlsym(RTLD_NEXT, "memalign");
    is_inside--;
}

static void born(void *from, size_t size) {
    if (!from || is_inside || size < 4096) return;
    is_inside++;
    struct block block = {from, size, 0, {0}};
    block.depth = backtrace(block.calls, DEEP);
    pthread_mutex_lock(&lock);
    if (!blocks) blocks = real_calloc(MOST, sizeof *blocks);
    if (n_blocks < MOST) blocks[n_blocks++] = block;
    else is_lost = 1;
    pthread_mutex_unlock(&lock);
    is_inside--;
}

static void gone(void *from) {
    if (!from || is_inside) return;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n_blocks; i++)
        if (blocks[i].from == from) {
            blocks[i] = blocks[--n_blocks];
            break;
        }
    pthread_mutex_unlock(&lock);
}

void *malloc(size_t size) {
    if (!real_malloc) find();
    void *from = real_malloc(size);
    born(from, size);
    return from;
}

void *calloc(size_t n, size_t size) {
    if (!real_calloc) {
        if (is_inside) {
            void *from = early + n_early;
            n_early += (n * size + 15) & ~(size_t)15;
            return n_early <= sizeof early ? from : NULL;
        }
        find();
    }
    void *from = real_calloc(n, size);
    born(from, n * size);
    return from;
}

void *realloc(void *old, size_t size) {
    if (!real_realloc) find();
    gone(old);
    void *from = real_realloc(old, size);
    born(from, size);
    return from;
}

void free(void *from) {
    if ((char *)from >= early && (char *)from < early + sizeof early) return;
    if (!real_free) find();
    gone(from);
    real_free(from);
}

int posix_memalign(void **from, size_t to, size_t size) {
    if (!real_posix_memalign) find();
    int error = real_posix_memalign(from, to, size);
    if (!error) born(*from, size);
    return error;
}

void *aligned_alloc(size_t to, size_t size) {
    if (!real_aligned_alloc) find();
    void *from = real_aligned_alloc(to, size);
    born(from, size);
    return from;
}

void *memalign(size_t to, size_t size) {
    if (!real_memalign) find();
    void *from = real_memalign(to, size);
    born(from, size);
    return from;
}

static void place(FILE *file, const void *at) {
    Dl_info info;
    const char *name = "?";
    unsigned long address = (unsigned long)at;
    if (dladdr(at, &info) && info.dli_fname) {
        name = strrchr(info.dli_fname, '/');
        name = name ? name + 1 : info.dli_fname;
        address -= (unsigned long)info.dli_fbase;
    }
    fprintf(file, "\t%s+%lu", name, address);
}

static FILE *file;

static void sent(const void *buffer) {
    is_inside++;
    if (!file) {
        int rank;
        char name[64];
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        snprintf(name, sizeof name, "blocks.%d", rank);
        file = fopen(name, "w");
    }
    const char *at = buffer;
    unsigned long address = (unsigned long)buffer;
    fprintf(file, "%lu", address);
    pthread_mutex_lock(&lock);
    const struct block *in = NULL;
    for (int i = 0; i < n_blocks; i++)
        if (blocks[i].from <= at && at < blocks[i].from + blocks[i].size) in = &blocks[i];
    Dl_info info;
    char here;
    if (in) {
        fprintf(file, "\theap\t%lu\t%zu", (unsigned long)in->from, in->size);
        for (int i = 0; i < in->depth; i++) place(file, in->calls[i]);
    } else if (address > (unsigned long)&here && address < (unsigned long)&here + (8 << 20)) {
        fprintf(file, "\tstack");
    } else if (dladdr(buffer, &info)) {
        fprintf(file, "\tlibrary");
        place(file, buffer);
    } else {
        fprintf(file, "\t%s", is_lost ? "lost" : "small");
    }
    fprintf(file, "\n");
    pthread_mutex_unlock(&lock);
    is_inside--;
}

#define SEND(name, ...) \
    int name(const void *buffer, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm __VA_ARGS__)
#define NEXT(name) __typeof__(&name) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

SEND(MPI_Send) {
    NEXT(MPI_Send);
    if (to != MPI_PROC_NULL) sent(buffer);
    return next(buffer, n, type, to, tag, comm);
}

SEND(MPI_Rsend) {
    NEXT(MPI_Rsend);
    if (to != MPI_PROC_NULL) sent(buffer);
    return next(buffer, n, type, to, tag, comm);
}

SEND(MPI_Isend, , MPI_Request *request) {
    NEXT(MPI_Isend);
    if (to != MPI_PROC_NULL) sent(buffer);
    return next(buffer, n, type, to, tag, comm, request);
}

int MPI_Sendrecv(const void *buffer, int n, MPI_Datatype type, int to, int tag, void *into, int m,
                 MPI_Datatype received, int from, int from_tag, MPI_Comm comm, MPI_Status *status) {
    NEXT(MPI_Sendrecv);
    if (to != MPI_PROC_NULL) sent(buffer);
    return next(buffer, n, type, to, tag, into, m, received, from, from_tag, comm, status);
}

int MPI_Finalize(void) {
    NEXT(MPI_Finalize);
    is_inside++;
    if (file) fclose(file);
    file = NULL;
    is_inside--;
    return next();
}
