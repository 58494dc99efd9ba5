// MPI calls from C++: a template, a method, a lambda, a constructor, a function in a namespace.
// Marks and rules as in c_sites.c.
// Without the C++ interface of MPI-2, whose header makes calls of its own.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

namespace halo {

template <typename T> T sum(T x, MPI_Datatype type) {
    T total{};
    MPI_Allreduce(&x, &total, 1, type, MPI_SUM, MPI_COMM_SELF); // SITE halo::sum
    return total;
}

class Exchange {
public:
    Exchange() {
        MPI_Comm_dup(MPI_COMM_SELF, &comm); // SITE halo::Exchange::Exchange
        used = 1;
    }
    ~Exchange() {
        MPI_Comm_free(&comm); // SITE halo::Exchange::~Exchange
        used = 0;
    }
    int turn(int x) {
        int y = -1;
        MPI_Sendrecv(&x, 1, MPI_INT, 0, 3, &y, 1, MPI_INT, 0, 3, comm, MPI_STATUS_IGNORE); // SITE halo::Exchange::turn
        return y;
    }

private:
    MPI_Comm comm;
    volatile int used;
};

} // namespace halo

extern "C" void work(void) {
    halo::Exchange exchange;
    volatile int total = exchange.turn(1);
    total = total + halo::sum<int>(1, MPI_INT);
    auto each = [&](int n) {
        MPI_Barrier(MPI_COMM_SELF); // SITE operator()
        total = total + n;
    };
    each(1);
    MPI_Bcast(const_cast<int *>(&total), 1, MPI_INT, 0, MPI_COMM_SELF); // SITE work
    total = total + 1;
}
