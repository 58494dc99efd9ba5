/* marey.h — regions, events, counters and lanes of a C or C++ program.
 *
 * A program includes this file and links nothing. Started by `marey record` it finds the runtime
 * that records the process and writes through it; started alone it does nothing, which costs one
 * load and one branch a region. C99 (MAREY_EVENT: C11) and C++11, GCC and Clang, Linux. With
 * glibc before 2.34 link with -ldl. Define MAREY_DISABLE to compile all of it away.
 *
 *     void solve(int n) {
 *         MAREY_SCOPE("solve");
 *         MAREY_EVENT("residual", "iteration", n, "norm", 0.5, "state", "converging");
 *     }
 *
 * The one idea: entering and leaving append to the calling thread's mapped window right here,
 * in the same few instructions as the Rust writer's; everything unusual — a full window, a fork, a
 * signal handler amid a record, a thread that had ended — is a call into the runtime.
 *
 * What is deliberately absent: starting a recorder (`marey record` does), messages and any output.
 * The layouts here are those of the tables in crates/marey-measure/src/{table,thread}.rs.
 */
#ifndef MAREY_H
#define MAREY_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The test whether anything records is always inlined, what follows if the compiler thinks so. */
#define MAREY_INLINE_ static inline __attribute__((always_inline))

/* ---- Regions -------------------------------------------------------------------------------- */

/* A place in the source that is entered and left. Must live as long as the program:
 *     static marey_region r = MAREY_REGION("solve");   marey_enter(&r); …; marey_leave(&r);
 * The runtime copies the name when the region is first entered. */
typedef struct marey_region {
    const char *name;
    const char *file;
    uint32_t line;
    uint32_t id; /* its site's number plus one; 0 before it has one */
} marey_region;

#define MAREY_REGION(name) { (name), __FILE__, __LINE__, 0 }

MAREY_INLINE_ void marey_enter(marey_region *region);
/* Leaves a region. Regions inside it that a longjmp or an exception skipped are left with it. */
MAREY_INLINE_ void marey_leave(marey_region *region);

/* A state of the region's name that need not nest and may end on another thread. */
static inline uint64_t marey_begin(marey_region *region);
static inline void marey_end(uint64_t token);

/* ---- How much is recorded ------------------------------------------------------------------- */

/* From now on keeps events (1) or only adds them up (0). The calling thread changes at once, others when
 * their windows are full. */
static inline void marey_keep(int events);

enum marey_detail { MAREY_OFF, MAREY_COUNT, MAREY_TIME, MAREY_TRACE };

/* From now on records so much of the regions that a pattern fits, as a rule of `marey record --filter` says
 * it; this one counts before all others. 0 if it is no pattern or nothing records. */
static inline int marey_set_detail(enum marey_detail detail, const char *pattern);

/* ---- Counters and lanes --------------------------------------------------------------------- */

/* A quantity with a unit: static marey_counter c = MAREY_COUNTER("cells", "1"); */
typedef struct marey_counter {
    const char *name;
    const char *unit;
    uint32_t id; /* its number plus one; 0 before it has one */
} marey_counter;

#define MAREY_COUNTER(name, unit) { (name), (unit), 0 }

static inline void marey_counter_set(marey_counter *counter, double value);

/* A place of its own that is no thread — a task, a request, a transfer. What is entered on it may
 * happen on different threads, one after the other. */
typedef struct marey_lane {
    uint32_t id;
} marey_lane;

static inline marey_lane marey_lane_new(const char *name);
static inline void marey_lane_enter(marey_lane lane, marey_region *region);
/* Regions inside it that were not left are left with it. */
static inline void marey_lane_leave(marey_lane lane, marey_region *region);

/* ---- Events --------------------------------------------------------------------------------- */

#define MAREY_MAX_FIELDS 16

/* A kind of event (or of attribute, a fact about the innermost open region). Its fields are those
 * of its first event; an event with others becomes a kind of its own under the same name. */
typedef struct marey_kind {
    const char *name;
    uint32_t attribute; /* 1 for attributes */
    uint32_t id;        /* its number plus one; 0 before it has one */
    uint32_t n;
    uint8_t types[MAREY_MAX_FIELDS];
} marey_kind;

