#include "cli/dump/dump.h"

#include <inttypes.h>

#include "flow/loops.h"

static void add_found(const struct function *p, struct text *out)
{
	static const char *const flag_names[16] = {"noreturn", "plt", "ifunc"};
	const char *before = " found=";
	for (unsigned method = 0; method < FOUND_METHODS; method++) {
		if (!(p->found_by >> method & 1))
			continue;
		text_add(out, before);
		text_add(out, found_by_name[method]);
		before = ",";
	}
	dump_flags(p->flags, flag_names, out);
}

static void add_block(const struct cfg *g, uint32_t i, struct text *out)
{
	static const char *const flag_names[16] = {"noreturn", "landing", "conditional",
						   "open-frame"};
	const struct block *b = &g->blocks[i];
	text_printf(out, "  block %u 0x%" PRIx64 "-0x%" PRIx64 " insns=%u end=%s", i, b->start,
		    (b->start + b->size), b->insn_count, block_end_name[b->end]);
	if (b->target)
		text_printf(out, " target=0x%" PRIx64, b->target);
	dump_flags(b->flags, flag_names, out);
	text_char(out, '\n');
	for (uint32_t k = b->first_edge; k < b->first_edge + b->edge_count; k++)
		text_printf(out, "    -> %u %s\n", g->edges[k].to,
			    edge_kind_name[g->edges[k].kind]);
}

void dump_cfg(struct dump *d, uint32_t function)
{
	static const char *const bound_names[] = {"compare", "type", "contents", "labels"};
	uint32_t count;
	const struct function *p = &flow_functions(d->flow, &count)[function];
	const struct cfg *g = flow_cfg(d->flow, function, &d->result, &d->tmp);
	dump_heading(d, p);
	add_found(p, &d->out);
	text_printf(&d->out, " blocks=%u edges=%u insns=%u entry=%u unresolved=%u bad=%u\n",
		    g->block_count, g->edge_count, g->insn_count, g->entry, g->unresolved, g->bad);
	for (uint32_t i = 0; i < g->block_count; i++)
		add_block(g, i, &d->out);
	for (uint32_t i = 0; i < g->table_count; i++)
		text_printf(&d->out,
			    "  table block=%u va=0x%" PRIx64 " count=%u entry=%u bound=%s\n",
			    g->tables[i].block, g->tables[i].va, g->tables[i].count,
			    g->tables[i].entry_size, bound_names[g->tables[i].bound]);
}

static void add_loop_edges(const struct cfg *g, const char *what, const uint32_t *edges,
			   uint32_t count, size_t indent, struct text *out)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct edge *e = &g->edges[edges[i]];
		text_fill(out, ' ', indent);
		text_printf(out, "%s %u -> %u %s\n", what, e->from, e->to, edge_kind_name[e->kind]);
	}
}

static void add_loop(const struct cfg *g, const struct loop_forest *f, uint32_t i, struct text *out)
{
	const struct loop *l = &f->loops[i];
	size_t indent = 2 * (size_t)(l->depth < 30 ? l->depth : 30);
	text_fill(out, ' ', indent);
	text_printf(out, "loop %u header=%u 0x%" PRIx64 " depth=%u%s blocks=", i, l->header,
		    g->blocks[l->header].start, l->depth, l->irreducible ? " irreducible" : "");
	for (uint32_t k = 0; k < l->block_count; k++)
		text_printf(out, "%s%u", k ? "," : "", f->blocks[l->first_block + k]);
	text_char(out, '\n');
	add_loop_edges(g, "entry", f->edges + l->first_entry, l->entry_count, indent + 2, out);
	add_loop_edges(g, "back", f->edges + l->first_back, l->back_count, indent + 2, out);
	add_loop_edges(g, "exit", f->edges + l->first_exit, l->exit_count, indent + 2, out);
}

void dump_loops(struct dump *d, uint32_t function)
{
	uint32_t count;
	const struct function *p = &flow_functions(d->flow, &count)[function];
	const struct cfg *g = flow_cfg(d->flow, function, &d->result, &d->tmp);
	struct loop_forest forest;
	loops_find(g, &forest, &d->result, &d->tmp);
	dump_heading(d, p);
	text_printf(&d->out, " loops=%u\n", forest.loop_count);
	for (uint32_t i = 0; i < forest.loop_count; i++)
		add_loop(g, &forest, i, &d->out);
}

void dump_losses(struct dump *d)
{
	for (unsigned reg = 0; reg <= REG_FLAGS; reg++) {
		const struct private_loss *l = &d->private.lost[reg];
		bool core = regset_has(&d->arch->private_candidates, reg);
		if (!l->kind)
			continue;
		text_add(&d->out, "lost ");
		dump_registers(d,
			       &(struct regset){.core = core ? UINT64_C(1) << reg : 0,
						.vec = core ? 0 : UINT32_C(1) << reg},
			       &d->out);
		text_printf(&d->out, " %s 0x%" PRIx64 "\n", private_loss_name[l->kind], l->va);
	}
}

static void add_registers(struct dump *d, const char *what, const struct regset *set)
{
	text_add(&d->out, what);
	dump_registers(d, set, &d->out);
}

void dump_private(struct dump *d, uint32_t function)
{
	uint32_t count;
	const struct private_set *p = &d->private.of[function];
	dump_heading(d, &flow_functions(d->flow, &count)[function]);
	add_registers(d, " private=", &p->registers);
	add_registers(d, " expected=", &p->expected);
	add_registers(d, " held=", &p->held);
	add_registers(d, " kept=", &p->kept);
	text_char(&d->out, '\n');
}
