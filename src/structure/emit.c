/* Appends a finished tree to the builder, in preorder. */
#include <stdlib.h>

#include "structure/builder.h"

/* Siblings are sorted by source line, then by address. */
struct order_key {
	uint32_t parent, line, kind, number;
	uint64_t low;
};

static int by_order(const void *a, const void *b)
{
	const struct order_key *x = a, *y = b;
	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind > y->kind ? -1 : 1; /* lines first */
	return x->number < y->number ? -1 : x->number > y->number;
}

static struct order_key order_key(const struct structure_builder *b, uint32_t number)
{
	const struct node *n = &b->nodes.data[number];
	struct order_key k = {
		.parent = n->parent, .line = n->first_line, .kind = n->kind, .number = number};
	if (n->kind == SCOPE_LINE)
		k.line = n->id;
	else if (n->kind == SCOPE_INLINE && !b->alien)
		k.line = context_scope(b, n->id)->call_line;
	if (n->first_range != INDEX_NONE)
		k.low = b->range_links.data[n->first_range].start;
	return k;
}

/* Links each node's children in order. */
static void order_nodes(struct structure_builder *b)
{
	uint32_t n = 0;
	struct order_key *keys = ARENA_ARRAY(&b->tmp, struct order_key, b->nodes.len);
	for (uint32_t i = 1; i < b->nodes.len; i++)
		if (!b->nodes.data[i].dead)
			keys[n++] = order_key(b, i);
	qsort(keys, n, sizeof(*keys), by_order);
	for (uint32_t i = n; i-- > 0;) {
		struct node *node = &b->nodes.data[keys[i].number],
			    *parent = &b->nodes.data[node->parent];
		node->next = parent->child;
		parent->child = keys[i].number;
	}
}

static uint32_t add_file(struct structure_builder *b, uint32_t file)
{
	uint32_t same = unit_file(b, file);
	return same == DEBUG_NONE ? 0 : text_pool_add(&b->text, b->source->unit->files[same]);
}

static uint32_t emit_ranges(struct structure_builder *b, const struct node *n)
{
	uint32_t count = 0;
	for (uint32_t r = n->first_range; r != INDEX_NONE;
	     r = b->range_links.data[r].next, count++) {
		const struct range_link *link = &b->range_links.data[r];
		vec_push(&b->ranges, (struct address_range){link->start, link->end});
	}
	return count;
}

static void name_inline(struct structure_builder *b, struct scope *s, uint32_t context)
{
	if (!b->alien) {
		const struct debug_scope *call = context_scope(b, context);
		s->name = text_pool_add(&b->text, call->name);
		s->call_file = add_file(b, call->call_file);
		s->call_line = call->call_line;
	} else if (b->contexts[context].owner != DEBUG_NONE) {
		s->name = text_pool_add(&b->text,
					b->source->outline[b->contexts[context].owner].name);
	}
}

/* The number of source loops around a scope, itself included. `around` is that of its parent. */
static uint16_t loop_depth(uint32_t around, const struct node *n)
{
	uint32_t depth = around + (n->kind == SCOPE_LOOP);
	return (uint16_t)(depth < UINT16_MAX ? depth : UINT16_MAX);
}

static void emit_scope(struct structure_builder *b, const struct built *built, uint32_t number,
		       uint32_t parent)
{
	const struct node *n = &b->nodes.data[number];
	uint32_t around = number ? b->scopes.data[built->first_scope + parent].loop_depth : 0;
	struct scope s = {
		.parent = parent,
		.file = add_file(b, n->file),
		.first_line = n->kind == SCOPE_LINE ? n->id : n->first_line,
		.last_line = n->kind == SCOPE_LINE ? n->id : n->last_line,
		.first_range = b->ranges.len - built->first_range,
		.range_count = emit_ranges(b, n),
		.loop = n->loop,
		.kind = n->kind,
		.flags = n->flags,
		.loop_depth = loop_depth(around, n),
	};
	if (n->kind == SCOPE_FUNCTION)
		s.name = built->function.name;
	else if (n->kind == SCOPE_INLINE)
		name_inline(b, &s, n->id);
	vec_push(&b->scopes, s);
}

/* Appends the tree in preorder. Sets b->scope_of[] to the scope of each node, relative to the
 * first. */
static void emit_tree(struct structure_builder *b, const struct built *built)
{
	uint32_t at = 0, scope = INDEX_NONE; /* `scope` is that of the parent; the root has none */
	vec_reserve(&b->scope_of, b->nodes.len);
	for (;;) {
		uint32_t here = b->scopes.len - built->first_scope;
		b->scope_of.data[at] = here;
		emit_scope(b, built, at, scope);
		if (b->nodes.data[at].child) {
			at = b->nodes.data[at].child;
			scope = here;
			continue;
		}
		for (;;) {
			uint32_t end = b->scopes.len - built->first_scope;
			b->scopes.data[built->first_scope + b->scope_of.data[at]].end = end;
			if (!at)
				return;
			if (b->nodes.data[at].next)
				break;
			at = b->nodes.data[at].parent;
			scope = b->scopes.data[built->first_scope + b->scope_of.data[at]].parent;
		}
		at = b->nodes.data[at].next;
	}
}

static void emit_loop(struct structure_builder *b, uint32_t number)
{
	const struct loop *l = &b->forest->loops[number];
	struct machine_loop m = {
		.header = b->cfg->blocks[l->header].start,
		.parent = l->parent,
		.scope = b->scope_of.data[b->loop_sources[number].node],
		.depth = l->depth,
		.block_count = l->block_count,
		.entry_count = l->entry_count,
		.exit_count = l->exit_count,
		.back_count = l->back_count,
		.irreducible = l->irreducible,
	};
	for (uint32_t i = 0; i < l->block_count; i++) {
		const struct block *k = &b->cfg->blocks[b->forest->blocks[l->first_block + i]];
		m.bytes += k->size;
		m.insn_count += k->insn_count;
		m.call_count += k->end == END_CALL || k->end == END_CALL_INDIRECT;
	}
	vec_push(&b->loops, m);
}

void emit_function(struct structure_builder *b, uint32_t number,
		   const struct structure_function *description)
{
	struct built done = {
		.number = number,
		.first_scope = b->scopes.len,
		.first_loop = b->loops.len,
		.first_range = b->ranges.len,
		.function = *description,
	};
	order_nodes(b);
	emit_tree(b, &done);
	for (uint32_t i = 0; i < b->forest->loop_count; i++)
		emit_loop(b, i);
	done.scope_count = b->scopes.len - done.first_scope;
	done.range_count = b->ranges.len - done.first_range;
	vec_push(&b->built, done);
}
