/* The fusing of flow graphs, loops and debugging information, on functions made by hand. Code is
 * written as blocks of 4-byte instructions from address 0x100 on, and the resulting tree is
 * compared as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "structure/join.h"
#include "structure/storage.h"

enum { MAX = 64, BASE = 0x100, FORTRAN = 0x0e };

struct fake {
	struct block blocks[MAX];
	struct edge edges[MAX];
	uint32_t pred_edges[MAX], first_pred[MAX + 1];
	struct cfg cfg;
	struct debug_line lines[MAX];
	struct debug_scope scopes[MAX];
	struct address_range ranges[MAX];
	struct debug_entry entries[MAX];
	struct debug_decl decls[MAX];
	struct debug_unit unit;
	struct function function;
};

static const char *const files[] = {"a.c", "b.h", "c.h"};
enum { A, B, C };

static uint64_t at(uint32_t insn)
{
	return BASE + 4 * insn;
}

/* A block of `insns` instructions behind the last. */
static void block(struct fake *f, uint32_t insns, enum block_end end)
{
	uint32_t n = f->cfg.block_count++;
	uint64_t start = n ? f->blocks[n - 1].start + f->blocks[n - 1].size : BASE;
	f->blocks[n] = (struct block){
		.start = start, .size = insns * 4, .insn_count = insns, .end = (uint8_t)end};
	f->function.start = BASE;
	f->function.end = start + insns * 4;
}

static void edge(struct fake *f, uint32_t from, uint32_t to, enum edge_kind kind)
{
	f->edges[f->cfg.edge_count++] = (struct edge){from, to, (uint8_t)kind};
}

static void line(struct fake *f, uint32_t insn, uint32_t file, uint32_t number)
{
	f->lines[f->unit.line_count++] =
		(struct debug_line){.va = at(insn), .file = file, .line = number, .is_stmt = true};
}

/* Code of a line that no statement begins with, of a compiler that marks statements. */
static void stray(struct fake *f, uint32_t insn, uint32_t file, uint32_t number)
{
	line(f, insn, file, number);
	f->lines[f->unit.line_count - 1].is_stmt = false;
	f->unit.producer = "GNU C17";
}

static void column(struct fake *f, uint16_t number)
{
	f->lines[f->unit.line_count - 1].column = number;
}

static uint32_t scope(struct fake *f, const char *name, uint32_t parent, uint32_t first,
		      uint32_t end)
{
	uint32_t n = f->unit.scope_count++;
	f->scopes[n] = (struct debug_scope){.name = name,
					    .parent = parent,
					    .first_range = f->unit.range_count,
					    .range_count = 1};
	f->ranges[f->unit.range_count++] = (struct address_range){at(first), at(end)};
	return n;
}

static uint32_t subprogram(struct fake *f, const char *name, uint32_t decl_line, uint32_t first,
			   uint32_t end)
{
	uint32_t n = scope(f, name, DEBUG_NONE, first, end);
	f->scopes[n].decl_line = decl_line;
	f->scopes[n].call_file = DEBUG_NONE;
	f->entries[f->unit.entry_count++] = (struct debug_entry){at(first), at(end), n};
	return n;
}

/* Declared in b.h, called in a.c. */
static uint32_t inlined(struct fake *f, const char *name, uint32_t parent, uint32_t call_line,
			uint32_t first, uint32_t end)
{
	uint32_t n = scope(f, name, parent, first, end);
	f->scopes[n].inlined = true;
	f->scopes[n].decl_file = B;
	f->scopes[n].call_line = call_line;
	f->unit.has_inlining = true;
	return n;
}

/* One more range of the scope made last. */
static void also(struct fake *f, uint32_t first, uint32_t end)
{
	f->ranges[f->unit.range_count++] = (struct address_range){at(first), at(end)};
	f->scopes[f->unit.scope_count - 1].range_count++;
}

static void decl(struct fake *f, const char *name, uint32_t file, uint32_t number)
{
	f->decls[f->unit.decl_count++] = (struct debug_decl){name, file, number};
}

static const struct cfg *finish_cfg(struct fake *f)
{
	uint32_t n = 0;
	for (uint32_t e = 0; e < f->cfg.edge_count; e++) {
		struct block *k = &f->blocks[f->edges[e].from];
		if (!k->edge_count++)
			k->first_edge = e;
	}
	for (uint32_t b = 0; b < f->cfg.block_count; b++) {
		f->first_pred[b] = n;
		for (uint32_t e = 0; e < f->cfg.edge_count; e++)
			if (f->edges[e].to == b)
				f->pred_edges[n++] = e;
	}
	f->first_pred[f->cfg.block_count] = n;
	f->cfg.blocks = f->blocks;
	f->cfg.edges = f->edges;
	f->cfg.pred_edges = f->pred_edges;
	f->cfg.first_pred = f->first_pred;
	return &f->cfg;
}

