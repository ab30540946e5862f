/* Finds the source of a machine loop: its context and its lines.
 *
 * Context. A loop belongs to the context of its loop statement. Instructions of inlined calls in
 * the loop are in deeper contexts. Statements in a shallower context contradict the placement,
 * because a function cannot be inside itself (the paper's Function Invariant 4). The paper's guess
 * and correction become one join here: the deepest context that holds all statements of the loop
 * and all nested loops. But optimisers move single computations from around a loop into it, so only
 * solid pieces count; others count if a loop has no solid ones.
 *
 * Lines. The loop's first line is that of the test that decides on another iteration (the paper's
 * bbranch-max heuristic); for `for` and `while` this is right. Solid lines above it indicate a `do
 * ... while`, or an endless loop that is left in the middle. The line of such a loop statement has
 * no code, but perhaps a marker. The last line is the largest. Code of inlined calls counts with
 * the line of the call. */
#include <string.h>

#include "structure/builder.h"

/* Kinds of code that show the context of a loop, the strongest evidence first. */
enum { BY_STATEMENT, BY_ANCHOR, BY_LINE, BY_CODE, EVIDENCE };

struct loop_evidence {
	uint32_t contexts[EVIDENCE]; /* join over the loop's own code of each kind */
	uint32_t nested;             /* join of the nested loops' contexts */

	uint32_t test_min, test_max; /* lines of tests */
	uint32_t low, high;          /* lowest and highest solid line */
	uint32_t any;                /* highest of all lines */
	bool after_test;             /* there are statements after the last test */
};

/* The deepest context that holds both. Alien code may be in any other alien code. */
static uint32_t join(const struct structure_builder *b, uint32_t x, uint32_t y)
{
	if (x == CONTEXT_NONE || y == CONTEXT_NONE)
		return x == CONTEXT_NONE ? y : x;
	if (b->alien)
		return y == CONTEXT_FUNCTION ? y : x;
	while (x != y) {
		uint32_t *deeper = b->contexts[x].depth >= b->contexts[y].depth ? &x : &y;
		*deeper = b->contexts[*deeper].parent;
	}
	return x;
}

static void note_context(const struct structure_builder *b, struct loop_evidence *e,
			 const struct piece *p)
{
	uint32_t *c = e->contexts;
	c[BY_CODE] = join(b, c[BY_CODE], p->context);
	if (!p->line)
		return;
	c[BY_LINE] = join(b, c[BY_LINE], p->context);
	if (is_anchor(b, p))
		c[BY_ANCHOR] = join(b, c[BY_ANCHOR], p->context);
	if (p->solid)
		c[BY_STATEMENT] = join(b, c[BY_STATEMENT], p->context);
}

static uint32_t strongest(const struct loop_evidence *e)
{
	uint32_t i = 0;
	while (i < EVIDENCE - 1 && e->contexts[i] == CONTEXT_NONE)
		i++;
	return e->contexts[i];
}

/* The last piece of each block. */
static const uint32_t *last_pieces(struct structure_builder *b)
{
	uint32_t *last = ARENA_ARRAY(&b->tmp, uint32_t, b->cfg->block_count);
	for (uint32_t i = 0; i < b->pieces.len; i++)
		if (b->pieces.data[i].last)
			last[b->pieces.data[i].block] = i;
	return last;
}

/* If a loop has several alien contexts, the one that branches back is guessed to have the loop. */
static uint32_t choose_alien(const struct structure_builder *b, const struct loop *l,
			     uint32_t context, const uint32_t *last)
{
	for (uint32_t i = 0; i < l->back_count; i++) {
		uint32_t from = b->cfg->edges[b->forest->edges[l->first_back + i]].from;
		const struct piece *p = &b->pieces.data[last[from]];
		if (is_anchor(b, p) && p->context != CONTEXT_FUNCTION)
			return p->context;
	}
	return context;
}

/* Sets the contexts of all loops, from inner to outer: in the forest, parents precede children. */
static void place_loops(struct structure_builder *b, struct loop_evidence *evidence,
			const uint32_t *last)
{
	for (uint32_t i = b->forest->loop_count; i-- > 0;) {
		struct loop_evidence *e = &evidence[i];
		uint32_t parent = b->forest->loops[i].parent;
		uint32_t context = join(b, strongest(e), e->nested);
		if (b->alien && context != CONTEXT_FUNCTION)
			context = choose_alien(b, &b->forest->loops[i], context, last);
		b->loop_sources[i].context = context == CONTEXT_NONE ? CONTEXT_FUNCTION : context;
		if (parent != LOOP_NONE)
			evidence[parent].nested = join(b, evidence[parent].nested, context);
	}
}

