/* The current readings of a thread's metrics, taken from outside of it. */
#pragma once
#include "probe/region/target.h"

/* The metrics that can be read from outside; perf events belong to the thread. */
enum { OUTSIDE_METRICS = (1 << RT_EVENT) - 1 };

/* Takes readings in the runtime's units, comparable with the values it stores. Only `metrics` are
 * valid. */
void readings_take(struct target *t, const struct rt_area *a, int tid, uint32_t metrics,
		   uint64_t out[RT_METRICS]);
/* Converts a reading, or a difference of two, to ns if it is a time. */
uint64_t reading_ns(enum rt_metric metric, uint64_t value);
