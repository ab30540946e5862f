#include "tally/solve.h"

#include "flow/cfg.h"

static uint32_t block_behind(const struct tally *t, const struct tally_site *s)
{
	const struct block *b = &t->cfg->blocks[s->block];
	for (uint32_t i = b->first_edge; i < b->first_edge + b->edge_count; i++)
		if (t->cfg->edges[i].kind == EDGE_CALL_RETURN)
			return t->cfg->edges[i].to;
	return BLOCK_NONE;
}

/* Control leaves at the end of the call's block, and appears at the top of the one behind it; a
 * system call is in the middle of a block, and both happen before its end. */
static void balance(const struct tally *t, const struct tally_departure *d, int64_t *appears)
{
	const struct tally_site *s = &t->sites[d->site - 1];
	const struct net_edge *block = &t->net.edges[t->block_edge[s->block]];
	uint32_t behind = s->syscall ? BLOCK_NONE : block_behind(t, s);
	appears[block->to] -= (int64_t)d->left;
	if (behind != BLOCK_NONE)
		appears[t->net.edges[t->block_edge[behind]].from] += (int64_t)d->resumed;
	else if (s->syscall)
		appears[block->to] += (int64_t)d->resumed;
}

int64_t *tally_solve(const struct tally *t, const struct tally_reading *r, bool *good,
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
		if (r->departures[i].site && r->departures[i].site <= t->site_count)
			balance(t, &r->departures[i], appears);
	*good = net_solve(&t->net, counts, appears);
	for (uint32_t i = 0; !*good && i < t->net.edge_count; i++)
		if (counts[i] < 0)
			counts[i] = 0;
	return counts;
}

uint64_t tally_executions(const struct tally *t, const struct tally_reading *r,
			  const int64_t *counts, uint32_t block, uint32_t insn)
{
	int64_t n = counts[t->block_edge[block]];
	for (uint32_t i = 0; i < r->departure_count; i++) {
		const struct tally_departure *d = &r->departures[i];
		if (!d->site || d->site > t->site_count)
			continue;
		const struct tally_site *s = &t->sites[d->site - 1];
		if (s->syscall && s->block == block && s->insn < insn)
			n += (int64_t)d->resumed - (int64_t)d->left;
	}
	return n > 0 ? (uint64_t)n : 0;
}

uint64_t tally_edge(const struct tally *t, const int64_t *counts, uint32_t edge)
{
	uint32_t i = t->flow_edge[edge];
	return i == UINT32_MAX ? UINT64_MAX : (uint64_t)counts[i];
}
