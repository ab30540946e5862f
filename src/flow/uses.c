/* Most procedures need no data flow analysis: if no block reads a candidate that it has not written
 * itself, no value comes in from anywhere. Where there is one, it is the usual backward analysis
 * over the blocks, part by part of each register (struct part_uses). It passes over calls as if
 * these did nothing: who keeps a value over two of them needs both to leave it alone. */
#include "flow/uses.h"

#include "base/order.h"
#include "flow/effects.h"
#include "flow/entry.h"
#include "flow/internal.h"

enum { CODE_INSNS = 32 }; /* so many in a row are hardly data */

/* A set of parts: of candidate r, bit r is the high part, and the bit 32 away from it the low one.
 */
typedef uint64_t parts;

static parts low_parts(uint64_t registers)
{
	return registers << 32 | registers >> 32;
}

static parts whole(uint64_t registers)
{
	return registers | low_parts(registers);
}

/* What instructions that follow each other do. */
struct row {
	parts reads, writes; /* before they are written, and at all */
	/* Pushed, and handed to a system call, before they are written. */
	parts pushed, passed;
	parts popped;
	/* Registers of which some part is written by an instruction that does not read them; those
	 * read before that (of the flags, before that part is written), but by stores to the stack;
	 * and by these. */
	uint64_t set, unset_reads, spilled;
};

/* A procedure with the results of its analysis; `in` and `out` only if something is read. */
struct study {
	const struct cfg *g;
	struct row *rows; /* of each block */
	parts writes;     /* of all */
	struct backward flow;
};

static uint64_t registers_of(uint64_t candidates, parts p)
{
	return whole(p) & candidates;
}

/* Vectors as wholes: what an instruction keeps of one that it writes it reads (isa/insn.h). */
static parts parts_of(const struct uses_finder *u, uint64_t high, uint64_t low, uint32_t vec)
{
	const struct regset *c = &u->split;
	return (high & c->core) | low_parts(low & c->core) | whole(vec & c->vec);
}

static bool is_spill(const struct uses_finder *u, const struct insn *in)
{
	return in->op == OP_STORE && in->a == u->flow->arch->sp && in->b == REG_NONE;
}

/* smstop leaves all vectors as they are, or without a value: it is no use of any. */
static bool changes_mode(const struct insn *in)
{
	return in->reads.vec == UINT32_MAX && in->writes.vec == UINT32_MAX;
}

static void add_insn(const struct uses_finder *u, struct row *r, const struct insn *in)
{
	const uint64_t candidates = u->candidates, flags = UINT64_C(1) << REG_FLAGS;
	const struct part_uses *p = &in->parts;
	bool mode = changes_mode(in);
	parts reads = parts_of(u, p->high_reads, p->low_reads, mode ? 0 : in->reads.vec);
	parts writes = parts_of(u, p->high_writes, p->low_writes, mode ? 0 : in->writes.vec);
	uint64_t read = registers_of(candidates, reads), written = registers_of(candidates, writes);
	reads &= ~r->writes;
	if (in->kind == INSN_SYSCALL) {
		r->passed |= reads;
	} else if (in->op == OP_PUSH && in->dst != REG_NONE) {
		r->pushed |= reads;
	} else {
		uint64_t unset =
			(read & ~r->set & ~flags) | (registers_of(candidates, reads) & flags);
		r->reads |= reads;
		*(is_spill(u, in) ? &r->spilled : &r->unset_reads) |= unset;
	}
	r->set |= written & ~read;
	if (in->op == OP_POP)
		r->popped |= writes;
	r->writes |= writes;
}

/* System calls seldom take as many arguments as there are registers for: one that the procedure
 * does not set itself it does not pass. */
static parts reads_of(const struct row *r, parts writes)
{
	return r->reads | (r->passed & writes);
}

static struct row row_at(const struct uses_finder *u, uint64_t va, uint64_t end)
{
	struct row r = {0};
	struct cursor c;
	struct insn in;
	cursor_set(&c, u->flow->im, u->flow->arch, va, end - va);
	while (cursor_next(&c, DECODE_FULL, &in))
		add_insn(u, &r, &in);
	return r;
}

/* Jumps that were not understood lead to code that no known path leads to, or where those lead that
 * were; tables that may be longer do as well. True if that is more than was known. */
