/* Prints where it was called from: module, virtual address in its file, and what the caller says of itself. */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct search { unsigned long address, bias; const char *path; };

static int visit(struct dl_phdr_info *info, size_t size, void *data) {
    struct search *search = data;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        unsigned long start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && start <= search->address && search->address < start + header->p_memsz) {
            search->bias = info->dlpi_addr;
            search->path = info->dlpi_name;
        }
    }
    return 0;
}

void probe(int line, const char *function) {
    struct search search = {(unsigned long)__builtin_return_address(0), 0, ""};
    char executable[4096] = {0};
    dl_iterate_phdr(visit, &search);
    if (search.path[0] == 0) {
        if (readlink("/proc/self/exe", executable, sizeof executable - 1) < 0) exit(1);
        search.path = executable;
    }
    printf("%s\t%lx\t%d\t%s\n", search.path, search.address - search.bias, line, function);
    fflush(stdout);
}

void probe_fortran_(const int *line, const char *function, unsigned long length) {
    char name[256] = {0};
    struct search search = {(unsigned long)__builtin_return_address(0), 0, ""};
    char executable[4096] = {0};
    for (unsigned long i = 0; i < length && i < 255 && function[i] != ' '; i++) name[i] = function[i];
    dl_iterate_phdr(visit, &search);
    if (search.path[0] == 0) {
        if (readlink("/proc/self/exe", executable, sizeof executable - 1) < 0) exit(1);
        search.path = executable;
    }
    printf("%s\t%lx\t%d\t%s\n", search.path, search.address - search.bias, *line, name);
    fflush(stdout);
}
