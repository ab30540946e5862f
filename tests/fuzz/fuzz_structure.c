/* The whole analysis: flow graphs of all functions, loops, scopes; and what the headers promise of
 * them. */
#include <string.h>

#include "flow/flow.h"
#include "flow/loops.h"
#include "structure/structure.h"
#include "targets.h"

static void check_graph(const struct cfg *g)
{
	FUZZ_CHECK(g->block_count == 0 || g->entry < g->block_count);
	for (uint32_t i = 0; i < g->block_count; i++) {
		const struct block *b = &g->blocks[i];
		FUZZ_CHECK(b->end < BLOCK_ENDS && b->first_edge <= g->edge_count);
		FUZZ_CHECK(b->edge_count <= g->edge_count - b->first_edge);
		FUZZ_CHECK(i == 0 || g->blocks[i - 1].start < b->start);
		for (uint32_t k = 0; k < b->edge_count; k++)
			FUZZ_CHECK(g->edges[b->first_edge + k].from == i);
	}
	for (uint32_t i = 0; i < g->edge_count; i++)
		FUZZ_CHECK(g->edges[i].to < g->block_count && g->edges[i].kind < EDGE_KINDS);
	for (uint32_t i = 0; i < g->table_count; i++)
		FUZZ_CHECK(g->tables[i].block < g->block_count);
}

static void check_loops(const struct cfg *g, const struct loop_forest *f)
{
	for (uint32_t i = 0; i < f->loop_count; i++) {
		const struct loop *l = &f->loops[i];
		FUZZ_CHECK(l->header < g->block_count && l->block_count > 0 && l->back_count > 0);
		FUZZ_CHECK(l->parent == LOOP_NONE
				   ? l->depth == 1
				   : l->parent < i && f->loops[l->parent].depth + 1 == l->depth);
		for (uint32_t k = 0; k < l->back_count; k++)
			FUZZ_CHECK(f->edges[l->first_back + k] < g->edge_count);
	}
	for (uint32_t i = 0; i < g->block_count; i++)
		FUZZ_CHECK(f->innermost[i] == LOOP_NONE || f->innermost[i] < f->loop_count);
}

static void check_flow(const struct module *m)
{
	struct flow *f = NULL;
	struct err e;
	struct arena a, tmp;
	if (flow_open(&f, m, &e))
		return;
	flow_discover(f);
	uint32_t count;
	const struct function *procs = flow_functions(f, &count);
	arena_init(&a);
	arena_init(&tmp);
	for (uint32_t i = 0; i < count; i++) {
		FUZZ_CHECK(procs[i].start <= procs[i].end);
		FUZZ_CHECK(i == 0 || procs[i - 1].start < procs[i].start);
		const struct cfg *g = flow_cfg(f, i, &a, &tmp);
		struct loop_forest forest;
		check_graph(g);
		loops_find(g, &forest, &a, &tmp);
		check_loops(g, &forest);
		arena_clear(&a);
		arena_clear(&tmp);
	}
	arena_release(&tmp);
	arena_release(&a);
	flow_close(f);
}

static void check_scope(const struct structure *s, uint32_t i)
{
	const struct scope *c = &s->scopes[i];
	FUZZ_CHECK(c->end > i && c->end <= s->scope_count);
	FUZZ_CHECK(c->parent == INDEX_NONE ? c->kind == SCOPE_FUNCTION
					   : c->parent < i && s->scopes[c->parent].end >= c->end);
	FUZZ_CHECK(c->name < s->text_size && c->file < s->text_size && c->call_file < s->text_size);
	FUZZ_CHECK(c->first_range <= s->range_count &&
		   c->range_count <= s->range_count - c->first_range);
	if (c->kind == SCOPE_LOOP)
		FUZZ_CHECK(c->loop < s->loop_count);
}

static void check_structure(const struct structure *s)
{
	for (uint32_t i = 0; i < s->scope_count; i++)
		check_scope(s, i);
	for (uint32_t i = 0; i < s->loop_count; i++) {
		const struct machine_loop *l = &s->loops[i];
		FUZZ_CHECK(l->function < s->function_count && l->scope < s->scope_count);
		FUZZ_CHECK(l->parent == INDEX_NONE || l->parent < i);
	}
	for (uint32_t i = 0; i < s->function_count; i++) {
		const struct structure_function *p = &s->functions[i];
		FUZZ_CHECK(p->scope < s->scope_count && p->name < s->text_size);
		FUZZ_CHECK(p->first_loop <= s->loop_count &&
			   p->loop_count <= s->loop_count - p->first_loop);
	}
}

void fuzz_structure(const uint8_t *data, size_t size)
{
	struct module *m = NULL;
	struct structure *s = NULL;
	struct structure_options o = {.use_debug = true};
	struct err e;
	if (module_open_memory(&m, "fuzz", data, size, &e))
		return;
	check_flow(m);
	if (structure_build(&s, m, &o, &e) == 0) {
		check_structure(s);
		structure_free(s);
	}
	module_close(m);
}
