/* mpe.h — the logging calls of MPE for programs that were instrumented for Jumpshot.
 *
 * A program that includes MPE's header compiles with this one instead, and is linked without any MPE
 * library. Started by `marey record` it finds the functions of the same names in the recorder: its
 * states become regions and its events instants with fields. Started alone it logs nothing; whatever a
 * program can see of the calls, the numbers they give out and the bytes they pack, is the same. With
 * glibc before 2.34 link with -ldl. Define MPE_NOMPI where there is no MPI.
 *
 * The one idea: each function is a few lines here, which call the one that was found by its name, or
 * do the little that a program without a recorder needs. Fortran programs compile mpe_fortran.c with
 * their own files and include mpe_logf.h.
 *
 * What is deliberately absent: MPE's graphics and its other helpers, and CLOG files.
 */
#ifndef MAREY_MPE_H
#define MAREY_MPE_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(MPE_NOMPI) || defined(CLOG_NOMPI)
#ifndef _MPI_NULL_MPI_COMM /* MPE's own stand-in for mpi.h names the type so, too */
#define _MPI_NULL_MPI_COMM
typedef int MPI_Comm;
#endif
#else
#include <mpi.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Constants and types ---------------------------------------------------------------------- */

#define MPE_SUCCESS 0
#define MPE_LOG_OK 0
#define MPE_LOG_LOCKED_OUT 1
#define MPE_LOG_NO_MEMORY 2
#define MPE_LOG_FILE_PROB 3
#define MPE_LOG_NOT_INITIALIZED 4
#define MPE_LOG_PACK_FAIL 5
/* The same as they were written at first. */
#define MPE_Log_OK MPE_LOG_OK
#define MPE_Log_LOCKED_OUT MPE_LOG_LOCKED_OUT
#define MPE_Log_NO_MEMORY MPE_LOG_NO_MEMORY
#define MPE_Log_FILE_PROB MPE_LOG_FILE_PROB
#define MPE_Log_NOT_INITIALIZED MPE_LOG_NOT_INITIALIZED
#define MPE_Log_PACK_FAIL MPE_LOG_PACK_FAIL

/* The bytes that an event may carry, filled by MPE_Log_pack. */
#define MPE_LOG_BYTESIZE (4 * sizeof(double))
typedef char MPE_LOG_BYTES[MPE_LOG_BYTESIZE];

/* ---- The functions of the recorder ------------------------------------------------------------ */

struct marey_mpe_ {
    uint32_t state; /* 0 before anybody looked, 1 if there is no recorder, 2 if there is one */
    /* What a program without a recorder is told. */
    int initialized, next_of_states, next_alone;
    char file[256];

    int (*init)(void);
    int (*is_initialized)(void);
    int (*start)(void);
    int (*stop)(void);
    int (*finish)(const char *);
    const char *(*file_name)(void);
    int (*sync)(void);
    int (*state_of)(MPI_Comm, int, int, const char *, const char *, const char *);
    int (*event_of)(MPI_Comm, int, const char *, const char *, const char *);
    int (*world_state)(int, int, const char *, const char *, const char *);
    int (*world_event)(int, const char *, const char *, const char *);
    int (*number)(void);
    int (*numbers)(int *, int *);
    int (*number_alone)(int *);
    int (*log)(int, int, const char *);
    int (*log_of)(MPI_Comm, int, const char *);
    int (*bare)(int);
    int (*send)(int, int, int);
    int (*receive)(int, int, int);
};

/* Weak, so that all files of an executable or library share one. */
#define MAREY_MPE_SHARED_ __attribute__((weak, visibility("hidden")))
#define MAREY_MPE_COLD_ static __attribute__((cold, noinline, unused))
#define MAREY_MPE_INLINE_ static inline __attribute__((unused))

MAREY_MPE_SHARED_ struct marey_mpe_ marey_mpe_here_ = {
    0, 0, 600, 6000, { 0 }, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
};

/* One function; ISO C has no cast from object to function pointers. */
#define MAREY_MPE_FIND_(field, name)                                       \
    do {                                                                   \
        void *marey_symbol_ = dlsym((void *)0 /* RTLD_DEFAULT */, name);   \
        if (marey_symbol_) {                                               \
            memcpy(&mpe->field, &marey_symbol_, sizeof mpe->field);        \
        } else {                                                           \
            state = 1;                                                     \
        }                                                                  \
    } while (0)

