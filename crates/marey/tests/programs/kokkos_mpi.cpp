// Two ranks that send each other Views, and memory that was a View's before: of each message the receiver prints
// `message FROM TO BYTES`, where both are what the buffers are called; `-` is what is no View.
#include <Kokkos_Core.hpp>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <string>

using View = Kokkos::View<double *>;

static int rank;

static void exchange(double *from, const char *name, double *to, const char *to_name, int n) {
  if (rank == 0) {
    MPI_Send(from, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(to, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::printf("message %s %s %zu\n", name, to_name, n * sizeof(double));
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Kokkos::initialize(argc, argv);
  {
    View halo("halo", 4000), ghost("ghost", 4000);
    for (int n = 0; n < 3; n++) exchange(halo.data(), "halo", ghost.data(), "ghost", 4000);
    // From within, as halos are sent.
    exchange(halo.data() + 1000, "halo", ghost.data() + 3000, "ghost", 500);
    // Smaller than blocks that are recorded by themselves, over and over at one place.
    void *before = nullptr, *after = nullptr;
    for (int n = 0; n < 20; n++) {
      View small(std::string(n % 2 ? "odd" : "even"), 16);
      (n ? after : before) = small.data();
      exchange(small.data(), n % 2 ? "odd" : "even", small.data(), n % 2 ? "odd" : "even", 16);
    }
    if (before != after) std::fprintf(stderr, "small Views lie elsewhere each time\n");
    // Memory that was a View's, and is nobody's any more that Kokkos knows.
    double *gone;
    {
      View brief("brief", 16);
      exchange(brief.data(), "brief", brief.data(), "brief", 16);
      gone = brief.data();
    }
    auto *head = reinterpret_cast<char *>(gone) - 128;
    double *again = nullptr;
    char *block = nullptr;
    for (int n = 0; n < 64 && again == nullptr; n++) {
      block = static_cast<char *>(std::malloc(320));
      if (block <= head && head + 256 <= block + 320) again = gone;
    }
    if (again == nullptr) std::fprintf(stderr, "memory of a View was not given out again\n");
    else exchange(again, "-", again, "-", 16);
    // And a View's once more.
    std::free(block);
    View anew("anew", 16);
    if (anew.data() != again) std::fprintf(stderr, "small Views lie elsewhere each time\n");
    exchange(anew.data(), "anew", anew.data(), "anew", 16);
  }
  Kokkos::finalize();
  MPI_Finalize();
  return 0;
}
