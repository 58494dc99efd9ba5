/* Says where something lies that its caller names: in which module, or where in the frame of the caller; and repeats what the
   caller says that it is. Frames are as the unwinder of the compiler sees them. */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <unwind.h>

struct search { unsigned long address, bias; const char *path; };
struct frames { int number; unsigned long pc, cfa; };

static char executable[4096];

static int visit(struct dl_phdr_info *info, size_t size, void *data) {
    struct search *search = data;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        unsigned long start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && start <= search->address && search->address < start + header->p_memsz) {
            search->bias = info->dlpi_addr;
            search->path = info->dlpi_name[0] ? info->dlpi_name : executable;
        }
    }
    return 0;
}

/* Frame 0 is ours, 1 is the caller's; what the unwinder calls the frame address of 2 is that of 1. */
static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *data) {
    struct frames *frames = data;
    if (frames->number == 1) frames->pc = _Unwind_GetIP(context);
    if (frames->number == 2) frames->cfa = _Unwind_GetCFA(context);
    return frames->number++ == 2 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static inline __attribute__((always_inline)) void tell(const void *address, unsigned long bytes, const char *what, int length) {
    struct frames frames = {0, 0, 0};
    struct search search = {(unsigned long)address, 0, NULL};
    if (readlink("/proc/self/exe", executable, sizeof executable - 1) < 0) exit(1);
    dl_iterate_phdr(visit, &search);
    if (search.path) {
        printf("fixed\t%s\t%lu\t0\t%lu\t%.*s\n", search.path, search.address - search.bias, bytes, length, what);
    } else {
        _Unwind_Backtrace(step, &frames);
        search.address = frames.pc;
        dl_iterate_phdr(visit, &search);
        printf("frame\t%s\t%lu\t%ld\t%lu\t%.*s\n", search.path, frames.pc - search.bias,
               (long)address - (long)frames.cfa, bytes, length, what);
    }
    fflush(stdout);
}

__attribute__((noinline)) void show(const void *address, unsigned long bytes, const char *what) {
    tell(address, bytes, what, 1000);
}

/* Fortran: addresses by loc(), and descriptors of allocatable arrays, which are passed as they are. */
__attribute__((noinline)) void show_(void **address, long *bytes, const char *what, unsigned long length) {
    tell(*address, *bytes, what, length);
}

__attribute__((noinline)) void show1_(void *descriptor, long *bytes, const char *what, unsigned long length) {
    tell(descriptor, *bytes, what, length);
}

__attribute__((noinline)) void show2_(void *descriptor, long *bytes, const char *what, unsigned long length) {
    tell(descriptor, *bytes, what, length);
}