static const struct debug_unit *finish_unit(struct fake *f)
{
	f->unit.scopes = f->scopes;
	f->unit.ranges = f->ranges;
	f->unit.lines = f->lines;
	f->unit.decls = f->decls;
	f->unit.entries = f->entries;
	f->unit.files = files;
	f->unit.file_count = 3;
	return &f->unit;
}

static void add(struct structure_builder *b, uint32_t number, struct fake *f, bool debug)
{
	struct arena arena;
	struct loop_forest forest;
	struct source *s = debug ? source_prepare(finish_unit(f)) : NULL;
	arena_init(&arena);
	const struct cfg *g = finish_cfg(f);
	loops_find(g, &forest, &arena, &b->tmp);
	builder_add(b, number, &f->function, NULL, g, &forest, s);
	source_free(s);
	arena_release(&arena);
}

static struct structure *join_all(struct structure_builder *builders, uint32_t count)
{
	struct structure_join j;
	join_init(&j);
	join_add(&j, builders, count);
	return join_finish(&j);
}

static struct structure *build(struct fake *f, bool debug)
{
	struct structure_builder b;
	builder_init(&b);
	f->function.name = "p";
	add(&b, 0, f, debug);
	struct structure *s = join_all(&b, 1);
	builder_release(&b);
	assert_true(storage_is_sound(s));
	return s;
}

static void show_scope(struct text *t, const struct structure *s, const struct scope *c,
		       bool ranges)
{
	static const char *const kinds[] = {"function", "inline", "loop", "line"};
	for (uint32_t p = c->parent; p != INDEX_NONE; p = s->scopes[p].parent)
		text_add(t, "  ");
	text_add(t, kinds[c->kind]);
	if (c->flags & SCOPE_ALIEN)
		text_add(t, " alien");
	if (c->name)
		text_printf(t, " %s", s->text + c->name);
	if (c->file)
		text_printf(t, " %s:%u", s->text + c->file, c->first_line);
	if (c->kind != SCOPE_LINE && c->last_line)
		text_printf(t, "-%u", c->last_line);
	if (c->call_line)
		text_printf(t, " called %s:%u", s->text + c->call_file, c->call_line);
	if (c->flags & SCOPE_NO_LINE)
		text_add(t, " no line");
	for (uint32_t i = 0; ranges && i < c->range_count; i++) {
		const struct address_range *r = &s->ranges[c->first_range + i];
		text_printf(t, " %u-%u", (uint32_t)(r->start - BASE) / 4,
			    (uint32_t)(r->end - BASE) / 4);
	}
	text_char(t, '\n');
}

/* The scopes of one function as text. */
static void show_function(struct text *t, const struct structure *s, uint32_t function)
{
	uint32_t first = s->functions[function].scope;
	for (uint32_t i = first; i < s->scopes[first].end; i++)
		show_scope(t, s, &s->scopes[i], true);
}

static void expect(struct fake *f, const char *tree, bool ranges)
{
	struct text t = TEXT_INIT;
	struct structure *s = build(f, f->unit.line_count != 0);
	for (uint32_t i = 0; i < s->scope_count; i++)
		show_scope(&t, s, &s->scopes[i], ranges);
	assert_string_equal(t.data, tree);
	text_release(&t);
	structure_free(s);
}

/* entry (2 insns), body (4 insns, branches back to itself), exit (2 insns). */
static void simple_loop(struct fake *f)
{
	block(f, 2, END_FALL);
	block(f, 4, END_BRANCH);
	block(f, 2, END_RETURN);
	edge(f, 0, 1, EDGE_FALL);
	edge(f, 1, 2, EDGE_FALL);
	edge(f, 1, 1, EDGE_TAKEN);
}

static void without_debug(void **state)
{
	(void)state;
	struct fake f = {0};
	simple_loop(&f);
	expect(&f,
	       "function p 0-8\n"
	       "  loop no line 2-6\n",
	       true);
}

