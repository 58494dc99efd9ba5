// Members, templates, lambdas. Debug information has names with internal linkage without their namespace.
extern "C" void probe(int line, const char *function);
#define PROBE(name) do { probe(__LINE__, name); __asm__ volatile(""); } while (0)

namespace halo {
struct Solver {
    __attribute__((noinline)) int step(int n) const {
        PROBE("halo::Solver::step");
        return n + 1;
    }
};
template <class T> __attribute__((noinline)) T twice(T value) {
    PROBE("halo::twice<int>");
    return value + value;
}
}

namespace {
__attribute__((noinline)) void hidden() {
    PROBE("(anonymous namespace)::hidden");
}
}

int main() {
    auto inner = [](int n) __attribute__((noinline)) {
        PROBE("main::{lambda(int)#1}::operator()");
        return n;
    };
    halo::Solver solver;
    hidden();
    PROBE("main");
    return inner(halo::twice(solver.step(0))) == 2 ? 0 : 1;
}
