// Four functions with known shares of the processor time: a member, a template that is inlined, a recursion that
// throws, and a lambda in an algorithm.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <stdexcept>
#include <vector>

namespace shares {
volatile double sink;

struct Base {
    virtual ~Base() = default;
    virtual void ten(long rounds) = 0;
};
struct Derived final : Base {
    [[gnu::noinline]] void ten(long rounds) override {
        double sum = 0;
        for (long i = 0; i < rounds; i++) sum += double(i) * 0.5;
        sink = sum;
    }
};
template <typename T> [[gnu::always_inline]] inline void twenty(long rounds) {
    T sum = 1;
    for (long i = 0; i < rounds; i++) sum = sum * T(0.999) + T(i);
    sink = sum;
}
[[gnu::noinline]] void around_twenty(long rounds) {
    twenty<double>(rounds);
    sink = sink + 1;
}
[[gnu::noinline]] void thirty(long rounds, int depth) {
    if (depth > 0) {
        thirty(rounds, depth - 1);
        sink = sink + 1;
        return;
    }
    double sum = 2;
    for (long i = 0; i < rounds; i++) sum = sum * 0.998 + double(i);
    sink = sum;
    throw std::runtime_error("thirty");
}
[[gnu::noinline]] void forty(std::vector<double> &values) {
    for (int i = 0; i < 20; i++)
        std::for_each(values.begin(), values.end(), [](double &value) { value = value * 0.997 + 1; });
    sink = values[7];
}
}

static double now() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) * 1e9 + double(time.tv_nsec);
}
template <typename Work> [[gnu::noinline]] double phase(double ms, Work work) {
    double begin = now(), end = begin;
    while (end - begin < ms * 1e6) {
        work();
        end = now();
    }
    return end - begin;
}

int main() {
    shares::Derived derived;
    shares::Base *volatile base = &derived;
    std::vector<double> values(10000, 1.0);
    double sums[4] = {0, 0, 0, 0};
    for (int round = 0; round < 3; round++) {
        sums[0] += phase(100, [&] { base->ten(200000); });
        sums[1] += phase(200, [] { shares::around_twenty(200000); });
        sums[2] += phase(300, [] {
            try {
                shares::thirty(200000, 12);
            } catch (const std::exception &) {
            }
        });
        sums[3] += phase(400, [&] { shares::forty(values); });
    }
    const char *const names[] = {"ten", "twenty", "thirty", "forty"};
    for (int i = 0; i < 4; i++) std::printf("%s %.0f\n", names[i], sums[i]);
}