static void for_loop(void **state)
{
	(void)state;
	struct fake f = {0};
	simple_loop(&f);
	subprogram(&f, "p", 10, 0, 8);
	f.unit.has_inlining = true;
	line(&f, 0, A, 10);
	line(&f, 1, A, 12); /* i = 0 */
	line(&f, 2, A, 13);
	line(&f, 4, A, 12); /* i++, i < n */
	line(&f, 6, A, 15);
	expect(&f,
	       "function p a.c:10-15 0-8\n"
	       "  line a.c:10 0-1\n"
	       "  loop a.c:12-13 2-6\n"
	       "    line a.c:12 1-2 4-6\n" /* the initialisation came from the loop's line */
	       "    line a.c:13 2-4\n"
	       "  line a.c:15 6-8\n",
	       true);
}

static void do_while_loop(void **state)
{
	(void)state;
	struct fake f = {0};
	simple_loop(&f);
	subprogram(&f, "p", 10, 0, 8);
	f.unit.has_inlining = true;
	line(&f, 0, A, 10);
	line(&f, 2, A, 12);
	line(&f, 3, A, 13);
	line(&f, 5, A, 14); /* while (...) */
	line(&f, 6, A, 15);
	expect(&f,
	       "function p a.c:10-15\n"
	       "  line a.c:10\n"
	       "  loop a.c:12-14\n"
	       "    line a.c:12\n"
	       "    line a.c:13\n"
	       "    line a.c:14\n"
	       "  line a.c:15\n",
	       false);
}

/* A computation from before the loop that the compiler does in it does not move its first line. */
static void code_brought_in(void **state)
{
	(void)state;
	struct fake f = {0};
	simple_loop(&f);
	subprogram(&f, "p", 10, 0, 8);
	f.unit.has_inlining = true;
	line(&f, 0, A, 10);
	line(&f, 1, A, 11);
	stray(&f, 2, A, 11); /* a constant */
	line(&f, 3, A, 21);
	line(&f, 5, A, 20);
	line(&f, 6, A, 23);
	expect(&f,
	       "function p a.c:10-23\n"
	       "  line a.c:10\n"
	       "  loop a.c:20-21\n"
	       "    line a.c:11\n"
	       "    line a.c:20\n"
	       "    line a.c:21\n"
	       "  line a.c:23\n",
	       false);
}

/* for (;;) { a; if (...) break; b; }: the loop's line has no code, but a mark, as have lines before
 * it. */
static void endless_loop(void **state)
{
	(void)state;
	struct fake f = {0};
	simple_loop(&f);
	subprogram(&f, "p", 10, 0, 8);
	f.unit.has_inlining = true;
	line(&f, 0, A, 10);
	line(&f, 2, A, 11); /* int x; */
	column(&f, 2);
	line(&f, 2, A, 12); /* for (;;) */
	column(&f, 2);
	line(&f, 2, A, 15); /* b */
	column(&f, 3);
	line(&f, 3, A, 13); /* a */
	column(&f, 3);
	line(&f, 5, A, 14); /* if (...) break */
	column(&f, 3);
	stray(&f, 6, A, 17);
	expect(&f,
	       "function p a.c:10-17\n"
	       "  line a.c:10\n"
	       "  loop a.c:12-15\n"
	       "    line a.c:13\n"
	       "    line a.c:14\n"
	       "    line a.c:15\n"
	       "  line a.c:17\n",
	       false);
}

/* for { f() } with a loop in f: entry, header, inner loop, latch, exit. */
static void two_loops(struct fake *f)
{
	block(f, 2, END_FALL);
	block(f, 2, END_FALL);
	block(f, 4, END_BRANCH);
	block(f, 2, END_BRANCH);
	block(f, 2, END_RETURN);
	edge(f, 0, 1, EDGE_FALL);
	edge(f, 1, 2, EDGE_FALL);
	edge(f, 2, 3, EDGE_FALL);
	edge(f, 2, 2, EDGE_TAKEN);
	edge(f, 3, 4, EDGE_FALL);
	edge(f, 3, 1, EDGE_TAKEN);
}

static void loop_in_inlined_call_in_loop(void **state)
{
	(void)state;
	struct fake f = {0};
	two_loops(&f);
	uint32_t p = subprogram(&f, "p", 10, 0, 12);
	uint32_t g = inlined(&f, "g", p, 13, 3, 8);
	inlined(&f, "h", g, 6, 4, 6);
	line(&f, 0, A, 10);
	line(&f, 2, A, 12);
	line(&f, 3, B, 4);
	line(&f, 4, C, 1);
	line(&f, 6, B, 5);
	line(&f, 8, A, 12);
	line(&f, 10, A, 15);
	f.scopes[g + 1].call_file = B;
	f.scopes[g + 1].decl_file = C;
	expect(&f,
	       "function p a.c:10-15 0-12\n"
	       "  line a.c:10 0-2\n"
	       "  loop a.c:12-13 2-10\n"
	       "    line a.c:12 2-3 8-10\n"
	       "    inline g b.h:4-5 called a.c:13 3-8\n"
	       "      line b.h:4 3-4\n"
	       "      loop b.h:5-6 4-8\n"
	       "        line b.h:5 6-8\n"
	       "        inline h c.h:1-1 called b.h:6 4-6\n"
	       "          line c.h:1 4-6\n"
	       "  line a.c:15 10-12\n",
	       true);
}