static bool open_ends(const struct backward *s, parts unknown, struct regset *ends)
{
	const struct cfg *g = s->g;
	parts there = unknown;
	bool more = false;
	for (uint32_t i = 0; i < g->edge_count; i++)
		if (g->edges[i].kind == EDGE_SWITCH)
			there |= s->in[g->edges[i].to].core;
	for (uint32_t b = 0; b < g->block_count; b++) {
		bool open = g->blocks[b].end == END_UNRESOLVED || g->blocks[b].end == END_BAD;
		more |= open && there & ~ends[b].core;
		ends[b].core |= open ? there : 0;
	}
	for (uint32_t i = 0; i < g->table_count; i++) {
		struct regset *end = &ends[g->tables[i].block];
		more |= !g->tables[i].closed && there & ~end->core;
		end->core |= g->tables[i].closed ? 0 : there;
	}
	return more;
}

/* `ends`: what is read behind each block; more of it is found. */
static struct backward solve(const struct cfg *g, const struct effects *effects,
			     struct regset *ends, parts unknown, struct arena *tmp)
{
	struct backward s = {.g = g, .effects = effects, .ends = ends, .past_calls = true};
	s.in = ARENA_ARRAY(tmp, struct regset, g->block_count);
	s.out = ARENA_ARRAY(tmp, struct regset, g->block_count);
	do {
		backward_solve(&s);
	} while (open_ends(&s, unknown, ends));
	return s;
}

static void find_reads(struct study *s, parts unknown, struct arena *tmp)
{
	struct effects *effects = ARENA_ARRAY(tmp, struct effects, s->g->block_count);
	for (uint32_t b = 0; b < s->g->block_count; b++) {
		effects[b].reads.core = reads_of(&s->rows[b], s->writes);
		effects[b].writes.core = s->rows[b].writes;
	}
	struct regset *ends = ARENA_ARRAY(tmp, struct regset, s->g->block_count);
	s->flow = solve(s->g, effects, ends, unknown, tmp);
}

/* There may be landing pads, and nothing that can be decoded at the start. */
static bool has_entry(const struct cfg *g)
{
	return g->entry < g->block_count;
}

/* A push may only make room on the stack, of any register: it saves one if it is at the entry, and
 * a pop before the end brings it back. */
static void count_saves_as_reads(uint64_t candidates, struct study *s)
{
	parts restored = 0;
	for (uint32_t b = 0; b < s->g->block_count; b++)
		if (s->g->blocks[b].end == END_RETURN || s->g->blocks[b].end == END_TAIL_CALL)
			restored |= s->rows[b].popped;
	if (!has_entry(s->g))
		return;
	struct row *first = &s->rows[s->g->entry];
	first->reads |= first->pushed & restored;
	first->unset_reads |= registers_of(candidates, first->pushed & restored);
}

static struct study look_at(struct uses_finder *u, uint32_t procedure)
{
	struct study s = {.g = flow_cfg(u->flow, procedure, &u->graph, &u->tmp)};
	s.rows = ARENA_ARRAY(&u->tmp, struct row, s.g->block_count);
	for (uint32_t b = 0; b < s.g->block_count; b++) {
		const struct block *block = &s.g->blocks[b];
		s.rows[b] = row_at(u, block->start, block->start + block->size);
		s.writes |= s.rows[b].writes;
	}
	count_saves_as_reads(u->candidates, &s);
	return s;
}

static uint64_t read_at_block(const struct uses_finder *u, const struct study *s, uint32_t b)
{
	return s->flow.in ? registers_of(u->candidates, s->flow.in[b].core) : 0;
}

static size_t decode_code(const struct uses_finder *u, uint64_t va, struct insn *in)
{
	size_t n = decode_at(u->flow->im, u->flow->arch, va, DECODE_FULL, in);
	return n && in->target && !image_is_code(u->flow->im, in->target) ? 0 : n;
}

/* Instructions without bytes between them that are none, in code of which nothing is known. */
struct stretch {
	uint64_t start;
	uint32_t insns;
	struct row row;  /* since control last went elsewhere for sure */
	uint64_t reads;  /* registers, in any such row */
	uint64_t lowest; /* instruction that reads one */
};

