/* Loads and closes libraries that take each other's place in memory; with three arguments the file to load. */
#include "counted.h"
#include <dlfcn.h>
#include <string.h>

static long call(const char *path, const char *name, int n) {
  HERE("call");
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), abort(), 0;
  long (*function)(int) = (long (*)(int))dlsym(library, name);
  long result = function(n);
  if (dlclose(library) != 0) abort();
  return result;
}

int main(int argc, char **argv) {
  HERE("main");
  long sum = 0;
  if (argc != 3) return 2;
  for (int i = 0; i < 20; i++) {
    sum += call(argv[1], "called_1", i % 4);
    sum += call(argv[2], "called_2", i % 7);
  }
  CALLED("called_1", 20 + 20 / 4 * (0 + 1 + 2 + 3));
  CALLED("called_2", 20 + 2 * 21 + (0 + 1 + 2 + 3 + 4 + 5));
  CALLED("opened_1", 20);
  CALLED("opened_2", 20);
  CALLED("main/call/called_2/called_2", 17);
  return sum != 30 + 57;
}