/* The loop's test is inlined, but its body calls from the function: the loop is the function's.
 */
static void inlined_test(void **state)
{
	(void)state;
	struct fake f = {0};
	block(&f, 2, END_FALL);
	block(&f, 2, END_CALL);
	block(&f, 2, END_BRANCH);
	block(&f, 1, END_RETURN);
	edge(&f, 0, 1, EDGE_FALL);
	edge(&f, 1, 2, EDGE_CALL_RETURN);
	edge(&f, 2, 3, EDGE_FALL);
	edge(&f, 2, 1, EDGE_TAKEN);
	uint32_t p = subprogram(&f, "p", 10, 0, 7);
	inlined(&f, "more", p, 12, 4, 6);
	line(&f, 0, A, 10);
	line(&f, 2, A, 13);
	line(&f, 4, B, 7);
	line(&f, 6, A, 15);
	expect(&f,
	       "function p a.c:10-15\n"
	       "  line a.c:10\n"
	       "  loop a.c:12-13\n"
	       "    inline more b.h:7-7 called a.c:12\n"
	       "      line b.h:7\n"
	       "    line a.c:13\n"
	       "  line a.c:15\n",
	       false);
}

/* An inlined loop keeps its place when an instruction of the caller is done in it; that
 * instruction's line stays with the caller. */
static void callers_code_in_inlined_loop(void **state)
{
	(void)state;
	struct fake f = {0};
	simple_loop(&f);
	uint32_t p = subprogram(&f, "p", 10, 0, 8);
	inlined(&f, "g", p, 13, 3, 6);
	line(&f, 0, A, 13);
	stray(&f, 2, A, 13);
	line(&f, 3, B, 5);
	line(&f, 5, B, 4);
	line(&f, 6, A, 15);
	expect(&f,
	       "function p a.c:10-15 0-8\n"
	       "  line a.c:13 0-3\n"
	       "  inline g b.h:4-5 called a.c:13 3-6\n"
	       "    loop b.h:4-5 3-6\n"
	       "      line b.h:4 5-6\n"
	       "      line b.h:5 3-5\n"
	       "  line a.c:15 6-8\n",
	       true);
}

/* A single instruction, in a loop, of a call inlined before the loop, where its branch is. */
static void other_calls_code_in_loop(void **state)
{
	(void)state;
	struct fake f = {0};
	block(&f, 2, END_BRANCH);
	block(&f, 4, END_BRANCH);
	block(&f, 2, END_RETURN);
	edge(&f, 0, 1, EDGE_FALL);
	edge(&f, 0, 2, EDGE_TAKEN);
	edge(&f, 1, 2, EDGE_FALL);
	edge(&f, 1, 1, EDGE_TAKEN);
	uint32_t p = subprogram(&f, "p", 10, 0, 8);
	inlined(&f, "g", p, 11, 0, 3);
	inlined(&f, "h", p, 14, 3, 6);
	line(&f, 0, B, 4);
	line(&f, 3, B, 8);
	line(&f, 6, A, 15);
	expect(&f,
	       "function p a.c:10-15\n"
	       "  inline g b.h:4-4 called a.c:11\n"
	       "    line b.h:4\n"
	       "  inline h b.h:8-8 called a.c:14\n"
	       "    loop b.h:8-8\n"
	       "      line b.h:8\n"
	       "  line a.c:15\n",
	       false);
}

/* Inlined code inside and outside of a loop appears in both places (figure 7). */
static void split_inlined_call(void **state)
{
	(void)state;
	struct fake f = {0};
	simple_loop(&f);
	uint32_t p = subprogram(&f, "p", 10, 0, 8);
	inlined(&f, "g", p, 13, 1, 3);
	line(&f, 0, A, 10);
	line(&f, 1, B, 4);
	line(&f, 3, A, 14);
	line(&f, 5, A, 12);
	line(&f, 6, A, 15);
	expect(&f,
	       "function p a.c:10-15 0-8\n"
	       "  line a.c:10 0-1\n"
	       "  loop a.c:12-14 2-6\n"
	       "    line a.c:12 5-6\n"
	       "    inline g b.h:4-4 called a.c:13 2-3\n"
	       "      line b.h:4 2-3\n"
	       "    line a.c:14 3-5\n"
	       "  inline g b.h:4-4 called a.c:13 1-2\n"
	       "    line b.h:4 1-2\n"
	       "  line a.c:15 6-8\n",
	       true);
}

