/* What probes cost: hits of each kind since the last look, times what one costs. Hits only grow, so
 * the cost of an interval is never negative, whatever goes in or out meanwhile. */
#include "probe/target.h"

/* Whether anything that is in reads more than the time that passes. */
static bool reads_other_clocks(const struct target *t)
{
	vec_each (s, &t->subjects)
		if (s->in && s->purpose == PURPOSE_MEASURE && s->request.metrics & ~(1u << RT_WALL))
			return true;
	return false;
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

static void add_area(const struct target *t, uint32_t area, struct probe_hits *sum)
{
	const struct rt_area *a = target_area(t, area);
	sum->of[HIT_ENTER] += a->hits[RT_ENTER];
	sum->of[HIT_EXIT] += a->hits[RT_EXIT];
	sum->of[HIT_WALK] += a->walks + a->instance_hits + a->raw_walks;
	sum->of[HIT_COUNT] += counted(t, area);
	for (unsigned i = 0; i < ARRAY_SIZE(a->hits); i++)
		if (i != RT_ENTER && i != RT_EXIT)
			sum->of[HIT_OTHER] += a->hits[i];
}

void cost_keep(struct target *t, uint32_t area)
{
	add_area(t, area, &t->ended_hits);
}

void cost_begin(struct target *t)
{
	t->seen_run_ns = process_cpu_ns(t->pid);
}

/* Since the beginning. */
static struct probe_hits all_hits(const struct target *t)
{
	struct probe_hits sum = t->ended_hits;
	for (uint32_t i = 0; i < RT_AREAS; i++) {
		if (!t->slots[i].tid)
			continue;
		add_area(t, i, &sum);
		add_area(t, i + RT_AREAS, &sum);
	}
	return sum;
}

/* `last` becomes `now`. The program itself holds what is read, and may have written over it: what
 * went down has not grown. */
static uint64_t grown(uint64_t *last, uint64_t now)
{
	uint64_t by = now > *last ? now - *last : 0;
	*last = now;
	return by;
}

static void price(const struct target *t, double ns[HIT_KINDS])
{
	const struct probe_costs *c = engine_probe_costs(t->engine);
	bool other = reads_other_clocks(t);
	ns[HIT_ENTER] = other ? c->enter : c->wall;
	ns[HIT_EXIT] = other ? c->exit : c->wall;
	ns[HIT_WALK] = c->path;
	ns[HIT_COUNT] = c->count;
	ns[HIT_OTHER] = c->block;
}

struct engine_cost engine_cost(struct engine *g, struct target *t)
{
	(void)g;
	struct engine_cost out = {0};
	double each[HIT_KINDS], sum = 0;
	if (!t->injected && t->alive)
		return out;
	struct probe_hits now = all_hits(t);
	price(t, each);
	for (unsigned kind = 0; kind < HIT_KINDS; kind++) {
		uint64_t hits = grown(&t->seen_hits.of[kind], now.of[kind]);
		sum += (double)hits * each[kind];
		out.hits += kind == HIT_WALK ? 0 : hits; /* a part of what enters */
	}
	out.run_ns = grown(&t->seen_run_ns, t->alive ? process_cpu_ns(t->pid) : t->ended_run_ns);
	/* Probes run while the program does. */
	out.probe_ns = sum < (double)out.run_ns ? (uint64_t)sum : out.run_ns;
	return out;
}

const struct probe_costs *engine_probe_costs(struct engine *g)
{
	if (!g->calibrated)
		calibrate(g);
	g->calibrated = true;
	return &g->costs;
}
