/* The overhead of probes. */
#pragma once
#include "probe/region/target.h"

/* Starts with the CPU time that the process has already used. */
void cost_begin(struct target *t);
