/* What a thread's metrics read now, seen from outside. */
#pragma once
#include "probe/region/target.h"

/* The metrics that can be read from outside; perf events belong to the thread. */
enum { OUTSIDE_METRICS = (1 << RT_EVENT) - 1 };

/* In the runtime's units, comparable with what it stores; only `metrics` are asked for. */
void readings_take(struct target *t, const struct rt_area *a, int tid, uint32_t metrics,
		   uint64_t out[RT_METRICS]);
/* A reading, or a difference of two, in ns if it is a time. */
uint64_t reading_ns(enum rt_metric metric, uint64_t value);