/* Two machine loops of one source loop: vectorised and remainder. */
static void two_copies(struct fake *f)
{
	block(f, 1, END_FALL);
	block(f, 2, END_BRANCH);
	block(f, 1, END_FALL);
	block(f, 2, END_BRANCH);
	block(f, 1, END_RETURN);
	edge(f, 0, 1, EDGE_FALL);
	edge(f, 1, 2, EDGE_FALL);
	edge(f, 1, 1, EDGE_TAKEN);
	edge(f, 2, 3, EDGE_FALL);
	edge(f, 3, 4, EDGE_FALL);
	edge(f, 3, 3, EDGE_TAKEN);
}

static void copies_of_a_loop(void **state)
{
	(void)state;
	struct fake f = {0};
	two_copies(&f);
	subprogram(&f, "p", 10, 0, 7);
	f.unit.has_inlining = true;
	line(&f, 0, A, 10);
	line(&f, 1, A, 13);
	line(&f, 2, A, 12);
	line(&f, 3, A, 13);
	line(&f, 5, A, 12);
	line(&f, 6, A, 15);
	expect(&f,
	       "function p a.c:10-15 0-7\n"
	       "  line a.c:10 0-1\n"
	       "  loop a.c:12-13 1-3 4-6\n"
	       "    line a.c:12 2-3 5-6\n"
	       "    line a.c:13 1-2 3-5\n" /* with the code between the loops */
	       "  line a.c:15 6-7\n",
	       true);

	f = (struct fake){0};
	two_copies(&f);
	struct structure *s = build(&f, false);
	assert_int_equal(s->loop_count, 2);
	assert_int_not_equal(s->loops[0].scope, s->loops[1].scope);
	structure_free(s);
}

static void machine_loops_share_scope(void **state)
{
	(void)state;
	struct fake f = {0};
	two_copies(&f);
	subprogram(&f, "p", 10, 0, 7);
	f.unit.has_inlining = true;
	line(&f, 0, A, 12);
	struct structure *s = build(&f, true);
	assert_int_equal(s->loop_count, 2);
	assert_int_equal(s->loops[0].scope, s->loops[1].scope);
	assert_int_equal(s->loops[0].header, at(1));
	assert_int_equal(s->loops[1].header, at(4));
	assert_int_equal(s->loops[0].bytes, 8);
	assert_int_equal(s->scopes[s->loops[0].scope].loop, 0);
	structure_free(s);
}

/* A nest written on one line stays a nest. */
static void nested_loops_are_not_joined(void **state)
{
	(void)state;
	struct fake f = {0};
	two_loops(&f);
	subprogram(&f, "p", 10, 0, 12);
	f.unit.has_inlining = true;
	line(&f, 0, A, 12);
	line(&f, 10, A, 15);
	expect(&f,
	       "function p a.c:10-15 0-12\n"
	       "  loop a.c:12-12 2-10\n"
	       "    loop a.c:12-12 4-8\n"
	       "      line a.c:12 0-10\n"
	       "  line a.c:15 10-12\n",
	       true);
}

/* The compiler describes each copy of an inlined call; they are one call in the source. */
static void copies_of_a_call(void **state)
{
	(void)state;
	struct fake f = {0};
	block(&f, 8, END_RETURN);
	uint32_t p = subprogram(&f, "p", 10, 0, 8);
	uint32_t g = inlined(&f, "g", p, 13, 1, 3);
	inlined(&f, "h", g, 2, 2, 3);
	uint32_t again = inlined(&f, "g", p, 13, 3, 6);
	inlined(&f, "h", again, 2, 4, 5);
	inlined(&f, "g", p, 14, 6, 7);
	line(&f, 0, A, 10);
	line(&f, 1, B, 4);
	line(&f, 7, A, 15);
	expect(&f,
	       "function p a.c:10-15\n"
	       "  line a.c:10\n"
	       "  inline g b.h:4-4 called a.c:13\n"
	       "    inline h b.h:4-4 called a.c:2\n"
	       "      line b.h:4\n"
	       "    line b.h:4\n"
	       "  inline g b.h:4-4 called a.c:14\n"
	       "    line b.h:4\n"
	       "  line a.c:15\n",
	       false);
}