#define MAREY_KIND(name) { (name), 0, 0, 0, { 0 } }
#define MAREY_ATTRIBUTE_KIND(name) { (name), 1, 0, 0, { 0 } }

/* An event being made. Field names must stay valid until marey_event_end; fields beyond
 * MAREY_MAX_FIELDS are left out. */
typedef struct marey_event {
    const struct marey_runtime *runtime; /* null: nothing records */
    marey_kind *kind;
    const char *names[MAREY_MAX_FIELDS];
    uint8_t types[MAREY_MAX_FIELDS];
    uint32_t n;
    size_t len, room;
    uint8_t *bytes; /* `fixed`, or from malloc when that is too small */
    uint8_t fixed[256];
} marey_event;

static inline void marey_event_begin(marey_event *event, marey_kind *kind);
static inline void marey_put_u64(marey_event *event, const char *field, uint64_t value);
static inline void marey_put_i64(marey_event *event, const char *field, int64_t value);
static inline void marey_put_f64(marey_event *event, const char *field, double value);
static inline void marey_put_bool(marey_event *event, const char *field, int value);
static inline void marey_put_text(marey_event *event, const char *field, const char *value);
static inline void marey_event_end(marey_event *event);

/* ---- The runtime ---------------------------------------------------------------------------- */

#define MAREY_ABI 3u
#define MAREY_NONE UINT32_MAX

struct marey_open_ {
    uint64_t ticks;
    uint64_t site; /* the site's number; the upper half is 0 (`reserved` in Rust), so that one store does */
};

/* Where visits of a region are counted that is too dear to record: `Place` in Rust. */
struct marey_place_ {
    uint64_t *counter;
    uint64_t cursor;
    uint32_t site, left, stretch, random; /* the site plus one */
};
#define MAREY_PLACES_ 64u

/* A thread's descriptor: `Thread` in Rust. All zeros after a fork and after the thread's end; then
 * `ready` is 0 and the runtime's functions put everything in order. `limit` is 0 where the clock is not
 * the time-stamp counter, which alone is read here. */
struct marey_thread {
    uint64_t cursor, limit, last;
    uint32_t ready, below;
    uint64_t window;
    struct marey_open_ *stack;
    uint32_t depth, max_depth, clock, state;
    struct marey_place_ *tally;
};

struct marey_text_ {
    const char *at;
    size_t len;
};

/* `RuntimeTable` in Rust. Strings are pointer and length. */
struct marey_runtime {
    uint32_t abi, size;
    uint8_t *modes; /* one byte a site; 1 off, 4 trace, 128 and more reduced, anything else: ask the runtime */
    struct marey_thread *(*thread)(void);
    uint32_t (*region)(const char *, size_t, const char *, size_t, uint32_t);
    uint32_t (*enter)(struct marey_thread *, uint32_t);
    void (*leave)(struct marey_thread *, uint32_t);
    uint64_t (*begin)(uint32_t);
    void (*end)(uint64_t);
    uint32_t (*event_kind)(const char *, size_t, uint32_t, const struct marey_text_ *, const uint8_t *,
                           size_t);
    void (*event)(uint32_t, const uint8_t *, size_t);
    void (*attribute)(uint32_t, const uint8_t *, size_t);
    uint32_t (*counter)(const char *, size_t, const char *, size_t);
    void (*count)(uint32_t, double);
    uint32_t (*lane)(const char *, size_t);
    void (*lane_enter)(uint32_t, uint32_t);
    void (*lane_leave)(uint32_t, uint32_t);
    void (*enter_here)(uint32_t);
    void (*leave_here)(uint32_t);
    void (*keep)(uint32_t);
    uint32_t (*detail)(uint32_t, const char *, size_t);
};

/* What marey_runtime_ holds before anybody looked. Null is "nothing records", so that the cheapest
 * test is the one of programs that run alone. */
#define MAREY_NOT_LOOKED_ ((const struct marey_runtime *)1)

