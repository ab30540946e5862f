/* Values that only code running on the CPU itself can read. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* The architecture's time counter, which code in any process can read without a system call. */
uint64_t ticks_now(void);
/* The length of a tick in nanoseconds. */
double ticks_period_ns(void);
/* The calling thread's thread pointer. */
uint64_t own_thread_pointer(void);
/* Whether the kernel allows programs to execute the instruction by which probes read the thread
 * pointer. */
bool thread_pointer_is_readable(void);
/* Whether programs on this machine may use x86-64's vector instructions with three operands. */
bool avx_is_usable(void);
