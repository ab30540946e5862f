#include "cli/structure/view.h"

const char *view_machine(const struct view *v)
{
	const struct arch *arch = arch_of_machine(v->structure->machine);
	return arch ? arch->name : "unknown machine";
}

const char *view_text(const struct view *v, uint32_t offset)
{
	return v->structure->text + offset;
}

uint32_t view_inline_chain(const struct view *v, uint32_t scope, const struct scope **chain,
			   uint32_t max)
{
	const struct scope *scopes = v->structure->scopes;
	uint32_t count = 0, kept = 0;
	for (uint32_t i = scope; i != INDEX_NONE; i = scopes[i].parent) {
		if (scopes[i].kind != SCOPE_INLINE)
			continue;
		count++;
		if (kept < max)
			chain[kept++] = &scopes[i];
	}
	for (uint32_t i = 0; i < kept / 2; i++) {
		const struct scope *swap = chain[i];
		chain[i] = chain[kept - 1 - i];
		chain[kept - 1 - i] = swap;
	}
	return count;
}

static void count_scopes(const struct view *v, const struct structure_function *p,
			 struct view_counts *c)
{
	const struct scope *scopes = v->structure->scopes;
	for (uint32_t i = p->scope; i < scopes[p->scope].end; i++) {
		c->inlined += scopes[i].kind == SCOPE_INLINE;
		c->source_loops += scopes[i].kind == SCOPE_LOOP;
	}
}

static void count_loops(const struct view *v, const struct structure_function *p,
			struct view_counts *c)
{
	for (uint32_t i = p->first_loop; i < p->first_loop + p->loop_count; i++) {
		const struct machine_loop *l = &v->structure->loops[i];
		uint32_t depth = l->depth ? l->depth - 1 : 0;
		c->by_depth[depth < VIEW_DEPTHS ? depth : VIEW_DEPTHS - 1]++;
		c->irreducible += l->irreducible != 0;
	}
	c->loops += p->loop_count;
}

static void count_methods(const struct structure_function *p, struct view_counts *c)
{
	bool first = true;
	for (unsigned method = 0; method < FOUND_METHODS; method++) {
		if (!(p->found_by >> method & 1))
			continue;
		c->found[method]++;
		c->first[method] += first;
		first = false;
	}
}

void view_count(const struct view *v, struct view_counts *out)
{
	*out = (struct view_counts){0};
	for (uint32_t i = 0; i < v->count; i++) {
		const struct structure_function *p = &v->structure->functions[v->functions[i]];
		out->blocks += p->block_count;
		out->instructions += p->insn_count;
		out->bytes += p->end - p->start;
		out->tables += p->table_count;
		out->unresolved += p->unresolved;
		out->bad += p->bad;
		out->noreturn += (p->flags & FUNCTION_NORETURN) != 0;
		count_methods(p, out);
		count_loops(v, p, out);
		count_scopes(v, p, out);
	}
}
