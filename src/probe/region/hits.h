/* Numbers of hits of a target's probes. */
#pragma once
#include "probe/region/target.h"

void hits_add(const struct target *t, uint32_t area, struct probe_hits *sum);
/* Since the beginning, including threads that have ended. */
struct probe_hits hits_all(const struct target *t);