/* Looks for the functions; all of them, or none counts. Threads that look at once find the same. */
MAREY_MPE_COLD_ uint32_t marey_mpe_look_(struct marey_mpe_ *mpe) {
    uint32_t state = 2;
    MAREY_MPE_FIND_(init, "MPE_Init_log");
    MAREY_MPE_FIND_(is_initialized, "MPE_Initialized_logging");
    MAREY_MPE_FIND_(start, "MPE_Start_log");
    MAREY_MPE_FIND_(stop, "MPE_Stop_log");
    MAREY_MPE_FIND_(finish, "MPE_Finish_log");
    MAREY_MPE_FIND_(file_name, "MPE_Log_merged_logfilename");
    MAREY_MPE_FIND_(sync, "MPE_Log_sync_clocks");
    MAREY_MPE_FIND_(state_of, "MPE_Describe_comm_state");
    MAREY_MPE_FIND_(event_of, "MPE_Describe_comm_event");
    MAREY_MPE_FIND_(world_state, "MPE_Describe_info_state");
    MAREY_MPE_FIND_(world_event, "MPE_Describe_info_event");
    MAREY_MPE_FIND_(number, "MPE_Log_get_event_number");
    MAREY_MPE_FIND_(numbers, "MPE_Log_get_state_eventIDs");
    MAREY_MPE_FIND_(number_alone, "MPE_Log_get_solo_eventID");
    MAREY_MPE_FIND_(log, "MPE_Log_event");
    MAREY_MPE_FIND_(log_of, "MPE_Log_comm_event");
    MAREY_MPE_FIND_(bare, "MPE_Log_bare_event");
    MAREY_MPE_FIND_(send, "MPE_Log_send");
    MAREY_MPE_FIND_(receive, "MPE_Log_receive");
    __atomic_store_n(&mpe->state, state, __ATOMIC_RELEASE);
    return state;
}

/* The recorder's functions; null without a recorder. */
MAREY_MPE_INLINE_ const struct marey_mpe_ *marey_mpe_get_(void) {
    uint32_t state = __atomic_load_n(&marey_mpe_here_.state, __ATOMIC_ACQUIRE);
    if (__builtin_expect(state == 0, 0)) state = marey_mpe_look_(&marey_mpe_here_);
    return state == 2 ? &marey_mpe_here_ : 0;
}

/* ---- From the beginning to the end ------------------------------------------------------------ */

/* Begins logging. */
MAREY_MPE_INLINE_ int MPE_Init_log(void) {
    const struct marey_mpe_ *mpe = marey_mpe_get_();
    marey_mpe_here_.initialized = 1;
    return mpe ? mpe->init() : MPE_LOG_OK;
}

/* 0 before MPE_Init_log, 1 after it, 2 after MPE_Finish_log. */
MAREY_MPE_INLINE_ int MPE_Initialized_logging(void) {
    const struct marey_mpe_ *mpe = marey_mpe_get_();
    return mpe ? mpe->is_initialized() : marey_mpe_here_.initialized;
}

/* Goes on logging after MPE_Stop_log. */
MAREY_MPE_INLINE_ int MPE_Start_log(void) {
    const struct marey_mpe_ *mpe = marey_mpe_get_();
    return mpe ? mpe->start() : MPE_LOG_OK;
}

/* From now on events are only counted. */
MAREY_MPE_INLINE_ int MPE_Stop_log(void) {
    const struct marey_mpe_ *mpe = marey_mpe_get_();
    return mpe ? mpe->stop() : MPE_LOG_OK;
}

/* Ends logging. No file is written. */
MAREY_MPE_INLINE_ int MPE_Finish_log(const char *filename) {
    const struct marey_mpe_ *mpe = marey_mpe_get_();
    marey_mpe_here_.initialized = 2;
    snprintf(marey_mpe_here_.file, sizeof marey_mpe_here_.file, "%s.clog2", filename ? filename : "");
    return mpe ? mpe->finish(filename) : MPE_LOG_OK;
}

