// What a database must find: classes with bases and members, templates, operators, calls of all kinds.
#include <cmath>
#include <cstdio>
#include <vector>

namespace geometry {

class Shape {
public:
    explicit Shape(int sides) : sides(sides) { count++; }
    virtual ~Shape() {}
    virtual double area() const = 0;
    static int count;

protected:
    int sides;

private:
    double cached = 0;
};

int Shape::count = 0;

class Square : public Shape {
    double side;

public:
    explicit Square(double side) : Shape(4), side(side) {}
    double area() const override;
    Square operator+(const Square &other) const { return Square(side + other.side); }
};

double
Square::area() const
{
    return std::pow(side, 2);
}

template <class T>
T twice(T x)
{
    return x + x;
}

} // namespace geometry

typedef struct {
    int x, y;
} Point;

enum Colour { Red, Green = 5 };

struct Named {
    virtual void say() const;
    const char *name = "shape";
};

struct Left : virtual Named {};
struct Right : virtual Named {};

struct Both : Left, private Right {
    Point at;
    Colour colour;
    using Left::say;
};

void Named::say() const { std::printf("%s\n", name); }

static inline int thrice(int x) { return x * 3; }

static int countdown(int n) { return n > 0 ? countdown(n - 1) + thrice(n) : 0; }

int ENTRY(int count, char **)
{
    geometry::Square one(count), two(2);
    Both both = {};
    both.say();
    const geometry::Shape *shape = &one;
    std::vector<double> sums;
    for (int i = 0; i < count; i++) {
        sums.push_back(shape->area() + geometry::twice(i) + geometry::twice(1.5));
    }
    int (*step)(int) = count > 5 ? thrice : countdown;
    std::printf("%f %d %zu\n", (one + two).area(), step(count), sums.size());
    return 0;
}
