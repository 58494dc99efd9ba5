/* What odd programs share: visits that the program counts itself, in a file that survives whatever
 * becomes of it, and numbers drawn from a seed.
 *
 * The one idea: a visit is counted as begun before the region is entered and as done after it has been
 * left, so that whoever compares knows how much a recorder may have seen at any moment of death. */
#ifndef ODD_H
#define ODD_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "marey.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

struct odd_slot {
    uint64_t key; /* of the name; 0 for a slot that is free */
    char name[24];
    uint64_t begun, done;
};

struct odd_truth {
    uint64_t images; /* programs in processes that have made a visit */
    struct odd_slot slots[32];
};

#define ODD_SHARED_ __attribute__((weak, visibility("hidden")))
ODD_SHARED_ struct odd_truth *odd_truth_ = 0;
ODD_SHARED_ pid_t odd_pid_ = 0;
ODD_SHARED_ int odd_silent_ = 0; /* no more system calls of this header's */
ODD_SHARED_ uint32_t odd_state_ = 0;

static inline struct odd_truth *odd_truth(void) {
    if (!odd_truth_) {
        const char *path = getenv("ODD_TRUTH");
        int file = open(path ? path : "truth", O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        void *at = MAP_FAILED;
        if (file >= 0 && ftruncate(file, sizeof(struct odd_truth)) == 0)
            at = mmap(0, sizeof(struct odd_truth), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (at == MAP_FAILED) abort();
        close(file);
        odd_truth_ = (struct odd_truth *)at;
    }
    return odd_truth_;
}

/* The slot of a name; whoever comes first takes the next free one, in whichever process. */
static inline struct odd_slot *odd_slot(const char *name) {
    struct odd_truth *truth = odd_truth();
    uint64_t key = 1;
    for (const char *at = name; *at; at++) key = key * 1099511628211u + (unsigned char)*at;
    for (struct odd_slot *slot = truth->slots; slot < truth->slots + 32; slot++) {
        uint64_t found = 0;
        if (__atomic_compare_exchange_n(&slot->key, &found, key, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            strncpy(slot->name, name, 23);
        if (found == 0 || found == key) return slot;
    }
    abort();
}

static inline void odd_image(void) {
    if (odd_silent_) return;
    pid_t me = (pid_t)syscall(SYS_getpid);
    if (__atomic_exchange_n(&odd_pid_, me, __ATOMIC_SEQ_CST) != me)
        __atomic_fetch_add(&odd_truth()->images, 1, __ATOMIC_SEQ_CST);
}

#define ODD_BEGIN(slot) (odd_image(), __atomic_fetch_add(&(slot)->begun, 1, __ATOMIC_SEQ_CST))
#define ODD_DONE(slot) __atomic_fetch_add(&(slot)->done, 1, __ATOMIC_SEQ_CST)

/* Visits a region and does something inside. */
#define WITHIN(name, ...)                                       \
    do {                                                        \
        static marey_region region_ = MAREY_REGION(name);       \
        static struct odd_slot *slot_ = 0;                      \
        if (!slot_) slot_ = odd_slot(name);                     \
        ODD_BEGIN(slot_);                                       \
        marey_enter(&region_);                                  \
        __VA_ARGS__;                                            \
        marey_leave(&region_);                                  \
        ODD_DONE(slot_);                                        \
    } while (0)
#define VISIT(name) WITHIN(name, (void)0)
#define VISITS(name, times) for (unsigned n_ = 0, of_ = (times); n_ < of_; n_++) VISIT(name)

/* The next number below `below`, drawn from the seed that main was given. */
static inline uint32_t odd_below(uint32_t below) {
    odd_state_ = odd_state_ * 1664525u + 1013904223u;
    return (odd_state_ >> 8) % below;
}

static inline void odd_seed(const char *word) { odd_state_ = (uint32_t)strtoul(word, 0, 10) | 1; }

/* What a child came to, in a word that is the same each time. */
static inline int odd_wait(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

#define IS(word) (strcmp(words[1], word) == 0)
#define CHECK(condition)                                                    \
    do {                                                                    \
        if (!(condition)) {                                                 \
            printf("%s:%d: %s (%d)\n", __FILE__, __LINE__, #condition, errno); \
            fflush(stdout);                                                 \
            _exit(99);                                                      \
        }                                                                   \
    } while (0)
#endif
