// C++: templates, members, inlining, virtual calls, and exceptions that go past many calls of one function.
#include "counted.h"

static volatile long sink;

namespace ns {
template <typename T> T add(T a, T b) {
  HERE("ns::add<*>");
  return a + b;
}
} // namespace ns

struct Shape {
  Shape() { HERE("Shape::Shape"); }
  virtual ~Shape() { HERE("Shape::~Shape"); }
  virtual int area() const = 0;
};

template <int N> struct Square : Shape {
  Square() { HERE("Square<4>::Square"); }
  ~Square() override { HERE("Square<4>::~Square"); }
  int area() const override {
    HERE("Square<4>::area");
    return N * N;
  }
};

// Where a symbol tells more than debug information, names differ at their beginning.
namespace {
inline int hidden(int n) {
  HERE("*hidden");
  return n * 3;
}

__attribute__((noinline)) void after() {
  HERE("*after");
  sink = sink + 1;
}
} // namespace

// Thrown at the bottom, caught by every third call.
__attribute__((noinline)) static void thrower(int n, int catches) {
  HERE("thrower");
  sink = sink + n;
  if (n == 0) throw 1;
  if (n == catches) {
    try {
      thrower(n - 1, catches);
    } catch (int) {
      after();
    }
    after();
    return;
  }
  thrower(n - 1, catches);
  sink = sink - n;
}

__attribute__((noinline)) static void catcher(int n) {
  HERE("catcher");
  try {
    thrower(n, -1);
  } catch (int) {
    after();
  }
}

int main() {
  HERE("main");
  for (int i = 0; i < 100; i++) {
    sink = sink + ns::add<int>(i, 1) + (long)ns::add<double>(i, 0.5) + hidden(i);
    Square<4> square;
    Shape *shape = &square;
    sink = sink + shape->area();
  }
  for (int i = 0; i < 50; i++) {
    thrower(9, 9);
    catcher(7);
  }
  catcher(1500);
  after();
  CALLED("main/ns::add<*>", 200);
  CALLED("main/catcher/*after", 51);
  CALLED("main/thrower/*after", 100);
  CALLED("main/*after", 1);
  CALLED("main/Square<4>::Square/Shape::Shape", 100);
  return 0;
}
