/* A library without frame pointers, whose function is known by its symbol. */
static volatile double library_sink;
void shares_forty(long rounds) {
    double sum = 3;
    for (long i = 0; i < rounds; i++) sum = sum * 0.997 + (double)i;
    library_sink = sum;
}