/* The position of the piece's code in the given context: its line there, or the line of the inlined
 * call that it belongs to. False if it is not in the context or has no line there. */
static bool project(const struct structure_builder *b, uint32_t context, const struct piece *p,
		    uint32_t *file, uint32_t *line)
{
	*file = p->file;
	*line = p->line;
	if (p->context == context)
		return *line != 0;
	if (b->alien || b->contexts[p->context].depth <= b->contexts[context].depth)
		return false;

	uint32_t inner = p->context;
	while (b->contexts[inner].depth > b->contexts[context].depth + 1)
		inner = b->contexts[inner].parent;
	if (b->contexts[inner].parent != context)
		return false;
	const struct debug_scope *call = context_scope(b, inner);
	*file = unit_file(b, call->call_file);
	*line = call->call_line;
	return *line != 0 && *file != DEBUG_NONE;
}

/* Notes the line of the block's last instruction as that of the loop's test. */
static void note_test(struct structure_builder *b, uint32_t loop, struct loop_evidence *e,
		      const struct piece *p)
{
	struct loop_source *s = &b->loop_sources[loop];
	uint32_t file, line;
	if (!p->solid || !project(b, s->context, p, &file, &line))
		return;
	if (e->test_max && file != s->file)
		return;
	s->file = file;
	if (!e->test_min || line < e->test_min)
		e->test_min = line;
	if (line > e->test_max)
		e->test_max = line;
}

/* The edges of a loop that may have its test, best first. */
enum test_kind { TEST_BACK, TEST_HEADER_EXIT, TEST_EXIT, TEST_JUMP_BACK, TESTS };

static bool edge_is(const struct structure_builder *b, const struct loop *l,
		    const struct edge *edge, enum test_kind kind)
{
	bool branch = b->cfg->blocks[edge->from].end == END_BRANCH;
	switch (kind) {
	case TEST_HEADER_EXIT: return branch && edge->from == l->header;
	case TEST_JUMP_BACK: return true;
	default: return branch;
	}
}

static void find_test(struct structure_builder *b, uint32_t loop, struct loop_evidence *e,
		      const uint32_t *last)
{
	const struct loop *l = &b->forest->loops[loop];
	for (enum test_kind kind = 0; kind < TESTS && !e->test_max; kind++) {
		bool back = kind == TEST_BACK || kind == TEST_JUMP_BACK;
		uint32_t first = back ? l->first_back : l->first_exit;
		uint32_t count = back ? l->back_count : l->exit_count;
		for (uint32_t i = 0; i < count; i++) {
			const struct edge *edge = &b->cfg->edges[b->forest->edges[first + i]];
			if (edge_is(b, l, edge, kind))
				note_test(b, loop, e, &b->pieces.data[last[edge->from]]);
		}
	}
}

/* Whether the code is on the function's first line: it then belongs to the entry, not to the loop
 * (unless everything is on that line). */
static bool is_entry(const struct structure_builder *b, const struct piece *p)
{
	return p->context == CONTEXT_FUNCTION && p->line == b->entry_line &&
	       p->file == b->entry_file;
}

static void note_line(struct structure_builder *b, uint32_t loop, struct loop_evidence *e,
		      const struct piece *p)
{
	struct loop_source *s = &b->loop_sources[loop];
	uint32_t file, line;
	if (!project(b, s->context, p, &file, &line))
		return;
	if (s->file == DEBUG_NONE)
		s->file = file;
	if (file != s->file)
		return;
	if (line > e->any)
		e->any = line;
	if (!p->solid || is_entry(b, p))
		return;
	if (line > e->high)
		e->high = line;
	if (!e->low || line < e->low)
		e->low = line;
	if (line > e->test_max)
		e->after_test = true;
}

static uint32_t lowest_line(const struct loop_evidence *e)
{
	if (!e->test_max)
		return e->low ? e->low : e->any;
	return e->low && e->low < e->test_min ? e->low : e->test_min;
}

/* Called for each marker in the loop's own blocks. */
typedef void (*marker_fn)(const struct source_marker *m, bool at_header, void *ctx);