static void add_to_stretch(const struct uses_finder *u, struct stretch *s, parts writes,
			   const struct insn *in)
{
	add_insn(u, &s->row, in);
	uint64_t reads = registers_of(u->candidates, reads_of(&s->row, writes));
	if (reads && !s->reads)
		s->lowest = in->pc;
	s->reads |= reads;
	if (insn_ends_block(in) && in->kind != INSN_BRANCH)
		s->row = (struct row){0};
	s->insns++;
}

static parts written_in(const struct uses_finder *u, uint64_t va, uint64_t end)
{
	struct row all = {0};
	struct insn in;
	for (size_t n; va < end; va += n ? n : u->flow->arch->insn_align) {
		n = decode_code(u, va, &in);
		if (n)
			add_insn(u, &all, &in);
	}
	return all.writes;
}

/* `writes` is what the code around it does. */
static uint64_t read_in(const struct uses_finder *u, uint64_t start, uint64_t end, parts writes,
			uint64_t *lowest)
{
	struct stretch s = {.start = start};
	uint64_t reads = 0, va = start;
	writes |= written_in(u, start, end);
	while (va < end) {
		struct insn in;
		size_t n = decode_code(u, va, &in);
		if (n)
			add_to_stretch(u, &s, writes, &in);
		va += n ? n : u->flow->arch->insn_align;
		if (n && va < end)
			continue;
		bool whole_range = n && s.start == start;
		if (s.reads && (s.insns >= CODE_INSNS || whole_range)) {
			*lowest = reads ? *lowest : s.lowest;
			reads |= s.reads;
		}
		s = (struct stretch){.start = va};
	}
	return reads;
}

uint64_t uses_in_range(struct uses_finder *u, uint64_t start, uint64_t end, uint64_t *lowest)
{
	return read_in(u, start, end, 0, lowest);
}

typedef VEC(struct part) part_list;

static void list_holes(const struct cfg *g, uint64_t at, uint64_t end, part_list *out)
{
	uint32_t i = ORDER_UP_TO(g->blocks, g->block_count, start, at - 1);
	for (; i < g->block_count && g->blocks[i].start < end; i++) {
		const struct block *b = &g->blocks[i];
		if (b->start > at)
			vec_push(out, (struct part){at, b->start});
		at = b->start + b->size > at ? b->start + b->size : at;
	}
	if (at < end)
		vec_push(out, (struct part){at, end});
}

/* What is in the procedure's ranges but in none of its blocks, nor in another procedure. */
static part_list find_holes(const struct uses_finder *u, const struct cfg *g, uint32_t procedure)
{
	uint32_t count, kept = 0;
	const struct procedure *p = &flow_procedures(u->flow, &count)[procedure];
	const struct part *more = flow_parts(u->flow) + p->first_part;
	part_list holes = {0};
	list_holes(g, p->start, p->end, &holes);
	for (uint32_t i = 0; i < p->part_count; i++)
		list_holes(g, more[i].start, more[i].end, &holes);
	vec_each (h, &holes)
		if (flow_procedure_at(u->flow, h->start) == procedure)
			holes.data[kept++] = *h;
	holes.len = kept;
	return holes;
}

/* Registers that the procedure itself has set on some way to each block. */
static uint64_t *set_before(const struct study *s, struct arena *tmp)
{
	uint64_t *set = ARENA_ARRAY(tmp, uint64_t, s->g->block_count);
	bool more;
	do {
		more = false;
		for (uint32_t i = 0; i < s->g->edge_count; i++) {
			const struct edge *e = &s->g->edges[i];
			uint64_t there = set[e->from] | s->rows[e->from].set;
			more |= there & ~set[e->to];
			set[e->to] |= there;
		}
	} while (more);
	return set;
}

/* Registers that are read with their values at the entry. Where the procedure may have set one, it
 * is taken to have done so: compilers read variables on ways on which they are not set if these
 * are never taken, and whole registers where only the parts that were set matter; they also save
 * what has no value, over a call. Not so right at the entry. */
