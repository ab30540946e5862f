#include "structure/builder.h"

#include "base/order.h"
#include "module/demangle.h"

void builder_init(struct structure_builder *b)
{
	*b = (struct structure_builder){0};
	text_pool_init(&b->text);
	arena_init(&b->cfg_arena);
	arena_init(&b->tmp);
}

void builder_release(struct structure_builder *b)
{
	text_pool_release(&b->text);
	vec_free(&b->built);
	vec_free(&b->scopes);
	vec_free(&b->loops);
	vec_free(&b->ranges);
	vec_free(&b->alien_contexts);
	vec_free(&b->pieces);
	vec_free(&b->nodes);
	vec_free(&b->range_links);
	vec_free(&b->scope_of);
	hashmap_release(&b->node_at);
	arena_release(&b->cfg_arena);
	arena_release(&b->tmp);
}

void builder_clear(struct structure_builder *b)
{
	text_pool_clear(&b->text);
	vec_clear(&b->built);
	vec_clear(&b->scopes);
	vec_clear(&b->loops);
	vec_clear(&b->ranges);
}

/* Collects all parts of the function, sorted by address. */
static void sort_parts(struct structure_builder *b, const struct part *parts)
{
	const struct function *p = b->function;
	struct part *all = ARENA_ARRAY(&b->tmp, struct part, p->part_count + 1);
	all[0] = (struct part){p->start, p->end};
	for (uint32_t i = 0; i < p->part_count; i++) {
		uint32_t at = i + 1;
		for (; at && all[at - 1].start > parts[i].start; at--)
			all[at] = all[at - 1];
		all[at] = parts[i];
	}
	b->parts = all;
	b->part_count = p->part_count + 1;
}

/* The line of a function's entry is that of the first row at its address; later rows are of code
 * that was moved there. */
static void find_entry_line(struct structure_builder *b)
{
	const struct debug_unit *u = b->source ? b->source->unit : NULL;
	b->entry_line = 0;
	if (!u)
		return;
	uint64_t start = b->function->start;
	uint32_t first = start ? ORDER_UP_TO(u->lines, u->line_count, va, start - 1) : 0;
	if (first < u->line_count && u->lines[first].va == start) {
		b->entry_file = unit_file(b, u->lines[first].file);
		b->entry_line = u->lines[first].line;
	}
}

/* The name as people write it: that of the symbol; without a symbol, the one from the debugging
 * information. */
static uint32_t function_name(struct structure_builder *b)
{
	if (b->function->name)
		return text_pool_add(&b->text, demangle(&b->tmp, b->function->name));
	if (b->subprogram == DEBUG_NONE)
		return 0;
	return text_pool_add(&b->text, b->source->unit->scopes[b->subprogram].name);
}

static struct structure_function describe(struct structure_builder *b)
{
	const struct function *p = b->function;
	const struct cfg *g = b->cfg;
	return (struct structure_function){
		.start = p->start,
		.end = p->end,
		.name = function_name(b),
		.linkage = text_pool_add(&b->text, p->name),
		.loop_count = b->forest->loop_count,
		.block_count = g->block_count,
		.edge_count = g->edge_count,
		.insn_count = g->insn_count,
		.unresolved = g->unresolved,
		.table_count = g->table_count,
		.bad = g->bad,
		.found_by = p->found_by,
		.flags = p->flags,
	};
}

static const struct source_context only_function = {.scope = DEBUG_NONE};

void builder_add(struct structure_builder *b, uint32_t number, const struct function *p,
		 const struct part *parts, const struct cfg *cfg, const struct loop_forest *forest,
		 const struct source *source)
{
	arena_clear(&b->tmp);
	b->function = p;
	b->cfg = cfg;
	b->forest = forest;
	b->source = source;
	b->subprogram = source ? source_subprogram_at(source, p->start) : (uint32_t)DEBUG_NONE;
	b->alien = source && !source->unit->has_inlining;
	b->contexts = source ? source->contexts : &only_function;
	find_entry_line(b);
	sort_parts(b, parts);
	struct structure_function description = describe(b);
	find_pieces(b);
	if (b->alien)
		find_aliens(b);
	find_loop_sources(b);
	build_scopes(b);
	normalise_lines(b);
	emit_function(b, number, &description);
}