/* Both variables are weak, so that all files of an executable or library share one, and hidden, so
 * that each executable and library has its own and reaches it without a table of addresses.
 *
 * A shared library would reach a thread-local variable through a call that may even allocate, which
 * a signal handler must not do. The initial-exec model is one load instead. It is safe with glibc
 * even where the library is loaded by dlopen, because glibc keeps room for such libraries; musl
 * does not and refuses to load them, so there (and with MAREY_TLS_DEFAULT) the compiler chooses.
 * In an executable the compiler's own choice is the best. */
#define MAREY_SHARED_ __attribute__((weak, visibility("hidden")))
#if defined(__PIC__) && !defined(__PIE__) && defined(__GLIBC__) && !defined(MAREY_TLS_DEFAULT)
#define MAREY_TLS_ __attribute__((weak, visibility("hidden"), tls_model("initial-exec")))
#else
#define MAREY_TLS_ MAREY_SHARED_
#endif
#define MAREY_COLD_ __attribute__((cold, noinline, unused))
#define MAREY_RARE_(condition) __builtin_expect(!!(condition), 0)

MAREY_SHARED_ const struct marey_runtime *marey_found_ = MAREY_NOT_LOOKED_;
MAREY_TLS_ __thread struct marey_thread *marey_thread_ = 0;

/* The runtime that `marey link` has linked into the program, null if there is none: a weak reference,
 * since programs that are linked statically have no dlsym that could find it. Theirs would only make the
 * linker warn, so it is not asked for by them (from glibc 2.34 on, which has it in the C library). */
static const struct marey_runtime *marey_linked_(uint32_t) __attribute__((weakref("marey_runtime")));
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
static void *marey_dlsym_(void *, const char *) __attribute__((weakref("dlsym")));
#define MAREY_DLSYM_(handle, name) (marey_dlsym_ ? marey_dlsym_(handle, name) : (void *)0)
#endif
#endif
#ifndef MAREY_DLSYM_
#define MAREY_DLSYM_(handle, name) dlsym(handle, name)
#endif

/* The runtime of the process, null if there is none. Several threads may look at once; they find
 * the same. */
MAREY_COLD_ static const struct marey_runtime *marey_look_(void) {
    const struct marey_runtime *(*get)(uint32_t);
    const struct marey_runtime *found = 0;
    void *symbol;
    if (marey_linked_) {
        get = marey_linked_;
    } else {
        symbol = MAREY_DLSYM_((void *)0 /* RTLD_DEFAULT */, "marey_runtime");
        memcpy(&get, &symbol, sizeof get); /* ISO C has no cast from object to function pointers */
    }
    if (get) {
        found = get(MAREY_ABI);
        if (found && (found->abi != MAREY_ABI || found->size < sizeof *found)) found = 0;
    }
    __atomic_store_n(&marey_found_, found, __ATOMIC_RELEASE);
    return found;
}

MAREY_INLINE_ const struct marey_runtime *marey_get_(void) {
#ifdef MAREY_DISABLE
    return 0;
#else
    const struct marey_runtime *found = __atomic_load_n(&marey_found_, __ATOMIC_ACQUIRE);
    if (!found) return 0;
    return MAREY_RARE_(found == MAREY_NOT_LOOKED_) ? marey_look_() : found;
#endif
}

MAREY_COLD_ static uint32_t marey_define_region_(const struct marey_runtime *runtime, marey_region *region) {
    uint32_t site = runtime->region(region->name, strlen(region->name), region->file, strlen(region->file),
                                    region->line);
    /* Whoever sees the number must also see the mode that was set before it. */
    if (site != MAREY_NONE) __atomic_store_n(&region->id, site + 1, __ATOMIC_RELEASE);
    return site;
}

/* The site of a region; MAREY_NONE if none can be had. */
static inline uint32_t marey_site_(const struct marey_runtime *runtime, marey_region *region) {
    uint32_t id = __atomic_load_n(&region->id, __ATOMIC_ACQUIRE);
    return MAREY_RARE_(id == 0) ? marey_define_region_(runtime, region) : id - 1;
}

/* ---- Entering and leaving ------------------------------------------------------------------- */

