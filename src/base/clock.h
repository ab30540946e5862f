/* Time that only goes forward. */
#pragma once
#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t now_ns(void);
/* The same in seconds. */
double now_seconds(void);
