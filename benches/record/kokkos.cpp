/* Calls of Kokkos with next to nothing in them: what remains is what a call costs. Prints for each the time of one, ns.
 *
 *   kernel_ns   a kernel of one iteration
 *   copy_ns     a copy of one number from a View to another
 *   view_ns     a View of 512 numbers, made and given back, with the kernel that sets it to zero
 *   region_ns   a region, pushed and popped
 */
#include <Kokkos_Core.hpp>
#include <cstdio>
#include <cstdlib>
#include <time.h>

using View = Kokkos::View<double *>;

static double now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e9 + now.tv_nsec;
}

template <class Call> static void told(const char *name, long calls, const Call &call) {
  double start = now_ns();
  for (long i = 0; i < calls; i++) call();
  std::printf("%s %.2f\n", name, (now_ns() - start) / static_cast<double>(calls));
}

int main(int argc, char **argv) {
  long calls = argc > 1 ? std::atol(argv[1]) : 100000;
  Kokkos::initialize(argc, argv);
  {
    View one("one", 1), other("other", 1);
    told("kernel_ns", calls, [&] {
      Kokkos::parallel_for("add", 1, KOKKOS_LAMBDA(int i) { one(i) += 1; });
    });
    told("copy_ns", calls, [&] { Kokkos::deep_copy(other, one); });
    told("view_ns", calls, [] { View made("made", 512); });
    told("region_ns", calls, [] {
      Kokkos::Profiling::pushRegion("region");
      Kokkos::Profiling::popRegion();
    });
  }
  Kokkos::finalize();
  return 0;
}
