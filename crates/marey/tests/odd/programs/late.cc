// Visits before main, after it, and while a thread's own things are destroyed.
#include "odd.h"
#include <cxxabi.h>
#include <poll.h>
#include <pthread.h>
#include <stdexcept>
#include <thread>

namespace {
struct Thing {
    explicit Thing(int) { VISIT("constructs"); }
    ~Thing() { VISIT("destroys"); }
};
Thing early __attribute__((init_priority(101))){1};
Thing ordinary{2};
thread_local Thing own{3};
Thing *volatile touched;

__attribute__((constructor(102))) void before() { VISITS("before", 3); }
__attribute__((destructor)) void after() { VISITS("after", 3); }
void at_exit() { VISIT("atexit"); }

pthread_key_t keys[4];
void destructor(void *value) {
    long left = (long)value;
    VISIT("key");
    if (left > 1) pthread_setspecific(keys[left % 4], (void *)(left - 1));
}
void throws(int depth) {
    static marey_region region = MAREY_REGION("throws");
    static struct odd_slot *slot = odd_slot("throws");
    struct Scope {
        Scope() { ODD_BEGIN(slot), marey_enter(&region); }
        ~Scope() { marey_leave(&region), ODD_DONE(slot); }
    } scope;
    if (depth == 0) throw std::runtime_error("thrown");
    throws(depth - 1);
}
int blocks(int depth) {
    Thing thing{4};
    return depth == 0 ? poll(nullptr, 0, -1) : blocks(depth - 1);
}
void *cancelled(void *started) {
    try {
        pthread_mutex_unlock((pthread_mutex_t *)started);
        blocks(3);
    } catch (abi::__forced_unwind &) {
        VISIT("caught");
        throw;
    }
    return nullptr;
}
}

int main(int count, char **words) {
    odd_seed(words[count - 1]);
    atexit(at_exit);
    for (auto &key : keys) CHECK(!pthread_key_create(&key, destructor));
    auto body = [](unsigned visits) {
        touched = &own;
        VISITS("thread", visits);
        for (long i = 0; i < 4; i++) pthread_setspecific(keys[i], (void *)(i + 1));
    };
    if (IS("threads")) {
        for (unsigned i = 0, n = 1 + odd_below(10); i < n; i++) std::thread(body, odd_below(40)).join();
    } else if (IS("throws")) {
        for (int i = 0; i < 20; i++) {
            try { throws((int)odd_below(30)); } catch (const std::exception &error) { VISIT("caught"); }
        }
    } else if (IS("cancels")) {
        for (int i = 0; i < 10; i++) {
            pthread_t thread;
            void *result = nullptr;
            pthread_mutex_t started = PTHREAD_MUTEX_INITIALIZER;
            pthread_mutex_lock(&started);
            CHECK(!pthread_create(&thread, nullptr, cancelled, &started));
            pthread_mutex_lock(&started);
            CHECK(!pthread_cancel(thread) && !pthread_join(thread, &result) && result == PTHREAD_CANCELED);
        }
    } else if (IS("throwing")) {
        for (int i = 0; i < 3000; i++) {
            try { throws(20); } catch (const std::exception &error) { }
        }
    } else if (IS("exit")) {
        touched = &own;
        body(3);
        std::exit(61);
    } else if (IS("terminate")) {
        body(3);
        throws(2);
    }
    printf("%s done\n", words[1]);
    return 60;
}
