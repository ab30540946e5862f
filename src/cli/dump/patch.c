#include <inttypes.h>

#include "base/vec.h"
#include "cli/dump/dump.h"
#include "flow/liveness.h"
#include "patch/spots.h"

static void add_free(const struct dump *d, struct regset live, bool exclusive, struct text *out)
{
	struct regset unused = liveness_free(d->arch, &live);
	text_add(out, " free=");
	dump_registers(d, &unused, out);
	text_add(out, exclusive ? " exclusive\n" : "\n");
}

static void add_live_block(struct dump *d, const struct liveness *l, uint32_t i)
{
	const struct block *b = &l->cfg->blocks[i];
	struct insn in;
	size_t n;
	text_printf(&d->out, "  block %u\n", i);
	for (uint64_t va = b->start; va < b->start + b->size; va += in.length) {
		const uint8_t *p = module_at(d->module, va, d->arch->insn_max, &n);
		if (!p || !d->arch->decode(p, n, va, DECODE_FLOW, &in))
			break;
		text_printf(&d->out, "    0x%" PRIx64, va);
		add_free(d, liveness_before(l, i, va), liveness_in_exclusive(l, i, va), &d->out);
	}
	for (uint32_t k = b->first_edge; k < b->first_edge + b->edge_count; k++) {
		const struct edge *e = &l->cfg->edges[k];
		text_printf(&d->out, "    -> %u %s", e->to, edge_kind_name[e->kind]);
		add_free(d, liveness_on_edge(l, e), liveness_exclusive_on_edge(l, e), &d->out);
	}
}

void dump_live(struct dump *d, uint32_t function)
{
	uint32_t count;
	const struct function *p = &flow_functions(d->flow, &count)[function];
	const struct cfg *g = flow_cfg(d->flow, function, &d->result, &d->tmp);
	struct liveness l;
	liveness_find(&l, d->flow, g, (struct regset){0}, &d->result, &d->tmp);
	dump_heading(d, p);
	text_add(&d->out, l.unknown ? " unknown\n" : "\n");
	for (uint32_t i = 0; i < g->block_count; i++)
		add_live_block(d, &l, i);
}

static void add_spot(const struct cfg *g, const struct spot *s, struct text *out)
{
	text_printf(out, "  %s %s", point_kind_name[s->kind], spot_place_name[s->place]);
	if (s->place == SPOT_EDGE)
		text_printf(out, " %u -> %u %s", g->edges[s->edge].from, g->edges[s->edge].to,
			    edge_kind_name[g->edges[s->edge].kind]);
	text_printf(out, " 0x%" PRIx64, s->va);
	if (s->loop != LOOP_NONE)
		text_printf(out, " loop=%u", s->loop);
	text_char(out, '\n');
}

void dump_points(struct dump *d, uint32_t function)
{
	uint32_t count;
	const struct function *p = &flow_functions(d->flow, &count)[function];
	const struct cfg *g = flow_cfg(d->flow, function, &d->result, &d->tmp);
	struct loop_forest forest;
	struct spot_list spots = {0};
	loops_find(g, &forest, &d->result, &d->tmp);
	spots_find(d->flow, g, &forest, (1u << POINT_KINDS) - 1, LOOP_NONE, &spots);
	dump_heading(d, p);
	text_printf(&d->out, " spots=%u\n", spots.len);
	vec_each (s, &spots)
		add_spot(g, s, &d->out);
	vec_free(&spots);
}
