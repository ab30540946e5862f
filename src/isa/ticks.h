/* The architecture's counter of time, as code in any process reads it without a system call. */
#pragma once
#include <stdint.h>

uint64_t ticks_now(void);
/* Ticks are this many nanoseconds each. */
double ticks_period_ns(void);
