/* What probes cost: hits of each kind times the cost of one. */
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/readings.h"
#include "probe/target.h"

static double cost_of(const struct probe_costs *c, const struct rt_area *a)
{
	double walks = (double)(a->walks + a->instance_hits + a->raw_walks);
	return (double)a->hits[RT_ENTER] * c->enter + walks * c->path +
	       (double)a->hits[RT_EXIT] * c->exit +
	       (double)(a->hits[RT_BLOCK] + a->hits[RT_BLOCK_DONE] + a->hits[RT_WAIT] +
			a->hits[RT_WAIT_DONE] + a->hits[RT_TARGET]) *
		       c->block;
}

static uint64_t counted(const struct target *t, uint32_t area)
{
	const uint64_t *counters =
		(const void *)((const uint8_t *)target_area(t, area) + RT_AREA_COUNTERS);
	uint64_t sum = 0;
	for (uint32_t i = 0; i < t->counters_used; i++)
		sum += __atomic_load_n(&counters[i], __ATOMIC_RELAXED);
	return sum;
}

/* Since the beginning, of the threads that live. */
static void sum_up(struct target *t, struct engine_cost *out)
{
	const struct probe_costs *c = engine_probe_costs(t->engine);
	double ns = 0;
	for (uint32_t i = 0; i < RT_AREAS; i++) {
		if (!t->slots[i].tid)
			continue;
		out->run_ns += thread_cpu_ns(t->pid, t->slots[i].tid);
		for (uint32_t k = i; k < 2 * RT_AREAS; k += RT_AREAS) {
			const struct rt_area *a = target_area(t, k);
			uint64_t counts = counted(t, k);
			ns += cost_of(c, a) + (double)counts * c->count;
			out->hits += counts;
			for (unsigned h = 0; h < 8; h++)
				out->hits += a->hits[h];
		}
	}
	out->probe_ns = (uint64_t)ns;
}

/* Threads that ended since take their part with them: less than before counts as nothing. */
static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

struct engine_cost engine_cost(struct engine *g, struct target *t)
{
	struct engine_cost now = {0};
	(void)g;
	if (!t->injected)
		return now;
	sum_up(t, &now);
	struct engine_cost d = {since(now.probe_ns, t->cost.probe_ns),
				since(now.run_ns, t->cost.run_ns), since(now.hits, t->cost.hits)};
	t->cost = now;
	return d;
}

const struct probe_costs *engine_probe_costs(struct engine *g)
{
	if (!g->calibrated)
		calibrate(g);
	g->calibrated = true;
	return &g->costs;
}

int engine_define_event(struct engine *g, uint32_t slot, uint32_t type, uint64_t config,
			struct err *e)
{
	struct perf_event_attr attr = {.type = type,
				       .size = sizeof(attr),
				       .config = config,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return err_errno(e, "the event cannot be counted");
	close(fd);
	g->perf_events[slot].type = type;
	g->perf_events[slot].config = config;
	if (slot >= g->perf_event_count)
		g->perf_event_count = slot + 1;
	vec_each (t, &g->targets)
		if ((*t)->injected)
			target_set_events(*t);
	return 0;
}