static void each_marker(const struct structure_builder *b, uint32_t loop, marker_fn fn, void *ctx)
{
	const struct source *s = b->source;
	const struct loop *l = &b->forest->loops[loop];
	for (uint32_t i = 0; i < l->block_count; i++) {
		uint32_t number = b->forest->blocks[l->first_block + i];
		const struct block *k = &b->cfg->blocks[number];
		if (b->forest->innermost[number] != loop)
			continue;
		for (uint32_t m = source_marker_from(s, k->start); m < s->marker_count; m++) {
			if (s->markers[m].va >= k->start + k->size)
				break;
			fn(&s->markers[m], number == l->header && s->markers[m].va == k->start,
			   ctx);
		}
	}
}

struct heading {
	uint32_t file, line; /* first line of the loop so far */
	uint32_t column;     /* lowest column of the markers on that line */
	uint32_t after;      /* the function's first line, then the best heading so far */
	bool skip_header; /* markers at the header's start may belong to the code before the loop */
	uint32_t found;
};

static void note_column(const struct source_marker *m, bool at_header, void *ctx)
{
	struct heading *h = ctx;
	(void)at_header;
	if (m->file == h->file && m->line == h->line && m->column < h->column)
		h->column = m->column;
}

static void note_heading(const struct source_marker *m, bool at_header, void *ctx)
{
	struct heading *h = ctx;
	if (m->file == h->file && m->line < h->line && m->line > h->after &&
	    m->column != h->column && !(at_header && h->skip_header))
		h->after = h->found = m->line;
}

/* The line of a loop statement without code of its own, such as for (;;): the nearest line above
 * that is not indented like the loop's first statement. A line with that indentation would be a
 * sibling statement. */
static uint32_t heading_line(const struct structure_builder *b, uint32_t loop,
			     const struct loop_evidence *e, uint32_t first)
{
	const struct debug_scope *scope = context_scope(b, b->loop_sources[loop].context);
	struct heading h = {
		.file = b->loop_sources[loop].file,
		.line = first,
		.column = UINT32_MAX,
		.after = scope ? scope->decl_line : 0,
		.skip_header = e->test_max && !e->after_test,
	};
	if (!b->source->markers || (e->test_max && first == e->test_min))
		return first;
	each_marker(b, loop, note_column, &h);
	if (h.column != UINT32_MAX)
		each_marker(b, loop, note_heading, &h);
	return h.found ? h.found : first;
}

static void find_lines(struct structure_builder *b, struct loop_evidence *evidence,
		       const uint32_t *last)
{
	uint32_t loops = b->forest->loop_count;
	for (uint32_t i = 0; i < loops; i++)
		find_test(b, i, &evidence[i], last);
	vec_each (p, &b->pieces)
		for (uint32_t l = p->block == BLOCK_NONE ? LOOP_NONE : p->loop; l != LOOP_NONE;
		     l = b->forest->loops[l].parent)
			note_line(b, l, &evidence[l], p);
	for (uint32_t i = 0; i < loops; i++) {
		struct loop_source *s = &b->loop_sources[i];
		s->first_line = heading_line(b, i, &evidence[i], lowest_line(&evidence[i]));
		s->last_line = evidence[i].high ? evidence[i].high : evidence[i].any;
		if (s->last_line < s->first_line)
			s->last_line = s->first_line;
	}
}

void find_loop_sources(struct structure_builder *b)
{
	uint32_t loops = b->forest->loop_count;
	b->loop_sources = ARENA_ARRAY(&b->tmp, struct loop_source, loops);
	for (uint32_t i = 0; i < loops; i++)
		b->loop_sources[i].file = DEBUG_NONE;
	if (!b->source || !loops || !b->pieces.len)
		return;
	find_solid(b);

	struct loop_evidence *evidence = ARENA_ARRAY(&b->tmp, struct loop_evidence, loops);
	for (uint32_t i = 0; i < loops; i++) {
		memset(evidence[i].contexts, 0xff, sizeof(evidence[i].contexts));
		evidence[i].nested = CONTEXT_NONE;
	}
	vec_each (p, &b->pieces)
		if (p->loop != LOOP_NONE && p->block != BLOCK_NONE)
			note_context(b, &evidence[p->loop], p);
	const uint32_t *last = last_pieces(b);
	place_loops(b, evidence, last);
	find_lines(b, evidence, last);
}