static void line_zero(void **state)
{
	(void)state;
	struct fake f = {0};
	simple_loop(&f);
	subprogram(&f, "p", 10, 0, 8);
	f.unit.has_inlining = true;
	line(&f, 0, A, 10);
	line(&f, 2, A, 0);
	line(&f, 6, A, 15);
	expect(&f,
	       "function p a.c:10-15 0-8\n"
	       "  loop no line 2-6\n"
	       "  line a.c:10 0-2\n"
	       "  line a.c:15 6-8\n",
	       true);
}

/* Figures 6 and 7: without DWARF inlining. The back branch is alien, but a statement of the
 * function in the loop shows that the loop is the function's. */
static void alien_test(void **state)
{
	(void)state;
	struct fake f = {0};
	block(&f, 2, END_FALL);
	block(&f, 2, END_CALL);
	block(&f, 2, END_BRANCH);
	block(&f, 1, END_RETURN);
	edge(&f, 0, 1, EDGE_FALL);
	edge(&f, 1, 2, EDGE_CALL_RETURN);
	edge(&f, 2, 3, EDGE_FALL);
	edge(&f, 2, 1, EDGE_TAKEN);
	subprogram(&f, "init", 145, 0, 7);
	decl(&f, "at", B, 80);
	decl(&f, "size", B, 90);
	line(&f, 0, A, 145);
	line(&f, 1, B, 82);
	line(&f, 2, A, 158);
	line(&f, 4, B, 83);
	line(&f, 6, A, 160);
	expect(&f,
	       "function p a.c:145-160 0-7\n"
	       "  inline alien at b.h:82-82 1-2\n"
	       "    line b.h:82 1-2\n"
	       "  line a.c:145 0-1\n"
	       "  loop a.c:158-158 2-6\n"
	       "    inline alien at b.h:83-83 4-6\n"
	       "      line b.h:83 4-6\n"
	       "    line a.c:158 2-4\n"
	       "  line a.c:160 6-7\n",
	       true);
}

/* A loop all of whose code is alien is alien itself; other alien code in it stands below it. */
static void alien_loop(void **state)
{
	(void)state;
	struct fake f = {0};
	simple_loop(&f);
	subprogram(&f, "p", 10, 0, 8);
	line(&f, 0, A, 10);
	line(&f, 2, C, 3);
	line(&f, 3, B, 8);
	line(&f, 5, B, 7);
	line(&f, 6, A, 15);
	expect(&f,
	       "function p a.c:10-15\n"
	       "  inline alien b.h:7-8\n"
	       "    loop b.h:7-8\n"
	       "      inline alien c.h:3-3\n"
	       "        line c.h:3\n"
	       "      line b.h:7\n"
	       "      line b.h:8\n"
	       "  line a.c:10\n"
	       "  line a.c:15\n",
	       false);
}

/* The same file, but the lines of other functions (Function Invariant 2). */
static void alien_by_bounds(void **state)
{
	(void)state;
	struct fake f = {0};
	block(&f, 8, END_RETURN);
	decl(&f, "before", A, 4);
	subprogram(&f, "p", 10, 0, 8);
	decl(&f, "operator()", A, 12);
	decl(&f, "after", A, 20);
	line(&f, 0, A, 10);
	line(&f, 1, A, 5);
	line(&f, 2, A, 13);
	line(&f, 3, A, 19);
	line(&f, 4, A, 20);
	line(&f, 5, A, 19);
	expect(&f,
	       "function p a.c:10-19 0-8\n"
	       "  inline alien before a.c:5-5 1-2\n"
	       "    line a.c:5 1-2\n"
	       "  line a.c:10 0-1\n"
	       "  line a.c:13 2-3\n"
	       "  line a.c:19 3-4 5-8\n"
	       "  inline alien after a.c:20-20 4-5\n"
	       "    line a.c:20 4-5\n",
	       true);
}

/* Nested functions end the code around them in Fortran (Function Invariant 3), not in C. */
static void nested_functions(void **state)
{
	(void)state;
	struct fake f = {0};
	block(&f, 4, END_RETURN);
	uint32_t p = subprogram(&f, "p", 10, 0, 4);
	uint32_t inner = subprogram(&f, "inner", 14, 8, 9);
	f.scopes[inner].parent = p;
	line(&f, 0, A, 10);
	line(&f, 1, A, 16);
	f.unit.language = FORTRAN;
	expect(&f,
	       "function p a.c:10-10\n"
	       "  line a.c:10\n"
	       "  inline alien inner a.c:16-16\n"
	       "    line a.c:16\n",
	       false);
	f.unit.language = 0;
	expect(&f,
	       "function p a.c:10-16\n"
	       "  line a.c:10\n"
	       "  line a.c:16\n",
	       false);
}

