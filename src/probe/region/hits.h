/* How often the probes of a target were hit. */
#pragma once
#include "probe/region/target.h"

void hits_add(const struct target *t, uint32_t area, struct probe_hits *sum);
/* Since the beginning, dead threads included. */
struct probe_hits hits_all(const struct target *t);
