/* The scope tree of one procedure: see builder.h for the steps. */
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/order.h"
#include "image/demangle.h"
#include "structure/builder.h"

enum { FIRST_SLOTS = 256 };

void builder_init(struct structure_builder *b)
{
	*b = (struct structure_builder){
		.node_slot_count = FIRST_SLOTS,
		.node_slot_room = FIRST_SLOTS,
	};
	text_pool_init(&b->text);
	b->node_slots = xcalloc(FIRST_SLOTS, sizeof(*b->node_slots));
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
	vec_free(&b->order);
	free(b->node_slots);
	arena_release(&b->cfg_arena);
	arena_release(&b->tmp);
}

static uint32_t slot_of(const struct structure_builder *b, uint32_t parent, enum scope_kind kind,
			uint32_t id, uint32_t file)
{
	uint32_t key[4] = {parent, id, file, kind};
	uint32_t mask = b->node_slot_count - 1;
	uint32_t i = (uint32_t)hash_bytes(key, sizeof(key), 0) & mask;
	for (; b->node_slots[i]; i = (i + 1) & mask) {
		const struct node *n = &b->nodes.data[b->node_slots[i]];
		if (n->parent == parent && n->id == id && n->file == file && n->kind == kind)
			break;
	}
	return i;
}

static void put_slot(struct structure_builder *b, uint32_t number)
{
	const struct node *n = &b->nodes.data[number];
	b->node_slots[slot_of(b, n->parent, n->kind, n->id, n->file)] = number;
}

static void grow_slots(struct structure_builder *b)
{
	b->node_slot_count *= 2;
	if (b->node_slot_count > b->node_slot_room) {
		b->node_slot_room = b->node_slot_count;
		free(b->node_slots);
		b->node_slots = xmalloc(b->node_slot_room * sizeof(*b->node_slots));
	}
	memset(b->node_slots, 0, b->node_slot_count * sizeof(*b->node_slots));
	for (uint32_t i = 1; i < b->nodes.len; i++)
		put_slot(b, i);
}

uint32_t node_find(const struct structure_builder *b, uint32_t parent, enum scope_kind kind,
		   uint32_t id, uint32_t file)
{
	return b->node_slots[slot_of(b, parent, kind, id, file)];
}

static uint32_t node_get(struct structure_builder *b, uint32_t parent, enum scope_kind kind,
			 uint32_t id, uint32_t file)
{
	uint32_t found = node_find(b, parent, kind, id, file);
	if (found)
		return found;
	if (b->nodes.len * 2 > b->node_slot_count)
		grow_slots(b);
	struct node n = {
		.parent = parent,
		.id = id,
		.file = file,
		.kind = (uint8_t)kind,
		.first_range = INDEX_NONE,
		.last_range = INDEX_NONE,
		.loop = INDEX_NONE,
	};
	vec_push(&b->nodes, n);
	put_slot(b, b->nodes.len - 1);
	return b->nodes.len - 1;
}

static const struct debug_scope *call_of(const struct structure_builder *b, uint32_t context)
{
	return &b->source->unit->scopes[b->contexts[context].scope];
}

static uint32_t file_of(const struct structure_builder *b, uint32_t file)
{
	if (!b->source || file >= b->source->unit->file_count)
		return DEBUG_NONE;
	return b->source->same_file[file];
}

static uint32_t inline_node(struct structure_builder *b, uint32_t parent, uint32_t context)
{
	uint32_t file = b->alien ? b->contexts[context].file
				 : file_of(b, call_of(b, context)->decl_file);
	uint32_t n = node_get(b, parent, SCOPE_INLINE, context, file);
	if (b->alien)
		b->nodes.data[n].flags = SCOPE_ALIEN;
	return n;
}

/* The node of context `to` below `node`, which is of context `from` and holds it. */
static uint32_t descend(struct structure_builder *b, uint32_t node, uint32_t from, uint32_t to)
{
	if (to == from)
		return node;
	if (!b->alien)
		node = descend(b, node, from, b->contexts[to].parent);
	return inline_node(b, node, to);
}

/* Where the compiler jumps into a loop's middle, one source loop becomes an irreducible loop and a loop
 * within or around it. */
static bool is_part_of_parent(const struct structure_builder *b, uint32_t number)
{
	const struct loop *l = &b->forest->loops[number];
	if (l->parent == LOOP_NONE)
		return false;
	const struct loop_source *s = &b->loop_sources[number], *outer = &b->loop_sources[l->parent];
	return (l->irreducible || b->forest->loops[l->parent].irreducible) &&
	       s->context == outer->context && s->file == outer->file &&
	       s->first_line == outer->first_line;
}

