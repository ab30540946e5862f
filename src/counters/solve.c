#include "counters/solve.h"

#include "flow/cfg.h"

/* Control leaves at the end of the call's block and reappears there, because it continues along the
 * edge after the call with all counters on it. A system call is in the middle of a block, and
 * leaving and reappearing both happen before the block's end. The same holds for other places in
 * the middle. */
static void balance(const struct counters *t, const struct counters_departure *d, int64_t *appears)
{
	uint32_t block = d->site ? t->sites[d->site - 1].block : d->block;
	const struct net_edge *edge = &t->net.edges[t->block_edge[block]];
	appears[!d->site && d->arriving ? edge->from : edge->to] +=
		(int64_t)d->resumed - (int64_t)d->left;
}

static bool is_known(const struct counters *t, const struct counters_departure *d)
{
	return d->site ? d->site <= t->site_count : d->block < t->block_count;
}

int64_t *counters_solve(const struct counters *t, const struct counters_reading *r, bool *good,
			struct arena *a)
{
	int64_t *counts = ARENA_ARRAY(a, int64_t, t->net.edge_count);
	int64_t *appears = ARENA_ARRAY(a, int64_t, t->net.node_count);
	for (uint32_t i = 0; i < t->net.edge_count; i++) {
		const struct carrier *c = &t->carriers[i];
		if (c->kind == CARRIER_ENTRY)
			counts[i] = (int64_t)r->calls;
		else if (t->net.edges[i].chord)
			counts[i] = (int64_t)r->words[c->word];
	}
	for (uint32_t i = 0; i < r->departure_count; i++)
		if (is_known(t, &r->departures[i]))
			balance(t, &r->departures[i], appears);
	*good = net_solve(&t->net, counts, appears);
	for (uint32_t i = 0; !*good && i < t->net.edge_count; i++)
		if (counts[i] < 0)
			counts[i] = 0;
	return counts;
}

/* Whether a departure changes the count of an instruction of its block: the instruction is after
 * the place where control left or continued. */
static bool concerns(const struct counters *t, const struct counters_departure *d, uint32_t block,
		     uint32_t insn)
{
	if (!is_known(t, d))
		return false;
	if (!d->site)
		return d->block == block && d->insn <= insn && !d->arriving;
	const struct counters_site *s = &t->sites[d->site - 1];
	return s->syscall && s->block == block && s->insn < insn;
}

uint64_t counters_executions(const struct counters *t, const struct counters_reading *r,
			     const int64_t *counts, uint32_t block, uint32_t insn)
{
	int64_t n = counts[t->block_edge[block]];
	for (uint32_t i = 0; i < r->departure_count; i++) {
		const struct counters_departure *d = &r->departures[i];
		if (concerns(t, d, block, insn))
			n += (int64_t)d->resumed - (int64_t)d->left;
	}
	return n > 0 ? (uint64_t)n : 0;
}

uint64_t counters_edge(const struct counters *t, const int64_t *counts, uint32_t edge)
{
	uint32_t i = t->flow_edge[edge];
	return i == UINT32_MAX ? UINT64_MAX : (uint64_t)counts[i];
}
