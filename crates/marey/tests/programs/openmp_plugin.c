/* A library with OpenMP: a sum, and how often each thread of its team was there, in one number. */
#include <omp.h>

long work(void) {
    long sum = 0, seen[3] = {0};
#pragma omp parallel num_threads(3)
    {
        int thread = omp_get_thread_num();
#pragma omp critical
        seen[thread]++;
#pragma omp for schedule(dynamic, 3) reduction(+ : sum)
        for (int i = 0; i < 100; i++) sum += i;
    }
    // Its runtime has begun by now, if it begins with the first construct.
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(3)
    {
        omp_set_lock(&lock);
        sum++;
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    sum -= 3;
    return sum * 1000 + seen[0] * 100 + seen[1] * 10 + seen[2];
}

static long total;

/* Whose last deed is to leave the section, so that it goes from there to whoever has called this. */
void add(void) {
#pragma omp critical
    total++;
}