#define MAREY_MODE_OFF_ 1
#define MAREY_MODE_TRACE_ 4
#define MAREY_MODE_REDUCED_ 0x80 /* and above: with the place where visits are counted */
#define MAREY_SHORT_SITES_ 192u
#define MAREY_MAX_SHORT_ ((UINT64_C(1) << 49) - 1)
#define MAREY_AT_CURSOR_ 128
/* Orders the compiler's accesses against those of a signal handler on this thread. */
#define MAREY_FENCE_() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Anything but a plain enter: a new region, another mode, a thread without a descriptor. */
MAREY_COLD_ static void marey_enter_rare_(const struct marey_runtime *runtime, marey_region *region) {
    uint32_t site = marey_site_(runtime, region);
    if (!marey_thread_) marey_thread_ = runtime->thread();
    if (site != MAREY_NONE && marey_thread_) runtime->enter(marey_thread_, site);
}

#ifdef __x86_64__
/* The record of an event `delta` ticks after the one before; its length in bytes, 0 if it does not fit. Events as
 * close as 127 ticks are those that must be cheap: theirs is made without finding out how long it is. */
MAREY_INLINE_ uint32_t marey_record_(uint64_t *record, uint64_t opcode, uint64_t delta) {
    uint32_t len;
    if (!MAREY_RARE_(delta >= 128)) {
        *record = opcode | (delta << 1 | 1) << 8;
        return 2;
    }
    if (delta > MAREY_MAX_SHORT_) return *record = 0, 0;
    /* Significant bits divided by seven, rounded up: the bytes of the difference. */
    len = ((64 - (uint32_t)__builtin_clzll(delta) + 6) * 37) >> 8;
    *record = opcode | ((delta << len) | (UINT64_C(1) << (len - 1))) << 8;
    return 1 + len;
}

/* Puts the record at the cursor and makes it count. */
MAREY_INLINE_ void marey_commit_(struct marey_thread *thread, uint64_t cursor, uint64_t ticks, uint64_t record,
                                 uint32_t len) {
    memcpy((void *)(uintptr_t)cursor, &record, sizeof record);
    thread->last = ticks;
    cursor += len;
    thread->cursor = cursor;
    __atomic_store_n((uint64_t *)(uintptr_t)(thread->window + MAREY_AT_CURSOR_), cursor - thread->window,
                     __ATOMIC_RELEASE);
}
#endif

#ifdef __x86_64__
/* Counts a visit, if nothing has been recorded since the last one and it is not one that is timed. In this order, and
 * the addition by one instruction, nothing is lost to a signal handler that comes in between. */
MAREY_INLINE_ int marey_tally_(struct marey_thread *thread, uint32_t id, uint8_t mode) {
    struct marey_place_ *place;
    uint64_t *counter;
    uint32_t left;
    if (!thread->tally) return 0;
    place = &thread->tally[mode % MAREY_PLACES_];
    counter = __atomic_load_n(&place->counter, __ATOMIC_RELAXED);
    left = __atomic_load_n(&place->left, __ATOMIC_RELAXED);
    MAREY_FENCE_();
    if (MAREY_RARE_(place->site != id || place->cursor != thread->cursor || left == 0)) return 0;
    MAREY_FENCE_();
    if (MAREY_RARE_(__atomic_load_n(&place->counter, __ATOMIC_RELAXED) != counter)) return 0;
    place->left = left - 1;
    __asm__ volatile("addq $1, %0" : "+m"(*counter));
    return 1;
}
#endif

