/* Visits for programs in other languages. */
#include "odd.h"
void odd_visits(uint32_t times) { VISITS("foreign", times); }
void odd_start(uint32_t seed) { odd_state_ = seed | 1; }
uint32_t odd_number(uint32_t below) { return odd_below(below); }
