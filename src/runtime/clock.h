/* Readings of metrics. */
#pragma once
#include <linux/perf_event.h>

#include "runtime/hit.h"

enum { CLOCK_RANGE = 28 }; /* bits of ticks for which the product stays within 64 */

/* The thread's time on a processor at `now`, ticks that were read on the way here: if the kernel
 * has put the thread off and on a processor since, the page says so. */
HOT uint64_t read_page(struct rt_area *a, uint64_t now)
{
	const volatile struct perf_event_mmap_page *p = (const void *)a->clock_page;
	uint64_t since = now - a->clock_ticks;
	if (unlikely(p->lock != a->clock_lock || since >> CLOCK_RANGE))
		return read_page_anew(a);
	return a->clock_ns + (since * a->clock_mult >> a->clock_shift);
}

static inline uint64_t read_cpu(struct rt_area *a)
{
	if (likely(a->clock_page > 1))
		return read_page(a, ticks());
	return read_cpu_slowly(a);
}

static inline uint64_t read_metric(struct rt_area *a, unsigned metric)
{
	switch (metric) {
	case RT_WALL: return ticks();
	case RT_CPU: return read_cpu(a);
	case RT_SYNC: return a->waited_sync;
	case RT_IO: return a->waited_io;
	case RT_BYTES: return a->bytes;
	default: return read_event(a, metric - RT_EVENT);
	}
}

static inline unsigned lowest(uint32_t set)
{
	return (unsigned)__builtin_ctz(set);
}

enum { METRICS_KNOWN = (1 << RT_METRICS) - 1 };

/* Whether they can be read without the kernel. */
HOT bool can_read_quickly(const struct rt_area *a, uint32_t set)
{
	return !(set >> RT_EVENT) && (!(set & 1 << RT_CPU) || a->clock_page > 1);
}

struct readings {
	uint32_t have; /* set */
	uint64_t now[RT_METRICS];
};

/* Reads those that are not read yet. */
static inline void read_metrics(struct rt_area *a, struct readings *r, uint32_t set)
{
	set &= METRICS_KNOWN & ~r->have;
	r->have |= set;
	for (; set; set &= set - 1)
		r->now[lowest(set)] = read_metric(a, lowest(set));
}