/* Loops with the same first line in the same place are one source loop: copies that the compiler made of
 * it (the first rule of section 3.4). */
static void add_loop(struct structure_builder *b, uint32_t number)
{
	const struct loop *l = &b->forest->loops[number];
	struct loop_source *s = &b->loop_sources[number];
	uint32_t node = 0, context = CONTEXT_PROCEDURE;
	if (l->parent != LOOP_NONE) {
		node = b->loop_sources[l->parent].node;
		context = b->loop_sources[l->parent].context;
	}
	bool has_line = s->first_line != 0;
	if (has_line && is_part_of_parent(b, number)) {
		s->node = node;
	} else {
		node = descend(b, node, context, s->context);
		/* Loops without a line are told apart by their number. */
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

static void add_range(struct structure_builder *b, struct node *n, uint64_t start, uint64_t end)
{
	uint32_t at = b->range_links.len;
	if (n->last_range == INDEX_NONE) {
		n->first_range = at;
	} else {
		struct range_link *last = &b->range_links.data[n->last_range];
		if (last->end >= start) {
			last->end = end > last->end ? end : last->end;
			return;
		}
		last->next = at;
	}
	n->last_range = at;
	vec_push(&b->range_links, (struct range_link){start, end, INDEX_NONE});
}

/* Widens the lines of the inlined call or procedure around `node`. */
static void widen(struct structure_builder *b, uint32_t node, uint32_t file, uint32_t line)
{
	while (b->nodes.data[node].kind == SCOPE_LOOP)
		node = b->nodes.data[node].parent;
	struct node *n = &b->nodes.data[node];
	if (n->file == DEBUG_NONE && !n->last_line && n->kind == SCOPE_PROCEDURE)
		n->file = file;
	if (n->file != file)
		return;
	if (!n->first_line || line < n->first_line)
		n->first_line = line;
	if (line > n->last_line)
		n->last_line = line;
}

/* A piece stands below the innermost of its loops that can hold it. */
static void place_piece(struct structure_builder *b, const struct piece *p)
{
	uint32_t loop = p->loop, node = 0, context = CONTEXT_PROCEDURE;
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
		add_range(b, &b->nodes.data[node], p->start, p->end);
}

/* The main part and the parts split off, sorted by address. */
static void sort_parts(struct structure_builder *b, const struct part *parts)
{
	const struct procedure *p = b->procedure;
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

static void start_tree(struct structure_builder *b)
{
	struct node root = {
		.kind = SCOPE_PROCEDURE,
		.file = DEBUG_NONE,
		.first_range = INDEX_NONE,
		.last_range = INDEX_NONE,
		.loop = INDEX_NONE,
	};
	if (b->subprogram != DEBUG_NONE) {
		const struct debug_scope *s = &b->source->unit->scopes[b->subprogram];
		root.file = file_of(b, s->decl_file);
		root.first_line = root.last_line = s->decl_line;
	}
	memset(b->node_slots, 0, b->node_slot_count * sizeof(*b->node_slots));
	b->node_slot_count = FIRST_SLOTS;
	vec_clear(&b->nodes);
	vec_clear(&b->range_links);
	vec_push(&b->nodes, root);
	for (uint32_t i = 0; i < b->part_count; i++)
		add_range(b, &b->nodes.data[0], b->parts[i].start, b->parts[i].end);
}

/* Siblings in the order of the source, then of addresses. */
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
	struct order_key k = {.parent = n->parent, .line = n->first_line, .kind = n->kind, .number = number};
	if (n->kind == SCOPE_LINE)
		k.line = n->id;
	else if (n->kind == SCOPE_INLINE && !b->alien)
		k.line = call_of(b, n->id)->call_line;
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
		struct node *node = &b->nodes.data[keys[i].number], *parent = &b->nodes.data[node->parent];
		node->next = parent->child;
		parent->child = keys[i].number;
	}
}

static uint32_t add_file(struct structure_builder *b, uint32_t file)
{
	uint32_t same = file_of(b, file);
	return same == DEBUG_NONE ? 0 : text_pool_add(&b->text, b->source->unit->files[same]);
}

static uint32_t emit_ranges(struct structure_builder *b, const struct node *n)
{
	uint32_t count = 0;
	for (uint32_t r = n->first_range; r != INDEX_NONE; r = b->range_links.data[r].next, count++) {
		const struct range_link *link = &b->range_links.data[r];
		vec_push(&b->ranges, (struct address_range){link->start, link->end});
	}
	return count;
}

static void name_inline(struct structure_builder *b, struct scope *s, uint32_t context)
{
	if (!b->alien) {
		const struct debug_scope *call = call_of(b, context);
		s->name = text_pool_add(&b->text, call->name);
		s->call_file = add_file(b, call->call_file);
		s->call_line = call->call_line;
	} else if (b->contexts[context].owner != DEBUG_NONE) {
		s->name = text_pool_add(&b->text,
					b->source->outline[b->contexts[context].owner].name);
	}
}

/* Source loops around a scope whose parent has this many. */
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
	if (n->kind == SCOPE_PROCEDURE)
		s.name = built->procedure.name;
	else if (n->kind == SCOPE_INLINE)
		name_inline(b, &s, n->id);
	vec_push(&b->scopes, s);
}

