// Shows its own data: scope | name | offset / size | where data lie | element | dimensions.
#include <vector>
extern "C" void show(const void *address, unsigned long bytes, const char *what);

namespace sim {
struct Cell { double v[2]; int n; };
struct Wide : Cell { int more[3]; };
int field[10][4];
namespace { float hidden[6]; }
template <class T> struct Box {
    static T pool[5];
    T *at;
};
template <class T> T Box<T>::pool[5];
struct Kept { static const int tab[3]; static double sum; };
const int Kept::tab[3] = {1, 2, 3};
double Kept::sum;
inline long inl[2];
std::vector<double> values(100);
Wide wide[2];
Box<float> box;
template <class T> T filled() {
    static T cache[9];
    show(&cache[4], sizeof(T), "sim::filled<double>|cache|32/72|storage|double|0:9");
    return cache[0];
}
struct Solver {
    int steps[4];
    __attribute__((noinline)) void run() {
        static int rounds[2];
        int inner[6] = {steps[0]};
        show(&rounds[1], 4, "sim::Solver::run|rounds|4/8|storage|int|0:2");
        show(&inner[5], 4, "sim::Solver::run|inner|20/24|storage|int|0:6");
    }
};
Solver solver;
int &alias = field[1][1];
}

int main() {
    show(&sim::field[2][3], 4, "sim|field|44/160|storage|int|0:10 0:4");
    show(&sim::hidden[5], 4, "sim::(anonymous namespace)|hidden|20/24|storage|float|0:6");
    show(&sim::Box<float>::pool[1], 4, "sim::Box<float>|pool|4/20|storage|float|0:5");
    show(&sim::Kept::tab[2], 4, "sim::Kept|tab|8/12|storage|int|0:3");
    show(&sim::Kept::sum, 8, "sim::Kept|sum|0/8|storage|double|");
    show(&sim::inl[1], 8, "sim|inl|8/16|storage|long int|0:2");
    show(&sim::values, 8, "sim|values|0/8|pointer|double|");
    show(&sim::wide[1].more[2], 4, "sim|wide.more|8/12|storage|int|0:3");
    show(&sim::wide[1].v[1], 8, "sim|wide.v|8/16|storage|double|0:2");
    show(&sim::wide[1], sizeof sim::wide[1], "sim|wide|40/80|storage|sim::Wide|0:2");
    show(&sim::box.at, 8, "sim|box.at|0/8|pointer|float|");
    show(&sim::solver.steps[3], 4, "sim|solver.steps|12/16|storage|int|0:4");
    auto lambda = [] {
        static short inlam[4];
        show(&inlam[3], 2, "main::(anonymous struct)::operator()|inlam|6/8|storage|short int|0:4");
    };
    lambda();
    sim::solver.run();
    return (int)sim::filled<double>();
}
