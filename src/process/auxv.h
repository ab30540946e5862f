/* What the kernel has told a program about itself (the auxiliary vector). */
#pragma once
#include <stdint.h>

/* Returns the value of this type (AT_*); 0 if it is not there, or cannot be read. */
uint64_t auxv_value(int pid, uint64_t type);
