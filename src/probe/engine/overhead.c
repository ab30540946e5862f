/* The overhead of probes: the hits of each kind since the last call, times the overhead of one hit.
 * Hits only grow, so the overhead of an interval is never negative, whatever goes in or out during
 * it. */
#include "probe/engine/overhead.h"

#include "probe/engine/targets.h"
#include "probe/region/calibrate.h"
#include "probe/region/hits.h"

/* Whether any subject that is in reads more than wall time. */
static bool reads_other_clocks(const struct target *t)
{
	vec_each (s, &t->code->subjects)
		if (s->in && s->purpose == PURPOSE_MEASURE && s->request.metrics & ~(1u << RT_WALL))
			return true;
	return false;
}

/* The increase since the last call. The program's memory holds what is read, and the program may
 * have overwritten it: then the increase is 0. */
static uint64_t increase(uint64_t *last, uint64_t now)
{
	uint64_t by = now > *last ? now - *last : 0;
	*last = now;
	return by;
}

static void overhead_of_hits(const struct target *t, double ns[HIT_KINDS])
{
	const struct probe_overheads *c = engine_probe_overheads(engine_of(t));
	bool other = reads_other_clocks(t);
	ns[HIT_ENTER] = other ? c->enter : c->wall;
	ns[HIT_EXIT] = other ? c->exit : c->wall;
	ns[HIT_WALK] = c->path;
	ns[HIT_COUNT] = c->count;
	ns[HIT_OTHER] = c->block;
}

void overhead_begin(struct target *t)
{
	t->hits.seen_run_ns = process_cpu_ns(t->pid);
}

uint64_t target_ran_ns(const struct target *t)
{
	return t->alive ? process_cpu_ns(t->pid) : t->hits.ended_run_ns;
}

struct engine_overhead target_overhead(struct target *t)
{
	struct engine_overhead out = {0};
	double each[HIT_KINDS], sum = 0;
	if (!t->region.in && t->alive)
		return out;
	struct probe_hits now = hits_all(t);
	overhead_of_hits(t, each);
	for (unsigned kind = 0; kind < HIT_KINDS; kind++) {
		uint64_t hits = increase(&t->hits.seen.of[kind], now.of[kind]);
		sum += (double)hits * each[kind];
		out.hits += kind == HIT_WALK ? 0 : hits; /* a part of other hits */
	}
	out.run_ns = increase(&t->hits.seen_run_ns, target_ran_ns(t));
	/* Probes cannot take longer than the program ran. */
	out.probe_ns = sum < (double)out.run_ns ? (uint64_t)sum : out.run_ns;
	return out;
}

uint64_t engine_stopped_ns(const struct engine *g)
{
	return control_stopped_ns(g->shared.control);
}

const struct probe_overheads *engine_probe_overheads(struct engine *g)
{
	if (!g->calibrated)
		calibrate(&g->shared, &g->overheads);
	g->calibrated = true;
	return &g->overheads;
}
