/* Functions among regions of the user's, some of which rules are made for while the program runs. */
#include "counted.h"
#include "marey.h"

static volatile long sink;
static marey_region region = MAREY_REGION("region"), inner = MAREY_REGION("inner");

__attribute__((noinline)) static void kernel_one(void) {
  HERE("kernel_one");
  sink++;
}

__attribute__((noinline)) static void kernel_two(void) {
  HERE("kernel_two");
  marey_enter(&inner);
  kernel_one();
  marey_leave(&inner);
}

/* Its own visits are left out by and by; those of the others count. */
__attribute__((noinline)) static void uncounted(void) { sink++; }

int main(void) {
  HERE("main");
  marey_enter(&region);
  for (int i = 0; i < 10; i++) kernel_two();
  marey_leave(&region);
  for (int i = 0; i < 30; i++) {
    if (i == 10) marey_set_detail(MAREY_OFF, "uncount??");
    if (i == 25) marey_set_detail(MAREY_TRACE, "uncount??");
    uncounted();
  }
  CALLED("uncounted", 10 + 5);
  CALLED("main/region/kernel_two/inner/kernel_one", 10);
  return 0;
}