static inline void marey_enter_(const struct marey_runtime *runtime, marey_region *region) {
#ifdef __x86_64__
    {
        uint32_t id = __atomic_load_n(&region->id, __ATOMIC_ACQUIRE);
        struct marey_thread *thread = marey_thread_;
        uint8_t *modes = __atomic_load_n(&runtime->modes, __ATOMIC_RELAXED);
        uint8_t mode = id ? __atomic_load_n(&modes[id - 1], __ATOMIC_RELAXED) : 0;
        if (mode == MAREY_MODE_TRACE_ && thread && thread->ready && id - 1 < MAREY_SHORT_SITES_) {
            uint64_t cursor, ticks, record;
            uint32_t depth, len;
            thread->ready = 0; /* From here to the last line a signal handler finds the thread busy. */
            MAREY_FENCE_();
            cursor = thread->cursor;
            depth = thread->depth;
            ticks = __builtin_ia32_rdtsc();
            len = marey_record_(&record, 0x40 + (uint64_t)(id - 1), ticks - thread->last);
            if (!MAREY_RARE_(!len || cursor >= thread->limit || depth >= thread->max_depth)) {
                struct marey_open_ *open = &thread->stack[depth];
                open->ticks = ticks;
                open->site = id - 1;
                thread->depth = depth + 1;
                marey_commit_(thread, cursor, ticks, record, len);
                MAREY_FENCE_();
                thread->ready = 1;
                return;
            }
            thread->ready = 1;
        }
        if (mode == MAREY_MODE_OFF_) return;
        if (mode >= MAREY_MODE_REDUCED_ && thread && marey_tally_(thread, id, mode)) return;
    }
#endif
    marey_enter_rare_(runtime, region);
}

MAREY_INLINE_ void marey_enter(marey_region *region) {
    const struct marey_runtime *runtime = marey_get_();
    if (runtime) marey_enter_(runtime, region);
}

MAREY_COLD_ static void marey_leave_rare_(const struct marey_runtime *runtime, uint32_t id) {
    if (id && marey_thread_) runtime->leave(marey_thread_, id - 1);
}

static inline void marey_leave_(const struct marey_runtime *runtime, marey_region *region) {
    uint32_t id = __atomic_load_n(&region->id, __ATOMIC_ACQUIRE);
#ifdef __x86_64__
    {
        struct marey_thread *thread = marey_thread_;
        if (thread && thread->ready && thread->below == 0) {
            uint64_t cursor, ticks, record;
            uint32_t depth = thread->depth, len;
            if (MAREY_RARE_(!depth || (uint32_t)thread->stack[depth - 1].site != id - 1)) {
                /* Most visits of a region that is reduced were counted, and not entered. */
                if (id && __atomic_load_n(&runtime->modes[id - 1], __ATOMIC_RELAXED) >= MAREY_MODE_REDUCED_) return;
                marey_leave_rare_(runtime, id);
                return;
            }
            thread->ready = 0;
            MAREY_FENCE_();
            cursor = thread->cursor;
            ticks = __builtin_ia32_rdtsc();
            len = marey_record_(&record, 0x01, ticks - thread->last);
            if (!MAREY_RARE_(!len || cursor >= thread->limit)) {
                thread->depth = depth - 1;
                marey_commit_(thread, cursor, ticks, record, len);
                MAREY_FENCE_();
                thread->ready = 1;
                return;
            }
            thread->ready = 1;
        }
    }
#endif
    marey_leave_rare_(runtime, id);
}

MAREY_INLINE_ void marey_leave(marey_region *region) {
    const struct marey_runtime *runtime = marey_get_();
    if (runtime) marey_leave_(runtime, region);
}

static inline uint64_t marey_begin(marey_region *region) {
    const struct marey_runtime *runtime = marey_get_();
    uint32_t site = runtime ? marey_site_(runtime, region) : MAREY_NONE;
    return site == MAREY_NONE ? 0 : runtime->begin(site);
}

static inline void marey_end(uint64_t token) {
    const struct marey_runtime *runtime = marey_get_();
    if (runtime && token) runtime->end(token);
}

static inline void marey_keep(int events) {
    const struct marey_runtime *runtime = marey_get_();
    if (runtime) runtime->keep(events != 0);
}

static inline int marey_set_detail(enum marey_detail detail, const char *pattern) {
    const struct marey_runtime *runtime = marey_get_();
    return runtime && runtime->detail((uint32_t)detail, pattern, strlen(pattern)) != 0;
}

/* ---- Counters and lanes, continued ---------------------------------------------------------- */