/* The name that MPE would give to its file, after MPE_Finish_log. */
MAREY_MPE_INLINE_ const char *MPE_Log_merged_logfilename(void) {
    const struct marey_mpe_ *mpe = marey_mpe_get_();
    return mpe ? mpe->file_name() : marey_mpe_here_.file[0] ? marey_mpe_here_.file : 0;
}

/* Nothing needs to be done: the recorder sees to the clocks. */
MAREY_MPE_INLINE_ int MPE_Log_sync_clocks(void) {
    const struct marey_mpe_ *mpe = marey_mpe_get_();
    return mpe ? mpe->sync() : MPE_LOG_OK;
}

MAREY_MPE_INLINE_ void MPE_Log_thread_sync(int threads) { (void)threads; }

/* ---- Numbers ---------------------------------------------------------------------------------- */

/* A number that is not in use, for a state's beginning or end or for an event. */
MAREY_MPE_INLINE_ int MPE_Log_get_event_number(void) {
    const struct marey_mpe_ *mpe = marey_mpe_get_();
    return mpe ? mpe->number() : __atomic_fetch_add(&marey_mpe_here_.next_of_states, 1, __ATOMIC_RELAXED);
}

/* Two of them for a state. */
MAREY_MPE_INLINE_ int MPE_Log_get_state_eventIDs(int *start, int *end) {
    const struct marey_mpe_ *mpe = marey_mpe_get_();
    if (mpe) return mpe->numbers(start, end);
    *start = __atomic_fetch_add(&marey_mpe_here_.next_of_states, 1, __ATOMIC_RELAXED);
    *end = __atomic_fetch_add(&marey_mpe_here_.next_of_states, 1, __ATOMIC_RELAXED);
    return MPE_LOG_OK;
}

/* One for an event that stands alone. */
MAREY_MPE_INLINE_ int MPE_Log_get_solo_eventID(int *event) {
    const struct marey_mpe_ *mpe = marey_mpe_get_();
    if (mpe) return mpe->number_alone(event);
    *event = __atomic_fetch_add(&marey_mpe_here_.next_alone, 1, __ATOMIC_RELAXED);
    return MPE_LOG_OK;
}

/* ---- Describing ------------------------------------------------------------------------------- */

/* The state between the events `start` and `end`. A format such as "step = %d, error = %E" describes the
 * bytes that its events carry: %s text, %h %d %l integers of 2, 4, 8 bytes, %x %X unsigned ones of 4, 8,
 * %e %E floats of 4, 8. One rank may describe for all. */
MAREY_MPE_INLINE_ int MPE_Describe_comm_state(MPI_Comm comm, int start, int end, const char *name,
                                              const char *color, const char *format) {
    const struct marey_mpe_ *mpe = marey_mpe_get_();
    return mpe ? mpe->state_of(comm, start, end, name, color, format) : MPE_LOG_OK;
}

MAREY_MPE_INLINE_ int MPE_Describe_info_state(int start, int end, const char *name, const char *color,
                                              const char *format) {
    const struct marey_mpe_ *mpe = marey_mpe_get_();
    return mpe ? mpe->world_state(start, end, name, color, format) : MPE_LOG_OK;
}

MAREY_MPE_INLINE_ int MPE_Describe_state(int start, int end, const char *name, const char *color) {
    return MPE_Describe_info_state(start, end, name, color, 0);
}

/* An event that stands alone. */
MAREY_MPE_INLINE_ int MPE_Describe_comm_event(MPI_Comm comm, int event, const char *name, const char *color,
                                              const char *format) {
    const struct marey_mpe_ *mpe = marey_mpe_get_();
    return mpe ? mpe->event_of(comm, event, name, color, format) : MPE_LOG_OK;
}

MAREY_MPE_INLINE_ int MPE_Describe_info_event(int event, const char *name, const char *color,
                                              const char *format) {
    const struct marey_mpe_ *mpe = marey_mpe_get_();
    return mpe ? mpe->world_event(event, name, color, format) : MPE_LOG_OK;
}

MAREY_MPE_INLINE_ int MPE_Describe_event(int event, const char *name, const char *color) {
    return MPE_Describe_info_event(event, name, color, 0);
}

/* ---- Logging ---------------------------------------------------------------------------------- */

/* Logs an event. `bytes` is null, packed bytes or text; `data` has no meaning any more. */
MAREY_MPE_INLINE_ int MPE_Log_event(int event, int data, const char *bytes) {
    const struct marey_mpe_ *mpe = marey_mpe_get_();
    return mpe ? mpe->log(event, data, bytes) : MPE_LOG_OK;
}

