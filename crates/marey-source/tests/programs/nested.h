/* Inlined from another file, on several levels, so that one address stands for several files and lines. */
#define INLINE static inline __attribute__((always_inline))

INLINE double square(double value) {
    return value * value;
}
INLINE double distance(const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += square(a[i] - b[i]);
    return sum;
}
INLINE double clamp(double value, double low, double high) {
    if (value < low)
        return low;
    return value < high ? value : high;
}
