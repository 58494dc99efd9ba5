// Functions of C++ that are entered and left in all ways that C++ has.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace shapes {

class Shape {
public:
    explicit Shape(std::string name) : name_(std::move(name)) { count++; }
    Shape(const Shape &other) : name_(other.name_) { count++; }
    virtual ~Shape() { count--; }
    virtual double area() const = 0;
    const std::string &name() const { return name_; }
    static int count;

private:
    std::string name_;
};
int Shape::count = 0;

class Square final : public Shape {
public:
    explicit Square(double side) try : Shape("square"), side_(side) {
        if (side < 0) throw std::invalid_argument("side");
    } catch (const std::invalid_argument &) {
        throw;
    }
    double area() const override { return side_ * side_; }
    Square &operator+=(double more) {
        side_ += more;
        return *this;
    }
    operator bool() const { return side_ > 0; }

private:
    double side_;
};

template <class T> struct Circle : Shape {
    T radius;
    Circle(T r) : Shape{"circle"}, radius{r} {}
    double area() const override { return 3.0 * radius * radius; }
    template <class U> U scaled(U by) const { return static_cast<U>(radius) * by; }
};

} // namespace shapes

namespace {

constexpr int square(int n) { return n * n; }

template <class T> T largest(const std::vector<T> &all) {
    T best = all.front();
    for (const T &it : all) best = std::max(best, it);
    return best;
}

template <class First> int count() { return 1; }
template <class First, class Second, class... Rest> int count() { return 1 + count<Second, Rest...>(); }

int depth(int n) {
    if (n == 0) throw std::runtime_error("bottom");
    return depth(n - 1) + 1;
}

int caught(int n) try { return depth(n); } catch (const std::exception &) { return -n; }

auto twice(int n) -> int {
    long wide = n, unused; // What compilers warn about.
    return wide * 2;
}

} // namespace

void shapes_outside();

struct Outer {
    struct Inner {
        int value() const noexcept { return 7; }
    };
    int sum() const;
};

int Outer::sum() const {
    struct Local {
        int get() const { return 2; }
    };
    return Inner().value() + Local().get();
}

int main() {
    using namespace shapes;
    std::vector<std::unique_ptr<Shape>> all;
    for (int i = 1; i < 6; i++) all.push_back(std::make_unique<Square>(i));
    all.push_back(std::make_unique<Circle<int>>(2));
    all.push_back(std::make_unique<Circle<float>>(1.5F));
    double area = 0;
    for (const auto &it : all) area += it->area();
    try {
        Square wrong(-1);
        std::puts("never");
    } catch (const std::invalid_argument &error) {
        std::printf("%s %d\n", error.what(), Shape::count);
    }
    Square grown(1);
    grown += 2;
    std::vector<int> numbers = {3, 9, 4};
    std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return twice(a) < twice(b); });
    std::thread thread([&] { numbers.push_back(caught(20)); });
    thread.join();
    static_assert(square(3) == 9, "in the compiler");
    std::printf("%.1f %d %d %d\n", area + grown.area(), largest(numbers), count<int, char, long>(), numbers.back());
    std::printf("%.1f %s %d\n", largest(std::vector<double>{1.5, 0.5}), all[5]->name().c_str(), __LINE__);
    std::printf("%d %d %d %d\n", Outer().sum(), Circle<int>(3).scaled(4), caught(3), bool(grown) ? Shape::count : 0);
    return 4;
}