MAREY_MPE_INLINE_ int MPE_Log_info_event(int event, const char *bytes) {
    return MPE_Log_event(event, 0, bytes);
}

MAREY_MPE_INLINE_ int MPE_Log_comm_event(MPI_Comm comm, int event, const char *bytes) {
    const struct marey_mpe_ *mpe = marey_mpe_get_();
    return mpe ? mpe->log_of(comm, event, bytes) : MPE_LOG_OK;
}

MAREY_MPE_INLINE_ int MPE_Log_bare_event(int event) {
    const struct marey_mpe_ *mpe = marey_mpe_get_();
    return mpe ? mpe->bare(event) : MPE_LOG_OK;
}

/* A message that MPI does not know of. */
MAREY_MPE_INLINE_ int MPE_Log_send(int receiver, int tag, int size) {
    const struct marey_mpe_ *mpe = marey_mpe_get_();
    return mpe ? mpe->send(receiver, tag, size) : MPE_LOG_OK;
}

MAREY_MPE_INLINE_ int MPE_Log_receive(int sender, int tag, int size) {
    const struct marey_mpe_ *mpe = marey_mpe_get_();
    return mpe ? mpe->receive(sender, tag, size) : MPE_LOG_OK;
}

MAREY_MPE_INLINE_ int MPE_Log_comm_send(MPI_Comm comm, int receiver, int tag, int size) {
    (void)comm;
    return MPE_Log_send(receiver, tag, size);
}

MAREY_MPE_INLINE_ int MPE_Log_comm_receive(MPI_Comm comm, int sender, int tag, int size) {
    (void)comm;
    return MPE_Log_receive(sender, tag, size);
}

/* Adds `count` units of `data` to the bytes of an event, behind `*position`: big-endian, text with its
 * length in two bytes before it. */
MAREY_MPE_INLINE_ int MPE_Log_pack(MPE_LOG_BYTES bytes, int *position, char token, int count, const void *data) {
    const char *from = (const char *)data;
    size_t unit = 1, head = 0, at, idx;
    switch (token) {
    case 's': head = 2; break;
    case 'h': unit = 2; break;
    case 'd': case 'x': case 'e': unit = 4; break;
    case 'l': case 'X': case 'E': unit = 8; break;
    default: return MPE_LOG_PACK_FAIL;
    }
    if (count < 0 || *position < 0) return MPE_LOG_PACK_FAIL;
    at = (size_t)*position;
    if (at + head + unit * (size_t)count > MPE_LOG_BYTESIZE) return MPE_LOG_PACK_FAIL;
    if (head) {
        bytes[at++] = (char)(count >> 8);
        bytes[at++] = (char)count;
    }
    for (idx = 0; idx < unit * (size_t)count; idx++) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        bytes[at++] = from[idx - idx % unit + (unit - 1 - idx % unit)];
#else
        bytes[at++] = from[idx];
#endif
    }
    *position = (int)at;
    return MPE_LOG_OK;
}

/* ---- One rank after the other ----------------------------------------------------------------- */

/* What stands between these two is done by `at_once` ranks of the communicator at a time, in their
 * order. All ranks call both. */
MAREY_MPE_INLINE_ void MPE_Seq_begin(MPI_Comm comm, int at_once) {
#if defined(MPE_NOMPI) || defined(CLOG_NOMPI)
    (void)comm, (void)at_once;
#else
    int rank, turn;
    MPI_Comm_rank(comm, &rank);
    /* Each rank takes part in all barriers: in those before its turn when it comes. */
    for (turn = rank / (at_once < 1 ? 1 : at_once); turn > 0; turn--) MPI_Barrier(comm);
#endif
}

MAREY_MPE_INLINE_ void MPE_Seq_end(MPI_Comm comm, int at_once) {
#if defined(MPE_NOMPI) || defined(CLOG_NOMPI)
    (void)comm, (void)at_once;
#else
    int rank, size, turn;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (at_once < 1) at_once = 1;
    for (turn = rank / at_once; turn <= (size - 1) / at_once; turn++) MPI_Barrier(comm);
#endif
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MAREY_MPE_H */
