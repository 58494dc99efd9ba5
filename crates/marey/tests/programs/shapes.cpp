// Classes with bases that are shared, loops in loops, calls of all kinds, and with -DWITH_MPI messages around a ring: what
// views of sources must find. Marks name lines that tests look for.
#include <cstdio>
#include <cstdlib>
#include <vector>
#ifdef WITH_MPI
#include <mpi.h>
#endif

#define NOINLINE __attribute__((noinline))

namespace geometry {

class Named { // type Named
public:
    explicit Named(const char *name) : name(name) {}
    virtual ~Named() {}
    const char *title() const { return name; } // function title

protected:
    const char *name;
};

class Shape : public virtual Named { // type Shape
public:
    explicit Shape(double size) : Named("shape"), size(size) {}
    virtual double area(int detail) const = 0;

protected:
    double size;
};

class Coloured : public virtual Named { // type Coloured
public:
    explicit Coloured(int colour) : Named("coloured"), colour(colour) {}
    int colour;
};

class Disc : public Shape, private Coloured { // type Disc
public:
    explicit Disc(double radius) : Named("disc"), Shape(radius), Coloured(3) {}
    double area(int detail) const override;

private:
    static int made;
};

class Square final : public Shape { // type Square
public:
    explicit Square(double side) : Named("square"), Shape(side) {}
    double area(int detail) const override;
    Square operator+(const Square &other) const { return Square(size + other.size); }
};

int Disc::made = 0;

NOINLINE double Disc::area(int detail) const { // function Disc::area
    double sum = 0;
    for (int ring = 0; ring < detail; ring++) { // loop rings
        for (int part = 0; part < detail; part++) { // loop parts
            sum += size * size / (1.0 + ring * part);
        } // end parts
    } // end rings
    return sum;
}

NOINLINE double Square::area(int detail) const { // function Square::area
    double sum = 0;
    for (int row = 0; row < detail; row++) // loop rows
        sum += size / (1.0 + row);
    return sum;
}

template <class T> NOINLINE T twice(T value) { // function twice
    return value + value;
}

} // namespace geometry

NOINLINE static double exchange(double value, int rank, int size) { // function exchange
    double other = value;
#ifdef WITH_MPI
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Sendrecv(&value, 1, MPI_DOUBLE, next, 7, &other, 1, MPI_DOUBLE, before, 7, // call Sendrecv
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
    std::printf("%d of %d\n", rank, size);
    std::fflush(stdout); // call fflush
#endif
    return other;
}

NOINLINE static double relax(const std::vector<geometry::Shape *> &shapes, int detail) { // function relax
    double sum = 0;
    for (const geometry::Shape *shape : shapes) { // loop shapes
        sum += shape->area(detail); // call area
    } // end shapes
    return geometry::twice(sum);
}

NOINLINE static void never() { // function never
    std::abort();
}

int main(int count, char **words) { // function main
    int rank = 0, size = 1;
#ifdef WITH_MPI
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#endif
    const int steps = count > 1 ? std::atoi(words[1]) : 20;
    const int detail = count > 2 ? std::atoi(words[2]) : 700;
    geometry::Disc disc(2);
    geometry::Square square(3);
    geometry::Square both = square + square;
    std::vector<geometry::Shape *> shapes = {&disc, &square, &both};
    double value = 0;
    for (int step = 0; step < steps; step++) { // loop steps
        // The last rank has more to do, so that the others wait for it.
        value += relax(shapes, rank == size - 1 ? 2 * detail : detail); // call relax
        value = exchange(value, rank, size); // call exchange
        if (value < 0) {
            never();
        }
    } // end steps
#ifdef WITH_MPI
    double all = 0;
    MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    value = all;
#endif
    std::printf("%g %s\n", value, disc.title());
    return 0;
}
