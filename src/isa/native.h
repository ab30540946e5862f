/* What only code on the machine itself can read. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* The architecture's counter of time, as code in any process reads it without a system call. */
uint64_t ticks_now(void);
/* Ticks are this many nanoseconds each. */
double ticks_period_ns(void);
/* Of the thread that asks. */
uint64_t own_thread_pointer(void);
/* Whether the kernel lets programs execute the instruction by which probes read it. */
bool thread_pointer_is_readable(void);
