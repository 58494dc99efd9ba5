/* What Debian's MPICH needs and Debian has only as shared libraries: UCX's hooks of memory functions and
 * udev. They say that they can do nothing, and the libraries do without.
 *
 * With these, MPICH's own static library and the rest of it make a program with nothing dynamic. */
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

int ucm_set_event_handler(int events, int priority, void *handler, void *arg) {
    (void)events, (void)priority, (void)handler, (void)arg;
    return -22; /* unsupported */
}
void ucm_unset_event_handler(int events, void *handler, void *arg) { (void)events, (void)handler, (void)arg; }
int ucm_set_global_opts(const void *options) { return (void)options, 0; }
void ucm_parse_proc_self_maps(void *callback, void *arg) { (void)callback, (void)arg; }
void *ucm_orig_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset) {
    return (void *)syscall(SYS_mmap, at, len, prot, flags, fd, offset);
}
int ucm_orig_munmap(void *at, size_t len) { return (int)syscall(SYS_munmap, at, len); }
const char *ucm_log_level_names[] = {"fatal", "error", "warn", "info", "debug", "trace", NULL};
const char *ucm_mmap_hook_modes[] = {"none", "reloc", "bistro", NULL};

void *udev_new(void) { return NULL; }
void *udev_unref(void *udev) { return udev; }
void *udev_device_new_from_subsystem_sysname(void *udev, const char *subsystem, const char *name) {
    return (void)udev, (void)subsystem, (void)name, NULL;
}
const char *udev_device_get_property_value(void *device, const char *key) {
    return (void)device, (void)key, NULL;
}
void *udev_device_unref(void *device) { return device; }
