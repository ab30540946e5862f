/* Finds out which lines truly belong to a loop. Optimisers move computations from around a loop
 * into it (rematerialised constants, copies of variables). And gcc writes no row for code without a
 * location, which then seems to have the line of the code before it. A piece in a loop is solid,
 * unless one of these holds:
 *
 * 1. Its line is before the function or inlined callee that it should belong to.
 * 2. The compiler marks where statements begin, and statements of the line begin elsewhere but not
 *    in the loop; or they begin nowhere any more, and the line also has code elsewhere.
 * 3. It belongs to an inlined call that also has code elsewhere. The loop has none of the call's
 *    anchors (branches and calls, which are never moved in) and, if the compiler marks statements,
 *    none of the call's statements. */
#include "base/hashmap.h"
#include "structure/builder.h"

static uint64_t line_key(uint32_t loop, uint32_t file, uint32_t line)
{
	uint32_t key[3] = {loop, file, line};
	return hash_bytes(key, sizeof(key), 0);
}

static bool has(const struct hashmap *m, uint64_t key)
{
	return hashmap_get(m, key) != HASHMAP_NONE;
}

static void note_markers(const struct structure_builder *b, struct hashmap *marked, uint32_t block)
{
	const struct source *s = b->source;
	const struct block *k = &b->cfg->blocks[block];
	uint32_t loop = b->forest->innermost[block];
	for (uint32_t i = source_marker_from(s, k->start); i < s->marker_count; i++) {
		const struct source_marker *m = &s->markers[i];
		if (m->va >= k->start + k->size)
			break;
		hashmap_add(marked, line_key(loop, m->file, m->line), 0);
		hashmap_add(marked, line_key(LOOP_NONE, m->file, m->line), 0);
	}
}

bool is_anchor(const struct structure_builder *b, const struct piece *p)
{
	if (!p->last || !p->line)
		return false;
	const struct block *k = &b->cfg->blocks[p->block];
	switch (k->end) {
	case END_BRANCH:
	case END_SWITCH:
	case END_CALL:
	case END_CALL_INDIRECT: return true;
	case END_TAIL_CALL: return (k->flags & BLOCK_CONDITIONAL) != 0;
	default: return false;
	}
}

/* Collects the lines that have code in several loops, or in a loop and outside of it. */
static void note_spread(const struct structure_builder *b, struct hashmap *spread)
{
	struct hashmap first = {0}; /* line -> number of its first piece */
	for (uint32_t i = 0; i < b->pieces.len; i++) {
		const struct piece *p = &b->pieces.data[i];
		uint64_t key = line_key(LOOP_NONE, p->file, p->line);
		if (b->pieces.data[hashmap_add(&first, key, i)].loop != p->loop)
			hashmap_add(spread, key, 0);
	}
	hashmap_release(&first);
}

/* Applies rule 2. Only the lines of markers are known, not their contexts. */
static void check_markers(struct structure_builder *b)
{
	struct hashmap marked = {0}, spread = {0};
	for (uint32_t i = 0; i < b->cfg->block_count; i++)
		note_markers(b, &marked, i);
	if (b->source->marks_statements)
		note_spread(b, &spread);
	vec_each (p, &b->pieces) {
		uint64_t anywhere = line_key(LOOP_NONE, p->file, p->line);
		if (!has(&marked, line_key(p->loop, p->file, p->line)) &&
		    (has(&marked, anywhere) || (has(&spread, anywhere) && !is_anchor(b, p))))
			p->solid = false;
	}
	hashmap_release(&marked);
	hashmap_release(&spread);
}

/* For each pair of a loop and an inlined call: the bytes of the call's code in the loop, and
 * whether it has anchors there. */
struct call_presence {
	struct hashmap bytes, anchors;
};

static uint64_t call_key(uint32_t loop, uint32_t context)
{
	return (uint64_t)loop << 32 | context;
}

static void note_presence(const struct structure_builder *b, struct call_presence *in,
			  const struct piece *p, uint32_t loop)
{
	uint32_t size = (uint32_t)(p->end - p->start);
	bool anchor = is_anchor(b, p) && (p->loop == LOOP_NONE || p->solid);
	for (uint32_t c = p->context; c != CONTEXT_FUNCTION; c = b->contexts[c].parent) {
		uint64_t key = call_key(loop, c);
		uint32_t so_far = hashmap_get(&in->bytes, key);
		hashmap_put(&in->bytes, key, so_far == HASHMAP_NONE ? size : so_far + size);
		if (anchor)
			hashmap_add(&in->anchors, key, 0);
	}
}

static bool belongs_to_loop(const struct structure_builder *b, const struct call_presence *in,
			    const struct piece *p)
{
	for (uint32_t c = p->context; c != CONTEXT_FUNCTION; c = b->contexts[c].parent)
		if (!has(&in->anchors, call_key(p->loop, c)) &&
		    hashmap_get(&in->bytes, call_key(p->loop, c)) !=
			    hashmap_get(&in->bytes, call_key(LOOP_NONE, c)))
			return false;
	return true;
}

/* True if a statement of the piece's line begins in the piece. */
static bool is_marked(const struct source *s, const struct piece *p)
{
	if (!s->marks_statements)
		return false;
	for (uint32_t i = source_marker_from(s, p->start); i < s->marker_count; i++) {
		const struct source_marker *m = &s->markers[i];
		if (m->va >= p->end)
			break;
		if (m->line == p->line && m->file == p->file)
			return true;
	}
	return false;
}

/* Applies rule 3. The loop LOOP_NONE means the whole function. */
static void check_calls(struct structure_builder *b)
{
	struct call_presence in = {0};
	vec_each (p, &b->pieces) {
		if (p->context == CONTEXT_FUNCTION)
			continue;
		for (uint32_t l = p->loop; l != LOOP_NONE; l = b->forest->loops[l].parent)
			note_presence(b, &in, p, l);
		note_presence(b, &in, p, LOOP_NONE);
	}
	vec_each (p, &b->pieces)
		p->solid = p->solid && (belongs_to_loop(b, &in, p) || is_marked(b->source, p));
	hashmap_release(&in.bytes);
	hashmap_release(&in.anchors);
}

static bool is_before_definition(const struct structure_builder *b, const struct piece *p)
{
	const struct debug_scope *s = context_scope(b, p->context);
	return s && unit_file(b, s->decl_file) == p->file && p->line < s->decl_line;
}

void find_solid(struct structure_builder *b)
{
	vec_each (p, &b->pieces)
		p->solid = p->line && p->loop != LOOP_NONE && p->block != BLOCK_NONE &&
			   !is_before_definition(b, p);
	if (b->source->markers)
		check_markers(b);
	if (!b->alien)
		check_calls(b);
}
