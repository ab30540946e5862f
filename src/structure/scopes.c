/* Builds the scope tree of one function: first the loops, then every piece of code below the
 * innermost of its loops that can hold it, with the inlined calls in between. */
#include "structure/builder.h"

/* Some compilers (Go) do not say where an inlined function is: then it is where its code is. */
static uint32_t inlined_file(const struct structure_builder *b, uint32_t context)
{
	uint32_t file = unit_file(b, context_scope(b, context)->decl_file);
	if (file != DEBUG_NONE)
		return file;
	vec_each (p, &b->pieces)
		if (p->context == context && p->line)
			return p->file;
	return DEBUG_NONE;
}

static uint32_t inline_node(struct structure_builder *b, uint32_t parent, uint32_t context)
{
	uint32_t file = b->alien ? b->contexts[context].file : inlined_file(b, context);
	uint32_t n = node_get(b, parent, SCOPE_INLINE, context, file);
	if (b->alien)
		b->nodes.data[n].flags = SCOPE_ALIEN;
	return n;
}

/* The node of context `to` below `node`, which has context `from`; `from` must hold `to`. */
static uint32_t descend(struct structure_builder *b, uint32_t node, uint32_t from, uint32_t to)
{
	if (to == from)
		return node;
	if (!b->alien)
		node = descend(b, node, from, b->contexts[to].parent);
	return inline_node(b, node, to);
}

/* Whether the loop and its parent are one source loop. If the compiler jumps into the middle of a
 * loop, that becomes an irreducible loop with another loop in or around it. */
static bool is_part_of_parent(const struct structure_builder *b, uint32_t number)
{
	const struct loop *l = &b->forest->loops[number];
	if (l->parent == LOOP_NONE)
		return false;
	const struct loop_source *s = &b->loop_sources[number],
				 *outer = &b->loop_sources[l->parent];
	return (l->irreducible || b->forest->loops[l->parent].irreducible) &&
	       s->context == outer->context && s->file == outer->file &&
	       s->first_line == outer->first_line;
}

/* Adds a loop. Loops with the same first line in the same place are one source loop: they are
 * copies that the compiler made (the first rule of section 3.4). */
static void add_loop(struct structure_builder *b, uint32_t number)
{
	const struct loop *l = &b->forest->loops[number];
	struct loop_source *s = &b->loop_sources[number];
	uint32_t node = 0, context = CONTEXT_FUNCTION;
	if (l->parent != LOOP_NONE) {
		node = b->loop_sources[l->parent].node;
		context = b->loop_sources[l->parent].context;
	}
	bool has_line = s->first_line != 0;
	if (has_line && is_part_of_parent(b, number)) {
		s->node = node;
	} else {
		node = descend(b, node, context, s->context);
		/* Loops without a line are distinguished by number. */
		s->node = node_get(b, node, SCOPE_LOOP, has_line ? s->first_line : number,
				   has_line ? s->file : (uint32_t)DEBUG_NONE);
	}

	struct node *n = &b->nodes.data[s->node];
	if (n->loop == INDEX_NONE)
		n->loop = number;
	n->first_line = s->first_line;
	if (s->last_line > n->last_line)
		n->last_line = s->last_line;
	if (!has_line)
		n->flags |= SCOPE_NO_LINE;
	if (l->irreducible)
		n->flags |= SCOPE_IRREDUCIBLE;
}

/* Widens the line range of the inlined call or function around `node`. */
static void widen(struct structure_builder *b, uint32_t node, uint32_t file, uint32_t line)
{
	while (b->nodes.data[node].kind == SCOPE_LOOP)
		node = b->nodes.data[node].parent;
	struct node *n = &b->nodes.data[node];
	if (n->file == DEBUG_NONE && !n->last_line && n->kind == SCOPE_FUNCTION)
		n->file = file;
	if (n->file != file)
		return;
	if (!n->first_line || line < n->first_line)
		n->first_line = line;
	if (line > n->last_line)
		n->last_line = line;
}

/* Puts a piece below the innermost of its loops that can hold it. */
static void place_piece(struct structure_builder *b, const struct piece *p)
{
	uint32_t loop = p->loop, node = 0, context = CONTEXT_FUNCTION;
	while (loop != LOOP_NONE && !context_holds(b, b->loop_sources[loop].context, p->context))
		loop = b->forest->loops[loop].parent;
	if (loop != LOOP_NONE) {
		node = b->loop_sources[loop].node;
		context = b->loop_sources[loop].context;
	}
	node = descend(b, node, context, p->context);
	if (p->line) {
		widen(b, node, p->file, p->line);
		node = node_get(b, node, SCOPE_LINE, p->line, p->file);
	}
	for (; node; node = b->nodes.data[node].parent)
		node_add_range(b, &b->nodes.data[node], p->start, p->end);
}

static void start_tree(struct structure_builder *b)
{
	struct node root = {
		.kind = SCOPE_FUNCTION,
		.file = DEBUG_NONE,
		.first_range = INDEX_NONE,
		.last_range = INDEX_NONE,
		.loop = INDEX_NONE,
	};
	if (b->subprogram != DEBUG_NONE) {
		const struct debug_scope *s = &b->source->unit->scopes[b->subprogram];
		root.file = unit_file(b, s->decl_file);
		root.first_line = root.last_line = s->decl_line;
	}
	nodes_clear(b);
	vec_push(&b->nodes, root);
	for (uint32_t i = 0; i < b->part_count; i++)
		node_add_range(b, &b->nodes.data[0], b->parts[i].start, b->parts[i].end);
}

void build_scopes(struct structure_builder *b)
{
	start_tree(b);
	for (uint32_t i = 0; i < b->forest->loop_count; i++)
		add_loop(b, i);
	vec_each (p, &b->pieces)
		place_piece(b, p);
}
