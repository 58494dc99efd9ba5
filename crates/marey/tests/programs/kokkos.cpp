// A program with kernels, Views, copies, regions, sections and fences of Kokkos, which says of each what it has done: lines
// `NAME COUNT`, and of Views `view LABEL BYTES ADDRESS`. Results are printed too, so that it is seen whether they change.
#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ProfileSection.hpp>
#include <cinttypes>
#include <cstdio>
#include <string>

using View = Kokkos::View<double *>;

struct Scale {
  View of;
  KOKKOS_FUNCTION void operator()(int i) const { of(i) *= 2; }
};

static void told(const char *label, const View &view) {
  std::printf("view %s %zu %" PRIuPTR "\n", label, view.span() * sizeof(double), reinterpret_cast<uintptr_t>(view.data()));
}

static double sum_of(const char *name, const View &view) {
  double sum = 0;
  Kokkos::parallel_reduce(
      name, view.extent(0), KOKKOS_LAMBDA(int i, double &sum) { sum += view(i); }, sum);
  return sum;
}

__attribute__((noinline)) static View unlabelled(int n) { return View("", n); }

static void work() {
  View alpha("alpha", 1000), beta("beta", 1000);
  told("alpha", alpha);
  told("beta", beta);
  for (int step = 0; step < 3; step++) {
    Kokkos::Profiling::pushRegion("step");
    Kokkos::parallel_for(
        "fill", 1000, KOKKOS_LAMBDA(int i) { alpha(i) = i + step; });
    Kokkos::parallel_for(1000, Scale{alpha});
    Kokkos::parallel_for(
        1000, KOKKOS_LAMBDA(int i) { alpha(i) += 1; });
    Kokkos::Profiling::pushRegion("inner");
    std::printf("sum %.1f\n", sum_of("sum", alpha));
    Kokkos::Profiling::popRegion();
    Kokkos::fence();
    Kokkos::Profiling::popRegion();
  }
  Kokkos::parallel_scan(
      "prefix", 1000, KOKKOS_LAMBDA(int i, double &part, bool is_final) {
        part += alpha(i);
        if (is_final) beta(i) = part;
      });
  std::printf("last %.1f\n", beta(999));
  // To a View, to a part of one, to the mirror on the host, and of a number.
  Kokkos::deep_copy(beta, alpha);
  Kokkos::deep_copy(Kokkos::subview(beta, std::make_pair(100, 300)), Kokkos::subview(alpha, std::make_pair(0, 200)));
  auto mirror = Kokkos::create_mirror(alpha);
  std::printf("view alpha_mirror %zu %" PRIuPTR "\n", mirror.span() * sizeof(double),
              reinterpret_cast<uintptr_t>(mirror.data()));
  Kokkos::deep_copy(mirror, alpha);
  Kokkos::deep_copy(beta, 7.0);
  std::printf("beta %.1f mirror %.1f\n", sum_of("sum", beta), mirror(999));

  // Another one by the same name, and one that lies where it was.
  Kokkos::resize(alpha, 2000);
  told("alpha", alpha);
  {
    View brief("brief", 4096);
    told("brief", brief);
  }
  {
    View later("later", 4096);
    told("later", later);
    Kokkos::deep_copy(later, 1.0);
    std::printf("later %.1f\n", sum_of("sum", later));
  }
  for (int n = 0; n < 5; n++) {
    View nameless = unlabelled(10 + n);
    told("-", nameless);
  }
  // What need not nest.
  Kokkos::Profiling::ProfilingSection outer("outer"), across("across");
  for (int n = 0; n < 4; n++) {
    outer.start();
    across.start();
    Kokkos::parallel_for(
        "between", 10, KOKKOS_LAMBDA(int i) { alpha(i) = n; });
    outer.stop();
    across.stop();
  }
  Kokkos::Profiling::markEvent("marked");
}

int main(int argc, char **argv) {
  Kokkos::initialize(argc, argv);
  work();
  Kokkos::finalize();
  std::puts("region step 3\nregion inner 3\nparallel_for fill 3\nparallel_for Scale 3\n"
            "parallel_for work()::{lambda(int)#2} 3\nparallel_reduce sum 5\nparallel_scan prefix 1\nparallel_for between 4\n"
            "section outer 4\nsection across 4\nevent marked 1\n"
            "deep_copy beta 3\ndeep_copy alpha_mirror 1\ndeep_copy later 1");
  return 0;
}
