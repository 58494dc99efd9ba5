// Tasks in C++ that keep copies of objects and throw in themselves; what it prints is what its bodies have counted.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

struct Told {
    static long copies;
    std::vector<int> numbers{1, 2, 3};
    std::string text = std::string(100, 'x');
    Told() = default;
    Told(const Told &other) : numbers(other.numbers), text(other.text) {
#pragma omp atomic
        copies++;
    }
};
long Told::copies = 0;

int main() {
    long tasks = 0, caught = 0, wrong = 0;
    Told told;
#pragma omp parallel num_threads(3)
#pragma omp single
    for (int i = 0; i < 200; i++) {
        told.numbers[0] = i;
#pragma omp task firstprivate(told, i) shared(tasks, caught, wrong)
        {
            try {
                if (told.numbers[0] != i || told.text.size() != 100) throw 1;
                if (i % 2) throw std::runtime_error(told.text);
            } catch (const std::runtime_error &) {
#pragma omp atomic
                caught++;
            } catch (int) {
#pragma omp atomic
                wrong++;
            }
#pragma omp atomic
            tasks++;
        }
    }
    std::printf("caught %ld wrong %ld copies %d\n", caught, wrong, Told::copies >= 200);
    std::printf("implicit task 3\nsingle 1\ntask %ld\ntask create %ld\nparallel 1\n", tasks, tasks);
}