static uint64_t read_at_entry(const struct uses_finder *u, const struct study *s, struct arena *tmp)
{
	if (!has_entry(s->g) || !read_at_block(u, s, s->g->entry))
		return 0;
	struct effects *effects = ARENA_ARRAY(tmp, struct effects, s->g->block_count);
	struct regset *ends = ARENA_ARRAY(tmp, struct regset, s->g->block_count);
	uint64_t *set = set_before(s, tmp);
	for (uint32_t b = 0; b < s->g->block_count; b++) {
		const struct row *r = &s->rows[b];
		effects[b].reads.core =
			b == s->g->entry ? r->unset_reads | r->spilled : r->unset_reads & ~set[b];
		effects[b].writes.core = registers_of(u->candidates, r->writes);
	}
	return solve(s->g, effects, ends, 0, tmp).in[s->g->entry].core;
}

static bool ends_in_call(const struct block *b)
{
	return b->end == END_CALL || b->end == END_CALL_INDIRECT;
}

/* False if nobody knows what is there. */
static bool add_way(struct uses_finder *u, struct way way, uint64_t target)
{
	uint32_t count;
	const struct procedure *all = flow_procedures(u->flow, &count);
	way.to = target ? flow_procedure_at(u->flow, target) : UINT32_MAX;
	if (way.to == UINT32_MAX || all[way.to].flags & PROCEDURE_PLT)
		return false;
	way.inside = all[way.to].start == target ? 0 : target;
	vec_push(&u->ways, way);
	return true;
}

static void add_block_way(struct uses_finder *u, const struct study *s, uint32_t b, struct way way,
			  struct uses *out)
{
	const struct block *block = &s->g->blocks[b];
	way.block = b;
	way.jump = !ends_in_call(block);
	way.final = block->flags & BLOCK_NORETURN;
	way.behind = way.jump || way.final ? 0 : out->unknown;
	for (uint32_t k = 0; k < block->edge_count; k++) {
		const struct edge *e = &s->g->edges[block->first_edge + k];
		if (e->kind != EDGE_CALL_RETURN)
			continue;
		way.behind |= read_at_block(u, s, e->to);
		/* Not if the value may come along other ways. */
		if (s->g->first_pred[e->to] + 1 == s->g->first_pred[e->to + 1])
			way.at_once = s->rows[e->to].unset_reads & way.behind;
	}
	out->held |= way.behind;
	if (add_way(u, way, block->target))
		return;
	if (!way.final)
		out->destroys = u->candidates;
	if (way.at_once && !out->strange)
		out->place = block->start + block->size;
	out->strange |= way.at_once;
}

/* Calls in code of the procedure that no known path leads to: they may not happen. */
static void add_hole_ways(struct uses_finder *u, const struct part *hole, struct way way)
{
	struct insn in;
	for (uint64_t va = hole->start; va < hole->end;) {
		size_t n = decode_code(u, va, &in);
		if (n && in.kind == INSN_CALL)
			add_way(u, way, in.target);
		va += n ? n : u->flow->arch->insn_align;
	}
}

/* Where a table of guessed size leads out of the procedure it was read too far. */
static void add_ways(struct uses_finder *u, const struct study *s, uint32_t procedure,
		     const part_list *holes, struct uses *out)
{
	for (uint32_t b = 0; b < s->g->block_count; b++)
		if (ends_in_call(&s->g->blocks[b]) || s->g->blocks[b].end == END_TAIL_CALL)
			add_block_way(u, s, b, (struct way){.from = procedure}, out);
	if (out->unknown)
		vec_each (h, holes)
			add_hole_ways(u, h,
				      (struct way){.from = procedure,
						   .block = BLOCK_NONE,
						   .doubtful = true,
						   .behind = out->unknown});
}

static uint64_t read_in_holes(const struct uses_finder *u, const struct study *s,
			      const part_list *holes)
{
	uint64_t reads = 0, lowest;
	vec_each (h, holes)
		reads |= read_in(u, h->start, h->end, s->writes, &lowest);
	return reads;
}

static bool reads_something(const struct study *s)
{
	parts reads = 0;
	for (uint32_t b = 0; b < s->g->block_count; b++)
		reads |= reads_of(&s->rows[b], s->writes);
	return reads != 0;
}

