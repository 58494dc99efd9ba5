// Templates of the standard library and own ones, inlined into each other; lambdas, operators, virtual
// functions, exceptions, constructors that share code.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>
#include "nested.h"

#define NOINLINE __attribute__((noinline))

namespace lattice {

template <class T, int N> class Field {
  public:
    explicit Field(T start) : values(N, start) {}
    T &operator[](int i) { return values.at(i); }
    operator bool() const { return !values.empty(); }
    Field &operator+=(const Field &other) {
        std::transform(values.begin(), values.end(), other.values.begin(), values.begin(), std::plus<T>());
        return *this;
    }
    template <class F> NOINLINE T fold(T start, F with) const {
        return std::accumulate(values.begin(), values.end(), start, with);
    }
    NOINLINE void sort() {
        std::sort(values.begin(), values.end(), [](const T &a, const T &b) { return b < a; });
    }

  private:
    std::vector<T> values;
};

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const noexcept = 0;
};
struct Disc final : Shape {
    explicit Disc(double radius) : radius(radius) {}
    NOINLINE double area() const noexcept override { return 3.14 * square(radius); }
    double radius;
};
struct Slab : Shape {
    Slab(double a, double b) : a(a), b(b) {}
    double area() const noexcept override { return clamp(a * b, 0, 1e6); }
    double a, b;
};

NOINLINE std::map<std::string, int> count(const std::vector<std::string> &words) {
    std::map<std::string, int> counts;
    for (const auto &word : words)
        counts[word] += 1;
    return counts;
}

} // namespace lattice

namespace {
NOINLINE int checked(int n) {
    if (n < 0)
        throw std::out_of_range("negative: " + std::to_string(n));
    return n * 2;
}
template <class... Part> NOINLINE std::string joined(const Part &...part) {
    std::string all;
    ((all += part, all += ' '), ...);
    return all;
}
} // namespace

NOINLINE std::ostream &operator<<(std::ostream &out, const lattice::Shape &shape) {
    return out << "area " << shape.area();
}

int main(int argc, char **) {
    lattice::Field<double, 40> field(argc), other(2.5);
    field += other;
    field[3] = 7;
    field.sort();
    lattice::Field<int, 8> small(3);
    small.sort();
    double sum = field.fold(0.0, [&](double a, double b) { return a + clamp(b, 0, other[1]); });
    sum += small.fold(0, [](int a, int b) { return a ^ checked(b); });
    std::vector<std::unique_ptr<lattice::Shape>> shapes;
    shapes.push_back(std::make_unique<lattice::Disc>(sum));
    shapes.push_back(std::make_unique<lattice::Slab>(sum, 2));
    for (const auto &shape : shapes)
        std::cout << *shape << '\n';
    for (const auto &[word, n] : lattice::count({"one", "two", "one"}))
        std::cout << joined(word, std::string("times"), "n") << n << '\n';
    std::function<int(int)> later = [&](int n) { return checked(n - argc); };
    try {
        return later(0) == 0 ? 1 : 0;
    } catch (const std::exception &error) {
        std::cout << error.what() << '\n';
    }
    return 0;
}
