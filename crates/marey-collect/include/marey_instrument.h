/* marey_instrument.h — what guards call that `marey instrument` has put into functions of C and C++.
 *
 * The one idea: a guard must stand on the line of the brace that it follows, in text that knows nothing of this
 * file: so it declares the two functions below itself, and their definitions stand at the end of each file that has
 * guards, where they move no line. Weak and hidden, they are one in each executable or library.
 *
 * Started by `marey record` the program finds the recorder; started alone, a guard looks at one variable. C90 and
 * C++98 on, GCC and Clang, Linux; nothing is included, since that could take a choice from files that include this one.
 *
 * What is deliberately absent: everything else that a program may want to say; marey.h is for that. The layouts here are
 * those of crates/marey-measure/src/table.rs.
 */
#ifndef MAREY_INSTRUMENT_H
#define MAREY_INSTRUMENT_H
#if defined(__GNUC__) && !defined(__ASSEMBLER__)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wredundant-decls"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-declarations"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
#pragma GCC diagnostic ignored "-Wundef"

#ifdef __cplusplus
extern "C" {
#endif

/* A function or a loop; guards have it under a name of their own. */
struct marey_instrument_site {
    const char *name;
    const char *file;
    unsigned line;
    unsigned id; /* its site's number plus one; 0 before it has one */
};

/* `RuntimeTable` in Rust, as far as it is used. */
struct marey_instrument_runtime {
    unsigned abi, size;
    unsigned char *modes;
    void *(*thread)(void);
    unsigned (*region)(const char *, __SIZE_TYPE__, const char *, __SIZE_TYPE__, unsigned);
    void (*unused[12])(void);
    void (*enter_here)(unsigned);
    void (*leave_here)(unsigned);
};

#define MAREY_INSTRUMENT_ABI 3u
#define MAREY_INSTRUMENT_NONE (~0u)
#define MAREY_INSTRUMENT_OFF 1
#define MAREY_INSTRUMENT_NOT_LOOKED ((const struct marey_instrument_runtime *)1)
#define MAREY_INSTRUMENT_SHARED __attribute__((__weak__, __visibility__("hidden")))
/* Guards of C++ ask the assembler for addresses, which optimisation at link time does not see. */
#if defined(__clang__)
#define MAREY_INSTRUMENT_KEPT __attribute__((__noinline__, __used__))
#else
#define MAREY_INSTRUMENT_KEPT __attribute__((__noinline__, __used__, __externally_visible__))
#endif
#if defined(__PIC__) && !defined(__PIE__) && defined(__gnu_linux__)
#define MAREY_INSTRUMENT_TLS __attribute__((__weak__, __visibility__("hidden"), __tls_model__("initial-exec")))
#else
#define MAREY_INSTRUMENT_TLS MAREY_INSTRUMENT_SHARED
#endif

MAREY_INSTRUMENT_SHARED const struct marey_instrument_runtime *marey_instrument_found = MAREY_INSTRUMENT_NOT_LOOKED;

/* Of the thread: 0 is new, 1 is busy making itself or a region known, 2 is known. The recorder may allocate while it does
 * so, and the program's allocator may have guards. */
MAREY_INSTRUMENT_TLS __thread int marey_instrument_state = 0;

/* Found by a weak reference in programs that `marey link` has put the recorder into, else by name; libdl need not be
 * there. */
static const struct marey_instrument_runtime *marey_instrument_linked(unsigned)
    __attribute__((__weakref__("marey_runtime")));
static void *marey_instrument_dlsym(void *, const char *) __attribute__((__weakref__("dlsym")));

__attribute__((__cold__, __noinline__, __unused__)) static const struct marey_instrument_runtime *
marey_instrument_look(void) {
    const struct marey_instrument_runtime *(*get)(unsigned) = 0;
    const struct marey_instrument_runtime *found = 0;
    if (marey_instrument_linked) {
        get = marey_instrument_linked;
    } else if (marey_instrument_dlsym) {
        void *symbol = marey_instrument_dlsym((void *)0, "marey_runtime");
        __builtin_memcpy(&get, &symbol, sizeof get);
    }
    if (get) {
        found = get(MAREY_INSTRUMENT_ABI);
        if (found && (found->abi != MAREY_INSTRUMENT_ABI || found->size < sizeof *found)) found = 0;
    }
    __atomic_store_n(&marey_instrument_found, found, __ATOMIC_RELEASE);
    return found;
}

/* The site, if it was entered and is to be left. */
MAREY_INSTRUMENT_SHARED void *marey_instrument_enter(void *at);
MAREY_INSTRUMENT_KEPT void *marey_instrument_enter(void *at) {
    struct marey_instrument_site *site = (struct marey_instrument_site *)at;
    const struct marey_instrument_runtime *runtime = __atomic_load_n(&marey_instrument_found, __ATOMIC_ACQUIRE);
    unsigned id;
    if (!runtime) return 0;
    if (__builtin_expect(runtime == MAREY_INSTRUMENT_NOT_LOOKED, 0)) {
        runtime = marey_instrument_look();
        if (!runtime) return 0;
    }
    id = __atomic_load_n(&site->id, __ATOMIC_ACQUIRE);
    if (__builtin_expect(marey_instrument_state != 2 || !id, 0)) {
        int is_there;
        if (marey_instrument_state == 1) return 0;
        marey_instrument_state = 1;
        is_there = runtime->thread() != 0;
        if (is_there && !id) {
            id = 1 + runtime->region(site->name, __builtin_strlen(site->name), site->file,
                                     __builtin_strlen(site->file), site->line);
            __atomic_store_n(&site->id, id, __ATOMIC_RELEASE);
        }
        marey_instrument_state = is_there ? 2 : 0;
        if (!is_there || !id) return 0;
    } else if (__atomic_load_n(&runtime->modes, __ATOMIC_RELAXED)[id - 1] == MAREY_INSTRUMENT_OFF) {
        return 0;
    } else if (!runtime->thread()) { /* It is the recorder that counts what a thread does behind its end. */
        return 0;
    }
    runtime->enter_here(id - 1);
    return site;
}

MAREY_INSTRUMENT_SHARED void marey_instrument_leave(void *guard);
MAREY_INSTRUMENT_KEPT void marey_instrument_leave(void *guard) {
    struct marey_instrument_site *site = *(struct marey_instrument_site **)guard;
    if (site) {
        __atomic_load_n(&marey_instrument_found, __ATOMIC_ACQUIRE)->leave_here(
            __atomic_load_n(&site->id, __ATOMIC_RELAXED) - 1);
    }
}

#ifdef __cplusplus
}
#endif
#pragma GCC diagnostic pop
#endif
#endif