/* Appends the tree in preorder; b->order becomes each node's scope, relative to the first. */
static void emit_tree(struct structure_builder *b, const struct built *built)
{
	uint32_t at = 0, scope = INDEX_NONE; /* of the parent, outside the tree */
	vec_reserve(&b->order, b->nodes.len);
	for (;;) {
		uint32_t here = b->scopes.len - built->first_scope;
		b->order.data[at] = here;
		emit_scope(b, built, at, scope);
		if (b->nodes.data[at].child) {
			at = b->nodes.data[at].child;
			scope = here;
			continue;
		}
		for (;;) {
			uint32_t end = b->scopes.len - built->first_scope;
			b->scopes.data[built->first_scope + b->order.data[at]].end = end;
			if (!at)
				return;
			if (b->nodes.data[at].next)
				break;
			at = b->nodes.data[at].parent;
			scope = b->scopes.data[built->first_scope + b->order.data[at]].parent;
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
		.scope = b->order.data[b->loop_sources[number].node],
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

/* As people write it: the symbol's name, or without a symbol the one from the debugging information. */
static uint32_t procedure_name(struct structure_builder *b)
{
	if (b->procedure->name)
		return text_pool_add(&b->text, demangle(&b->tmp, b->procedure->name));
	if (b->subprogram == DEBUG_NONE)
		return 0;
	return text_pool_add(&b->text, b->source->unit->scopes[b->subprogram].name);
}

static struct structure_procedure describe(struct structure_builder *b)
{
	const struct procedure *p = b->procedure;
	const struct cfg *g = b->cfg;
	return (struct structure_procedure){
		.start = p->start,
		.end = p->end,
		.name = procedure_name(b),
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

static void build_tree(struct structure_builder *b)
{
	find_pieces(b);
	if (b->alien)
		find_aliens(b);
	find_loop_sources(b);
	start_tree(b);
	for (uint32_t i = 0; i < b->forest->loop_count; i++)
		add_loop(b, i);
	vec_each(p, &b->pieces)
		place_piece(b, p);
	normalise_lines(b);
	order_nodes(b);
}

/* The line of a procedure's entry is that of the first row there; later ones are of moved code. */
static void find_entry_line(struct structure_builder *b)
{
	const struct debug_unit *u = b->source ? b->source->unit : NULL;
	b->entry_line = 0;
	if (!u)
		return;
	uint64_t start = b->procedure->start;
	uint32_t first = start ? ORDER_UP_TO(u->lines, u->line_count, va, start - 1) : 0;
	if (first < u->line_count && u->lines[first].va == start) {
		b->entry_file = file_of(b, u->lines[first].file);
		b->entry_line = u->lines[first].line;
	}
}

static const struct context only_procedure = {.scope = DEBUG_NONE};

void builder_add(struct structure_builder *b, uint32_t number, const struct procedure *p,
		 const struct part *parts, const struct cfg *cfg, const struct loop_forest *forest,
		 const struct source *source)
{
	arena_clear(&b->tmp);
	b->procedure = p;
	b->cfg = cfg;
	b->forest = forest;
	b->source = source;
	b->subprogram = source ? source_subprogram_at(source, p->start) : (uint32_t)DEBUG_NONE;
	b->alien = source && !source->unit->has_inlining;
	b->contexts = source ? source->contexts : &only_procedure;
	find_entry_line(b);
	sort_parts(b, parts);
	build_tree(b);

	struct built done = {
		.number = number,
		.first_scope = b->scopes.len,
		.first_loop = b->loops.len,
		.first_range = b->ranges.len,
		.procedure = describe(b),
	};
	emit_tree(b, &done);
	for (uint32_t i = 0; i < forest->loop_count; i++)
		emit_loop(b, i);
	done.scope_count = b->scopes.len - done.first_scope;
	done.range_count = b->ranges.len - done.first_range;
	vec_push(&b->built, done);
}
