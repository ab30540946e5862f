/* The overhead of probes. */
#pragma once
#include "probe/region/target.h"

/* Starts with the CPU time that the process has already used. */
void overhead_begin(struct target *t);