struct uses uses_find(struct uses_finder *u, uint32_t procedure)
{
	struct study s = look_at(u, procedure);
	part_list holes = find_holes(u, s.g, procedure);
	struct uses out = {.written = registers_of(u->candidates, s.writes),
			   .unknown = read_in_holes(u, &s, &holes)};
	if (reads_something(&s) || out.unknown)
		find_reads(&s, whole(out.unknown), &u->tmp);
	out.entry = read_at_entry(u, &s, &u->tmp) | (out.unknown & ~out.written);
	/* What is read first may be saved and brought back. */
	out.destroys = out.written & ~out.entry;
	out.held = out.unknown;
	for (uint32_t b = 0; b < s.g->block_count; b++)
		if (s.g->blocks[b].flags & BLOCK_LANDING)
			out.held |= read_at_block(u, &s, b);
	add_ways(u, &s, procedure, &holes, &out);
	vec_free(&holes);
	arena_clear(&u->graph);
	arena_clear(&u->tmp);
	return out;
}

/* What is passed on behind the way, which is a call. */
static void add_passed_behind(const struct uses_finder *u, const struct study *s,
			      const struct regset *ends, struct way *way)
{
	const struct block *block = &s->g->blocks[way->block];
	for (uint32_t k = 0; k < block->edge_count; k++) {
		const struct edge *e = &s->g->edges[block->first_edge + k];
		if (e->kind != EDGE_CALL_RETURN)
			continue;
		way->behind |= read_at_block(u, s, e->to);
		if (s->g->first_pred[e->to] + 1 == s->g->first_pred[e->to + 1])
			way->at_once |= registers_of(u->candidates,
						     ends[e->to].core & ~s->rows[e->to].writes);
	}
}

void uses_add_passed(struct uses_finder *u, struct way *ways, uint32_t count)
{
	struct study s = look_at(u, ways->from);
	struct effects *effects = ARENA_ARRAY(&u->tmp, struct effects, s.g->block_count);
	struct regset *ends = ARENA_ARRAY(&u->tmp, struct regset, s.g->block_count);
	for (uint32_t b = 0; b < s.g->block_count; b++)
		effects[b].writes.core = s.rows[b].writes;
	for (uint32_t i = 0; i < count; i++)
		if (ways[i].block != BLOCK_NONE)
			ends[ways[i].block].core |= whole(ways[i].passed);
	s.flow = solve(s.g, effects, ends, 0, &u->tmp);
	for (uint32_t i = 0; i < count; i++)
		if (ways[i].block != BLOCK_NONE && !ways[i].jump && !ways[i].final)
			add_passed_behind(u, &s, ends, &ways[i]);
	arena_clear(&u->graph);
	arena_clear(&u->tmp);
}

/* What is in no block is followed as long as it goes straight on; from there, it was read before.
 */
static uint64_t read_straight(const struct uses_finder *u, const struct study *s, uint64_t va)
{
	struct row r = {0};
	struct insn in = {0};
	for (size_t n; !insn_ends_block(&in) && (n = decode_code(u, va, &in)); va += n)
		add_insn(u, &r, &in);
	return registers_of(u->candidates, reads_of(&r, s->writes));
}

static uint64_t read_from(const struct uses_finder *u, const struct study *s, uint64_t va)
{
	uint32_t b = cfg_block_at(s->g, va);
	if (b == BLOCK_NONE)
		return read_straight(u, s, va);
	struct row r = row_at(u, va, s->g->blocks[b].start + s->g->blocks[b].size);
	parts reads = reads_of(&r, s->writes) | (s->flow.out[b].core & ~r.writes);
	return registers_of(u->candidates, reads);
}

void uses_from(struct uses_finder *u, uint32_t procedure, const uint64_t *places, uint32_t count,
	       uint64_t *reads)
{
	struct study s = look_at(u, procedure);
	find_reads(&s, 0, &u->tmp);
	for (uint32_t i = 0; i < count; i++)
		reads[i] = read_from(u, &s, places[i]);
	arena_clear(&u->graph);
	arena_clear(&u->tmp);
}

void uses_init(struct uses_finder *u, struct flow *f)
{
	const struct regset split = f->arch->private_candidates;
	*u = (struct uses_finder){.flow = f, .split = split, .candidates = split.core | split.vec};
	arena_init(&u->graph);
	arena_init(&u->tmp);
}

void uses_release(struct uses_finder *u)
{
	arena_release(&u->graph);
	arena_release(&u->tmp);
	vec_free(&u->ways);
}