static inline void marey_counter_set(marey_counter *counter, double value) {
    const struct marey_runtime *runtime = marey_get_();
    uint32_t id;
    if (!runtime) return;
    id = __atomic_load_n(&counter->id, __ATOMIC_RELAXED);
    if (MAREY_RARE_(id == 0)) {
        id = runtime->counter(counter->name, strlen(counter->name), counter->unit, strlen(counter->unit)) + 1;
        if (id == 0) return; /* MAREY_NONE */
        __atomic_store_n(&counter->id, id, __ATOMIC_RELAXED);
    }
    runtime->count(id - 1, value);
}

static inline marey_lane marey_lane_new(const char *name) {
    const struct marey_runtime *runtime = marey_get_();
    marey_lane lane;
    lane.id = runtime ? runtime->lane(name, strlen(name)) : MAREY_NONE;
    return lane;
}

static inline void marey_lane_enter(marey_lane lane, marey_region *region) {
    const struct marey_runtime *runtime = marey_get_();
    if (runtime && lane.id != MAREY_NONE) {
        uint32_t site = marey_site_(runtime, region);
        if (site != MAREY_NONE) runtime->lane_enter(lane.id, site);
    }
}

static inline void marey_lane_leave(marey_lane lane, marey_region *region) {
    const struct marey_runtime *runtime = marey_get_();
    if (runtime && lane.id != MAREY_NONE) {
        uint32_t site = marey_site_(runtime, region);
        if (site != MAREY_NONE) runtime->lane_leave(lane.id, site);
    }
}

/* ---- Events, continued ---------------------------------------------------------------------- */

static inline void marey_event_begin(marey_event *event, marey_kind *kind) {
    event->runtime = marey_get_();
    event->kind = kind;
    event->n = 0;
    event->len = 0;
    event->room = sizeof event->fixed;
    event->bytes = event->fixed;
}

/* Begins a field and gives the place of its `len` bytes; null to leave the field out. */
static inline uint8_t *marey_field_(marey_event *event, const char *name, uint8_t type, size_t len) {
    if (!event->runtime || event->n == MAREY_MAX_FIELDS) return 0;
    if (event->room - event->len < len) {
        size_t room = 2 * event->room + len;
        uint8_t *bytes = (uint8_t *)malloc(room);
        if (!bytes) return 0;
        memcpy(bytes, event->bytes, event->len);
        if (event->bytes != event->fixed) free(event->bytes);
        event->bytes = bytes;
        event->room = room;
    }
    event->names[event->n] = name;
    event->types[event->n++] = type;
    return event->bytes + event->len;
}

/* Writes a prefix integer, which takes at most nine bytes, and gives its end. */
static inline uint8_t *marey_number_(uint8_t *at, uint64_t value) {
    if (value < UINT64_C(1) << 56) {
        uint32_t len = ((64 - (uint32_t)__builtin_clzll(value | 1) + 6) * 37) >> 8, idx;
        uint64_t word = (value << len) | (UINT64_C(1) << (len - 1));
        for (idx = 0; idx < len; idx++) at[idx] = (uint8_t)(word >> 8 * idx);
        return at + len;
    } else {
        uint32_t idx;
        *at++ = 0;
        for (idx = 0; idx < 8; idx++) *at++ = (uint8_t)(value >> 8 * idx);
        return at;
    }
}

static inline void marey_put_u64(marey_event *event, const char *field, uint64_t value) {
    uint8_t *at = marey_field_(event, field, 0, 9);
    if (at) event->len = (size_t)(marey_number_(at, value) - event->bytes);
}

