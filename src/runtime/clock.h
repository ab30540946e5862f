/* Readings of metrics. */
#pragma once
#include <linux/perf_event.h>

#include "runtime/hit.h"

/* Bits of a difference in ticks whose product with the multiplier certainly fits in 64 bits. */
enum { CLOCK_RANGE = 28 };

/* Whether the cached values of the page are still valid: its lock shows that the thread has not
 * been switched off the CPU since they were read. `now`: ticks, read just before. */
HOT bool page_holds(const struct rt_area *a, uint64_t now)
{
	const volatile struct perf_event_mmap_page *p = (const void *)a->clock_page;
	return likely(p->lock == a->clock_lock && !((now - a->clock_ticks) >> CLOCK_RANGE));
}

/* The thread's CPU time, if page_holds(). */
HOT uint64_t reckon_cpu(const struct rt_area *a, uint64_t now)
{
	return a->clock_ns + ((now - a->clock_ticks) * a->clock_mult >> a->clock_shift);
}

static inline uint64_t read_cpu(struct rt_area *a)
{
	if (unlikely(a->clock_page <= RT_CLOCK_UNAVAILABLE))
		return read_cpu_slowly(a);
	uint64_t now = ticks();
	return page_holds(a, now) ? reckon_cpu(a, now) : read_page_anew(a);
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

/* Whether the metrics can normally be read without system calls. */
HOT bool can_read_quickly(const struct rt_area *a, uint32_t set)
{
	return !(set >> RT_EVENT) && (!(set & 1 << RT_CPU) || a->clock_page > RT_CLOCK_UNAVAILABLE);
}

struct readings {
	uint32_t have; /* set */
	uint64_t now[RT_METRICS];
};

/* Reads those metrics of the set that have not been read yet. */
static inline void read_metrics(struct rt_area *a, struct readings *r, uint32_t set)
{
	set &= METRICS_KNOWN & ~r->have;
	r->have |= set;
	for (; set; set &= set - 1)
		r->now[lowest(set)] = read_metric(a, lowest(set));
}