/* Contradictions in the debugging information give some tree, with every address in it once. */
static void overlapping_calls(void **state)
{
	(void)state;
	struct fake f = {0};
	simple_loop(&f);
	uint32_t p = subprogram(&f, "p", 10, 0, 8);
	uint32_t g = inlined(&f, "g", p, 13, 1, 5);
	also(&f, 5, 5);
	inlined(&f, "h", g, 3, 4, 7);
	inlined(&f, "i", p, 14, 3, 8);
	line(&f, 0, A, 10);
	line(&f, 3, A, 11);
	struct structure *s = build(&f, true);
	for (uint32_t i = 0; i < 8; i++) {
		uint32_t count = 0;
		for (uint32_t c = 0; c < s->scope_count; c++)
			for (uint32_t r = 0; r < s->scopes[c].range_count; r++) {
				const struct address_range *range =
					&s->ranges[s->scopes[c].first_range + r];
				count += s->scopes[c].kind == SCOPE_LINE && at(i) >= range->start &&
					 at(i) < range->end;
			}
		assert_int_equal(count, 1);
	}
	structure_free(s);
}

static void lookup(void **state)
{
	(void)state;
	struct fake f = {0};
	two_loops(&f);
	uint32_t p = subprogram(&f, "p", 10, 0, 12);
	inlined(&f, "g", p, 13, 3, 8);
	line(&f, 0, A, 10);
	line(&f, 2, A, 12);
	line(&f, 3, B, 4);
	line(&f, 8, A, 12);
	line(&f, 10, A, 0);
	struct structure *s = build(&f, true);
	struct scope_index *x = scope_index_new(s);
	const struct scope *c = &s->scopes[scope_index_at(x, at(5))];
	assert_int_equal(c->kind, SCOPE_LINE);
	assert_int_equal(c->first_line, 4);
	assert_int_equal(c->loop_depth, 2);
	assert_int_equal(scope_index_at(x, at(10)), 0);
	assert_int_equal(scope_index_at(x, at(12)), INDEX_NONE);
	assert_int_equal(scope_index_at(x, at(0) - 1), INDEX_NONE);
	scope_index_free(x);
	structure_free(s);
}

/* However functions are dealt out to builders, the result is the same, byte for byte. */
static void joining_is_deterministic(void **state)
{
	(void)state;
	static const uint8_t deals[][6] = {
		{0, 0, 0, 0, 0, 0}, {1, 0, 2, 2, 0, 1}, {2, 2, 1, 0, 0, 0}};
	struct structure *results[3];
	for (uint32_t d = 0; d < 3; d++) {
		struct structure_builder b[3];
		for (uint32_t i = 0; i < 3; i++)
			builder_init(&b[i]);
		for (uint32_t i = 6; i-- > 0;) {
			static const char *const names[] = {"one",  "two",  "three",
							    "four", "five", "six"};
			struct fake f = {0};
			two_loops(&f);
			uint32_t p = subprogram(&f, "p", 10, 0, 12);
			inlined(&f, names[5 - i], p, 13, 3, 8);
			line(&f, 0, A, i + 1);
			f.function.name = names[i];
			add(&b[deals[d][i]], i, &f, i % 3 != 0);
		}
		results[d] = join_all(b, 3);
		for (uint32_t i = 0; i < 3; i++)
			builder_release(&b[i]);
	}
	assert_string_equal(results[0]->text + results[0]->functions[2].name, "three");
	for (uint32_t d = 1; d < 3; d++) {
		struct slice first[STORAGE_PARTS], other[STORAGE_PARTS];
		storage_parts(results[0], first);
		storage_parts(results[d], other);
		for (uint32_t i = 0; i < STORAGE_PARTS; i++) {
			assert_int_equal(first[i].size, other[i].size);
			assert_memory_equal(first[i].at, other[i].at, first[i].size);
		}
	}
	for (uint32_t d = 0; d < 3; d++)
		structure_free(results[d]);
}

static uint32_t function_named(const struct structure *s, const char *name)
{
	for (uint32_t i = 0; i < s->function_count; i++)
		if (!strcmp(s->text + s->functions[i].name, name))
			return i;
	return INDEX_NONE;
}

