/* The current readings of a thread's metrics, taken from outside of it. */
#include "probe/region/readings.h"

#include "isa/native.h"
#include "process/threads.h"

static uint64_t waiting_since(const struct rt_area *a, bool sync)
{
	bool is_sync = a->wait_kind == RT_WAIT_SYNC;
	return a->wait_kind != RT_WAIT_NONE && is_sync == sync ? a->wait_since : 0;
}

static uint64_t waited(const struct rt_area *a, bool sync, uint64_t now)
{
	uint64_t since = waiting_since(a, sync);
	uint64_t ended = sync ? a->waited_sync : a->waited_io;
	return since && now > since ? ended + (now - since) : ended;
}

/* Without its clock page and without permission to ask the kernel, the thread's own clock stops
 * (runtime/clock.c). */
static uint64_t cpu_now(const struct target *t, const struct rt_area *a, int tid)
{
	bool stopped = a->clock_page <= RT_CLOCK_UNAVAILABLE &&
		       !(target_header(t)->may & RT_MAY_ASK_CLOCK);
	return stopped ? a->clock_ns : thread_cpu_ns(t->pid, tid);
}

void readings_take(struct target *t, const struct rt_area *a, int tid, uint32_t metrics,
		   uint64_t out[RT_METRICS])
{
	uint64_t now = ticks_now();
	out[RT_WALL] = now;
	out[RT_CPU] = metrics & 1 << RT_CPU ? cpu_now(t, a, tid) : 0;
	out[RT_SYNC] = waited(a, true, now);
	out[RT_IO] = waited(a, false, now);
	out[RT_BYTES] = a->bytes;
	for (unsigned i = 0; i < RT_EVENTS; i++)
		out[RT_EVENT + i] = 0;
}

uint64_t reading_ns(enum rt_metric metric, uint64_t value)
{
	if (metric != RT_WALL && metric != RT_SYNC && metric != RT_IO)
		return value;
	static double period;
	if (period == 0)
		period = ticks_period_ns();
	return (uint64_t)((double)value * period);
}
