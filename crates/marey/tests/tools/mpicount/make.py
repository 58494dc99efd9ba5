#!/usr/bin/python3
"""Writes a C library that counts MPI calls: the independent truth that recordings are compared with.

    make.py MPI_H OUT.c && gcc -shared -fPIC -O2 -o libmpicount.so OUT.c -ldl
    mpirun -n 4 env MPICOUNT_DIR=DIR LD_PRELOAD=./libmpicount.so ./app

Every process that called MPI leaves DIR/<pid>: `rank <rank in MPI_COMM_WORLD, or -1>` and then one
line `MPI_Send 12` per function that was called. It is written when MPI_Finalize or MPI_Abort is
entered and again when the process ends, so that calls after MPI_Finalize count too.

The one idea: as little as possible in common with the recorder, so that both are not wrong in the
same way. The header is preprocessed by the compiler and read by regular expressions here; the
library is plain C. What both must agree on is what one call is: only the outermost one of a thread
counts, under the name without the P, however the call came in (C by MPI_x, the Fortran layers by
PMPI_x, another preloaded tool that passes an MPI_x on to PMPI_x).

Deliberately absent: MPIX_*, predefined callbacks (MPI_DUP_FN: their addresses are compared), and
messages of any kind: it asks the MPI library itself, behind the back of other tools, for the rank.
"""

import os
import re
import subprocess
import sys

PRELUDE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N @N@
static const char *const names[N] = {@NAMES@};
static unsigned long counts[N];
static int world_rank = -1;
static __thread int depth __attribute__((tls_model("initial-exec")));

/* The MPI library itself, wherever and however it was loaded. */
static int is_mpi(struct dl_phdr_info *info, size_t size, void *path) {
    const char *base = strrchr(info->dlpi_name, '/');
    base = base ? base + 1 : info->dlpi_name;
    Dl_info me;
    (void)size;
    if (dladdr(counts, &me) && me.dli_fbase == (void *)info->dlpi_addr) return 0;
    if (strncmp(base, "@LIBRARY@", sizeof "@LIBRARY@" - 1) != 0) return 0;
    snprintf(path, 4096, "%s", info->dlpi_name);
    return 1;
}
static void *library(void) {
    static void *handle;
    char path[4096];
    if (!handle && dl_iterate_phdr(is_mpi, path)) handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    return handle;
}

/* The next function of that name; not found if the library was loaded for a plugin only (Python). */
static void *resolve(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found && library()) found = dlsym(library(), name);
    if (!found) {
        fprintf(stderr, "mpicount: no %s behind me\n", name);
        abort();
    }
    return found;
}

static void save(void) {
    const char *dir = getenv("MPICOUNT_DIR");
    char path[4096], temporary[4200];
    int saved = errno, any = 0;
    for (int i = 0; i < N; i++) any |= counts[i] != 0;
    if (!dir || !any) return;
    snprintf(path, sizeof path, "%s/%ld", dir, (long)getpid());
    snprintf(temporary, sizeof temporary, "%s/.%ld.tmp", dir, (long)getpid());
    FILE *file = fopen(temporary, "we");
    if (file) {
        fprintf(file, "rank %d\n", world_rank);
        for (int i = 0; i < N; i++)
            if (counts[i]) fprintf(file, "%s %lu\n", names[i], __atomic_load_n(&counts[i], __ATOMIC_RELAXED));
        if (fclose(file) == 0) rename(temporary, path);
    }
    errno = saved;
}
static void forget(void) { memset(counts, 0, sizeof counts); world_rank = -1; depth = 0; }
__attribute__((constructor)) static void begin(void) { pthread_atfork(0, 0, forget); }
__attribute__((destructor)) static void end(void) { save(); }

static void enter(int i, int saves) {
    if (depth++) return;
    __atomic_fetch_add(&counts[i], 1, __ATOMIC_RELAXED);
    if (saves) save();
}
static void leave(int initialises) {
    depth--;
    if (!initialises || depth || !library()) return;
    /* A copy relocation may have moved the object, so the default scope is asked for it. */
    void *object = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
    if (!object) object = dlsym(library(), "ompi_mpi_comm_world");
    long world = object ? (long)object : 0x44000000L;
    int (*ask)(long, int *) = (int (*)(long, int *))dlsym(library(), "PMPI_Comm_rank");
    if (ask) ask(world, &world_rank);
}
static void *cached(void **slot, const char *name) {
    void *f = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (!f) __atomic_store_n(slot, f = resolve(name), __ATOMIC_RELAXED);
    return f;
}
"""

# Arguments are passed on as machine words: no MPI function takes a structure or a float by value.
FUNCTION = """
{kind} {name}({takes}) {{
    static void *slot;
    enter({index}, {saves});
    {kind} result = (({kind} (*)({types}))cached(&slot, "{name}"))({gives});
    leave({initialises});
    return result;
}}
"""


def declarations(header):
    """(return type, name, number of parameters) of all functions that the header declares."""
    command = ["cc", "-E", "-P", "-w", "-DOMPI_OMIT_MPI1_COMPAT_DECLS=0", "-DOMPI_SKIP_MPICXX",
               "-I", os.path.dirname(header), header]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*(?:\([^()]*\))?[^()]*\))*\)\)", " ", text)
    text = re.sub(r"\s+", " ", text)
    pattern = r"(?:^|[;{}])((?: ?\b(?!typedef\b)\w+\b ?\*?)+?) ?\b(P?MPI_\w+) ?\(([^()]*)\) ?(?=;)"
    for kind, name, parameters in re.findall(pattern, text):
        parameters = parameters.strip()
        if re.search(r"[a-z]", name[name.index("_"):]):
            yield kind.strip(), name, 0 if parameters in ("", "void") else parameters.count(",") + 1


def main(header, out):
    with open(header) as file:
        library = "libmpich.so" if "MPICH_VERSION" in file.read() else "libmpi.so"
    functions = {}
    for kind, name, count in declarations(header):
        name = name[1:] if name.startswith("P") else name
        kind = {"int": "int", "double": "double"}.get(kind.split()[-1], "long")
        assert functions.setdefault(name, (kind, count)) == (kind, count), name
    assert len(functions) > 300, f"only {len(functions)} functions in {header}"
    names = sorted(functions)
    text = PRELUDE.replace("@NAMES@", ", ".join(f'"{name}"' for name in names))
    text = text.replace("@N@", str(len(names))).replace("@LIBRARY@", library)
    for index, plain in enumerate(names):
        kind, count = functions[plain]
        variadic = plain == "MPI_Pcontrol"
        # The registers that a variadic call may have filled are handed on as they are.
        args = [f"a{i}" for i in range(6 if variadic else count)]
        for name in (plain, "P" + plain):
            text += FUNCTION.format(
                kind=kind, name=name, index=index, gives=", ".join(args),
                takes=", ".join(f"long {a}" for a in args) or "void",
                types="long, ..." if variadic else ", ".join("long" for _ in args) or "void",
                saves=int(plain in ("MPI_Finalize", "MPI_Abort")),
                initialises=int(plain in ("MPI_Init", "MPI_Init_thread")))
    with open(out, "w") as file:
        file.write(text)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: make.py MPI_H OUT.c")
    main(*sys.argv[1:])