/* The same function alone, as callers get it who cannot wait for the whole. */
static void compare_alone(const struct structure *whole, uint32_t function, struct module *m)
{
	struct text a = TEXT_INIT, b = TEXT_INIT;
	struct structure_options options = {.use_debug = true};
	uint64_t inside[] = {whole->functions[function].start + 4,
			     whole->functions[function].start};
	struct structure *alone;
	struct err e;
	assert_int_equal(structure_of_addresses(&alone, m, inside, 2, &options, &e), 0);
	assert_int_equal(alone->function_count, 1);
	show_function(&a, whole, function);
	show_function(&b, alone, 0);
	assert_string_equal(a.data, b.data);
	structure_free(alone);
	text_release(&a);
	text_release(&b);
}

static bool has_address(const struct structure *s, const struct scope *c, uint64_t va)
{
	for (uint32_t i = 0; i < c->range_count; i++)
		if (va >= s->ranges[c->first_range + i].start &&
		    va < s->ranges[c->first_range + i].end)
			return true;
	return false;
}

/* The innermost scope at va of a function that has it: the first line, else the last scope. */
static uint32_t naive_scope_at(const struct structure *s, uint32_t function, uint64_t va)
{
	uint32_t found = s->functions[function].scope, end = s->scopes[found].end;
	for (uint32_t i = found + 1; i < end; i++) {
		if (!has_address(s, &s->scopes[i], va))
			continue;
		found = i;
		if (s->scopes[i].kind == SCOPE_LINE)
			break;
	}
	return found;
}

/* At each address of each part of each function, and just behind. */
static void compare_index(const struct structure *s)
{
	struct scope_index *x = scope_index_new(s);
	for (uint32_t i = 0; i < s->function_count; i++) {
		const struct scope *c = &s->scopes[s->functions[i].scope];
		for (uint32_t r = 0; r < c->range_count; r++) {
			const struct address_range *range = &s->ranges[c->first_range + r];
			for (uint64_t va = range->start; va < range->end; va++) {
				assert_int_equal(scope_index_function(x, va), i);
				assert_int_equal(scope_index_at(x, va), naive_scope_at(s, i, va));
			}
		}
	}
	assert_int_equal(scope_index_at(x, 0), INDEX_NONE);
	assert_int_equal(scope_index_at(x, UINT64_MAX), INDEX_NONE);
	scope_index_free(x);
}

/* This program itself: finish_cfg() has a loop, and a loop with another in it. */
static void whole_program(void **state)
{
	(void)state;
	struct structure_options options = {.use_debug = true};
	struct structure *s;
	struct module *m;
	struct err e;
	assert_int_equal(module_open(&m, "/proc/self/exe", &e), 0);
	assert_int_equal(structure_build(&s, m, &options, &e), 0);
	assert_true(storage_is_sound(s));
	compare_index(s);
	uint32_t function = function_named(s, "finish_cfg");
	if (function != INDEX_NONE) { /* not inlined */
		const struct structure_function *p = &s->functions[function];
		const struct scope *c = &s->scopes[s->loops[p->first_loop].scope];
		assert_true(p->loop_count >= 3);
		assert_true(!s->has_lines || strstr(s->text + c->file, "test_structure.c"));
		assert_true(!s->has_lines || c->first_line > s->scopes[p->scope].first_line);
		compare_alone(s, function, m);
	}
	structure_free(s);
	module_close(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_debug),
		cmocka_unit_test(for_loop),
		cmocka_unit_test(do_while_loop),
		cmocka_unit_test(code_brought_in),
		cmocka_unit_test(endless_loop),
		cmocka_unit_test(loop_in_inlined_call_in_loop),
		cmocka_unit_test(inlined_test),
		cmocka_unit_test(callers_code_in_inlined_loop),
		cmocka_unit_test(other_calls_code_in_loop),
		cmocka_unit_test(split_inlined_call),
		cmocka_unit_test(copies_of_a_loop),
		cmocka_unit_test(machine_loops_share_scope),
		cmocka_unit_test(nested_loops_are_not_joined),
		cmocka_unit_test(copies_of_a_call),
		cmocka_unit_test(line_zero),
		cmocka_unit_test(alien_test),
		cmocka_unit_test(alien_loop),
		cmocka_unit_test(alien_by_bounds),
		cmocka_unit_test(nested_functions),
		cmocka_unit_test(overlapping_calls),
		cmocka_unit_test(lookup),
		cmocka_unit_test(joining_is_deterministic),
		cmocka_unit_test(whole_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