static inline void marey_put_i64(marey_event *event, const char *field, int64_t value) {
    uint8_t *at = marey_field_(event, field, 1, 9);
    uint64_t zigzag = (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
    if (at) event->len = (size_t)(marey_number_(at, zigzag) - event->bytes);
}

static inline void marey_put_f64(marey_event *event, const char *field, double value) {
    uint8_t *at = marey_field_(event, field, 2, 8);
    uint64_t bits;
    uint32_t idx;
    memcpy(&bits, &value, sizeof bits);
    if (!at) return;
    for (idx = 0; idx < 8; idx++) at[idx] = (uint8_t)(bits >> 8 * idx);
    event->len += 8;
}

static inline void marey_put_bool(marey_event *event, const char *field, int value) {
    uint8_t *at = marey_field_(event, field, 3, 1);
    if (!at) return;
    *at = value != 0;
    event->len += 1;
}

/* Text of any length; null stands for no text. */
static inline void marey_put_text(marey_event *event, const char *field, const char *value) {
    size_t len = value && event->runtime ? strlen(value) : 0;
    uint8_t *at = marey_field_(event, field, 4, 9 + len);
    if (!at) return;
    at = marey_number_(at, len);
    if (len) memcpy(at, value, len);
    event->len = (size_t)(at - event->bytes) + len;
}

MAREY_COLD_ static uint32_t marey_define_kind_(marey_event *event) {
    struct marey_text_ names[MAREY_MAX_FIELDS];
    marey_kind *kind = event->kind;
    uint32_t id, idx;
    for (idx = 0; idx < event->n; idx++) {
        names[idx].at = event->names[idx];
        names[idx].len = strlen(event->names[idx]);
    }
    id = event->runtime->event_kind(kind->name, strlen(kind->name), kind->attribute, names, event->types,
                                    event->n);
    if (id != MAREY_NONE && __atomic_load_n(&kind->id, __ATOMIC_RELAXED) == 0) {
        /* Threads that define a kind at once write the same types. */
        kind->n = event->n;
        memcpy(kind->types, event->types, event->n);
        __atomic_store_n(&kind->id, id + 1, __ATOMIC_RELEASE);
    }
    return id;
}

static inline void marey_event_end(marey_event *event) {
    marey_kind *kind = event->kind;
    uint32_t id;
    if (!event->runtime) return;
    id = __atomic_load_n(&kind->id, __ATOMIC_ACQUIRE);
    if (MAREY_RARE_(id == 0 || kind->n != event->n || memcmp(kind->types, event->types, event->n) != 0)) {
        id = marey_define_kind_(event) + 1; /* 0 for MAREY_NONE */
    }
    if (id) (kind->attribute ? event->runtime->attribute : event->runtime->event)(id - 1, event->bytes, event->len);
    if (event->bytes != event->fixed) free(event->bytes);
}

#ifdef __cplusplus
} /* extern "C" */

/* ---- Scopes and typed fields in C++ --------------------------------------------------------- */

namespace marey {

/* Enters a region and leaves it at the end of the block, by whatever way. */
class scope {
  public:
    explicit scope(marey_region &region) : region_(region) { marey_enter(&region_); }
    ~scope() { marey_leave(&region_); }

  private:
    scope(const scope &);
    scope &operator=(const scope &);
    marey_region &region_;
};

inline void put(marey_event *event, const char *field, bool value) { marey_put_bool(event, field, value); }
inline void put(marey_event *event, const char *field, int value) { marey_put_i64(event, field, value); }
inline void put(marey_event *event, const char *field, long value) { marey_put_i64(event, field, value); }
inline void put(marey_event *event, const char *field, long long value) { marey_put_i64(event, field, value); }
inline void put(marey_event *event, const char *field, unsigned value) { marey_put_u64(event, field, value); }
inline void put(marey_event *event, const char *field, unsigned long value) { marey_put_u64(event, field, value); }
inline void put(marey_event *event, const char *field, unsigned long long value) {
    marey_put_u64(event, field, value);
}
inline void put(marey_event *event, const char *field, double value) { marey_put_f64(event, field, value); }
inline void put(marey_event *event, const char *field, const char *value) { marey_put_text(event, field, value); }

} /* namespace marey */

#define MAREY_SCOPE_(id, name)                             \
    static marey_region marey_region_##id = MAREY_REGION(name); \
    marey::scope marey_scope_##id(marey_region_##id)
#define MAREY_PUT_(field, value) marey::put(&marey_event_here_, (field), (value));

#else /* C */

/* ---- Scopes and typed fields in C ----------------------------------------------------------- */

MAREY_INLINE_ marey_region *marey_scope_enter_(marey_region *region) {
    marey_enter(region);
    return region;
}

