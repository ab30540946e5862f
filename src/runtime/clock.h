/* Readings of metrics. */
#pragma once
#include <linux/perf_event.h>

#include "runtime/hit.h"

/* The thread's time on a processor, from the page of a task-clock event: the kernel leaves there
 * how long it had run when it was last put on one, and how to get the time since from the ticks.
 * See linux/perf_event.h. A page that lacks what is needed is not kept: open_clock(). */
HOT uint64_t read_page(uint64_t page)
{
	const volatile struct perf_event_mmap_page *p = (const void *)page;
	uint32_t sequence;
	uint64_t enabled, now, offset, mult;
	unsigned shift;
	do {
		sequence = p->lock;
		keep_order();
		enabled = p->time_enabled;
		now = ticks();
		offset = p->time_offset;
		mult = p->time_mult;
		shift = p->time_shift & 63;
		if (p->cap_user_time_short) {
			uint64_t cycles = p->time_cycles;
			now = cycles + ((now - cycles) & p->time_mask);
		}
		keep_order();
	} while (unlikely(p->lock != sequence));
	uint64_t rest = now & ((UINT64_C(1) << shift) - 1);
	return enabled + offset + (now >> shift) * mult + (rest * mult >> shift);
}

static inline uint64_t read_cpu(struct rt_area *a)
{
	if (likely(a->clock_page > 1))
		return read_page(a->clock_page) + (uint64_t)a->clock_offset;
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
