// The same from C++: threads, locks and conditions of its library, and an exception that ends a
// thread's work.
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

int main() {
    std::mutex mutex;
    std::condition_variable cond;
    long n = 0, turn = 0;
    std::vector<std::thread> threads;
    for (long me = 0; me < 3; me++)
        threads.emplace_back([&, me] {
            for (int i = 0; i < 100; i++) {
                std::unique_lock<std::mutex> lock(mutex);
                cond.wait(lock, [&] { return turn == me; });
                turn = (turn + 1) % 3;
                n++;
                cond.notify_all();
            }
        });
    for (auto &thread : threads) thread.join();
    std::printf("n %ld\n", n);
    auto failing = std::async(std::launch::async, []() -> int { throw std::runtime_error("thrown"); });
    try {
        failing.get();
    } catch (const std::exception &error) {
        std::printf("caught %s\n", error.what());
    }
}