MAREY_INLINE_ void marey_scope_leave_(marey_region **region) { marey_leave(*region); }

#define MAREY_SCOPE_(id, name)                                                                       \
    static marey_region marey_region_##id = MAREY_REGION(name);                                           \
    marey_region *marey_scope_##id __attribute__((cleanup(marey_scope_leave_), unused)) = \
        marey_scope_enter_(&marey_region_##id)

#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define MAREY_PUT_(field, value)            \
    _Generic((value),                       \
        _Bool: marey_put_bool,              \
        char: marey_put_i64,                \
        signed char: marey_put_i64,         \
        short: marey_put_i64,               \
        int: marey_put_i64,                 \
        long: marey_put_i64,                \
        long long: marey_put_i64,           \
        unsigned char: marey_put_u64,       \
        unsigned short: marey_put_u64,      \
        unsigned: marey_put_u64,            \
        unsigned long: marey_put_u64,       \
        unsigned long long: marey_put_u64,  \
        float: marey_put_f64,               \
        double: marey_put_f64,              \
        char *: marey_put_text,             \
        const char *: marey_put_text)(&marey_event_here_, (field), (value));
#endif
#endif

/* Enters a region that is left at the end of the enclosing block. */
#define MAREY_SCOPE(name) MAREY_SCOPE_AT_(__LINE__, name)
#define MAREY_SCOPE_AT_(line, name) MAREY_SCOPE_(line, name)

#ifdef MAREY_PUT_
/* MAREY_EVENT("name", "field", value, …) records an event with up to eight fields: integers,
 * floats, bools and text. In C99 use marey_event_begin, marey_put_… and marey_event_end. */
#define MAREY_EVENT(...) MAREY_RECORD_(0, __VA_ARGS__, 0)
/* Adds facts to the innermost open region, like MAREY_EVENT. */
#define MAREY_ATTRIBUTE(...) MAREY_RECORD_(1, __VA_ARGS__, 0)

#define MAREY_RECORD_(attribute, name, ...)                                            \
    do {                                                                               \
        if (marey_get_()) {                                                            \
            static marey_kind marey_kind_here_ = { name, attribute, 0, 0, { 0 } };     \
            marey_event marey_event_here_;                                             \
            marey_event_begin(&marey_event_here_, &marey_kind_here_);                  \
            MAREY_FIELDS_(__VA_ARGS__)                                                 \
            marey_event_end(&marey_event_here_);                                       \
        }                                                                              \
    } while (0)

/* A zero follows the last field, so that there is always an argument to drop. */
#define MAREY_PICK_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, macro, ...) macro
#define MAREY_FIELDS_(...)                                                                               \
    MAREY_PICK_(__VA_ARGS__, MAREY_F8_, x, MAREY_F7_, x, MAREY_F6_, x, MAREY_F5_, x, MAREY_F4_, x,       \
                MAREY_F3_, x, MAREY_F2_, x, MAREY_F1_, x, MAREY_F0_, x)                                  \
    (__VA_ARGS__)
#define MAREY_F0_(zero)
#define MAREY_F1_(f, v, ...) MAREY_PUT_(f, v)
#define MAREY_F2_(f, v, ...) MAREY_PUT_(f, v) MAREY_F1_(__VA_ARGS__)
#define MAREY_F3_(f, v, ...) MAREY_PUT_(f, v) MAREY_F2_(__VA_ARGS__)
#define MAREY_F4_(f, v, ...) MAREY_PUT_(f, v) MAREY_F3_(__VA_ARGS__)
#define MAREY_F5_(f, v, ...) MAREY_PUT_(f, v) MAREY_F4_(__VA_ARGS__)
#define MAREY_F6_(f, v, ...) MAREY_PUT_(f, v) MAREY_F5_(__VA_ARGS__)
#define MAREY_F7_(f, v, ...) MAREY_PUT_(f, v) MAREY_F6_(__VA_ARGS__)
#define MAREY_F8_(f, v, ...) MAREY_PUT_(f, v) MAREY_F7_(__VA_ARGS__)
#endif

#endif /* MAREY_H */
