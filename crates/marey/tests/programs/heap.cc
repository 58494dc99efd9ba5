// Allocates by C++'s means; what is expected of each function is worked out in the test.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#define WAY __attribute__((noinline, noclone))
template <class T> WAY void keep(T &value) { __asm__ volatile("" : : "r"(&value) : "memory"); }

WAY std::size_t growing() {
  std::vector<double> numbers;
  for (int i = 0; i < 100000; i++) numbers.push_back(i);
  return numbers.size();
}

struct Large {
  char bytes[9000];
};
WAY int throwing() {
  int caught = 0;
  for (int i = 0; i < 50; i++) {
    try {
      auto block = std::make_unique<char[]>(7000);
      keep(block);
      throw Large{};
    } catch (const Large &) {
      caught++;
    }
  }
  return caught;
}

struct alignas(64) Aligned {
  char bytes[8192];
};
WAY void aligned() {
  for (int i = 0; i < 3; i++) {
    auto *block = new Aligned;
    keep(block);
    delete block;
  }
}

WAY void leaking() {
  auto *block = new double[1000];
  keep(block);
}

WAY std::size_t texts() {
  std::map<int, std::string> texts;
  for (int i = 0; i < 20; i++) texts.emplace(i, std::string(5000 + i, 'x'));
  return texts.size();
}

int main() {
  std::size_t sum = growing() + throwing() + texts();
  aligned();
  leaking();
  std::printf("%zu\n", sum);
}
