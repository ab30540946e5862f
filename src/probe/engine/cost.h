/* What probes cost. */
#pragma once
#include "probe/region/target.h"

/* The process may have run before it was ours. */
void cost_begin(struct target *t);
