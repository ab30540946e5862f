/* What probes cost: hits of each kind times the cost of one. */
#include "probe/target.h"

/* Whether anything that is in reads more than the time that passes. */
static bool reads_other_clocks(const struct target *t)
{
	vec_each (s, &t->subjects)
		if (s->in && s->purpose == PURPOSE_MEASURE && s->request.metrics & ~(1u << RT_WALL))
			return true;
	return false;
}

static double cost_of(const struct target *t, const struct probe_costs *c, const struct rt_area *a)
{
	double walks = (double)(a->walks + a->instance_hits + a->raw_walks);
	bool other = reads_other_clocks(t);
	return (double)a->hits[RT_ENTER] * (other ? c->enter : c->wall) + walks * c->path +
	       (double)a->hits[RT_EXIT] * (other ? c->exit : c->wall) +
	       (double)(a->hits[RT_BLOCK] + a->hits[RT_BLOCK_DONE] + a->hits[RT_WAIT] +
			a->hits[RT_WAIT_DONE] + a->hits[RT_TARGET] + a->hits[RT_ITERATED] +
			a->hits[RT_LEFT] + a->hits[RT_MADE]) *
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

static void add_area(const struct target *t, uint32_t area, struct engine_cost *sum)
{
	const struct probe_costs *c = engine_probe_costs(t->engine);
	const struct rt_area *a = target_area(t, area);
	uint64_t counts = counted(t, area);
	sum->probe_ns += (uint64_t)(cost_of(t, c, a) + (double)counts * c->count);
	sum->hits += counts;
	for (unsigned h = 0; h < ARRAY_SIZE(a->hits); h++)
		sum->hits += a->hits[h];
}

void cost_keep(struct target *t, uint32_t area)
{
	add_area(t, area, &t->ended);
}

void cost_begin(struct target *t)
{
	t->cost = (struct engine_cost){.run_ns = process_cpu_ns(t->pid)};
}

/* Since the beginning. */
static struct engine_cost sum_up(const struct target *t)
{
	struct engine_cost sum = t->ended;
	if (t->alive)
		sum.run_ns = process_cpu_ns(t->pid);
	for (uint32_t i = 0; i < RT_AREAS; i++) {
		if (!t->slots[i].tid)
			continue;
		add_area(t, i, &sum);
		add_area(t, i + RT_AREAS, &sum);
	}
	return sum;
}

struct engine_cost engine_cost(struct engine *g, struct target *t)
{
	(void)g;
	if (!t->injected && t->alive)
		return (struct engine_cost){0};
	struct engine_cost now = sum_up(t), before = t->cost;
	t->cost = now;
	return (struct engine_cost){now.probe_ns - before.probe_ns,
				    now.run_ns > before.run_ns ? now.run_ns - before.run_ns : 0,
				    now.hits - before.hits};
}

const struct probe_costs *engine_probe_costs(struct engine *g)
{
	if (!g->calibrated)
		calibrate(g);
	g->calibrated = true;
	return &g->costs;
}
