/* What probes cost: hits of each kind since the last look, times what one costs. Hits only grow, so
 * the cost of an interval is never negative, whatever goes in or out meanwhile. */
#include "probe/engine/cost.h"

#include "probe/engine/targets.h"
#include "probe/region/calibrate.h"
#include "probe/region/hits.h"

/* Whether anything that is in reads more than the time that passes. */
static bool reads_other_clocks(const struct target *t)
{
	vec_each (s, &t->code->subjects)
		if (s->in && s->purpose == PURPOSE_MEASURE && s->request.metrics & ~(1u << RT_WALL))
			return true;
	return false;
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
	const struct probe_costs *c = engine_probe_costs(engine_of(t));
	bool other = reads_other_clocks(t);
	ns[HIT_ENTER] = other ? c->enter : c->wall;
	ns[HIT_EXIT] = other ? c->exit : c->wall;
	ns[HIT_WALK] = c->path;
	ns[HIT_COUNT] = c->count;
	ns[HIT_OTHER] = c->block;
}

void cost_begin(struct target *t)
{
	t->hits.seen_run_ns = process_cpu_ns(t->pid);
}

struct engine_cost target_cost(struct target *t)
{
	struct engine_cost out = {0};
	double each[HIT_KINDS], sum = 0;
	if (!t->region.in && t->alive)
		return out;
	struct probe_hits now = hits_all(t);
	price(t, each);
	for (unsigned kind = 0; kind < HIT_KINDS; kind++) {
		uint64_t hits = grown(&t->hits.seen.of[kind], now.of[kind]);
		sum += (double)hits * each[kind];
		out.hits += kind == HIT_WALK ? 0 : hits; /* a part of what enters */
	}
	out.run_ns = grown(&t->hits.seen_run_ns,
			   t->alive ? process_cpu_ns(t->pid) : t->hits.ended_run_ns);
	/* Probes run while the program does. */
	out.probe_ns = sum < (double)out.run_ns ? (uint64_t)sum : out.run_ns;
	return out;
}

const struct probe_costs *engine_probe_costs(struct engine *g)
{
	if (!g->calibrated)
		calibrate(&g->shared, &g->costs);
	g->calibrated = true;
	return &g->costs;
}
