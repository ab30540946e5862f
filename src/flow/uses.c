/* Finds the register uses of one function. Most functions need no data flow analysis: if no block
 * reads a candidate that it has not written itself, the function uses no value from elsewhere.
 * Otherwise this is the usual backward analysis over the blocks, for each part of a register
 * separately (struct part_uses). Calls are treated as if they did nothing: a value that is kept
 * over two calls needs both callees to preserve it. */
#include "flow/uses.h"

#include "base/order.h"
#include "flow/effects.h"
#include "flow/entry.h"
#include "flow/internal.h"

enum { CODE_INSNS = 32 }; /* this many decodable instructions in a row are hardly data */

/* A set of parts of candidates. Bit r is the high part of candidate r, and the bit 32 away from it
 * the low part. */
typedef uint64_t parts;

static parts low_parts(uint64_t registers)
{
	return registers << 32 | registers >> 32;
}

static parts whole(uint64_t registers)
{
	return registers | low_parts(registers);
}

/* What consecutive instructions do. */
struct sequence_uses {
	parts reads, writes; /* read before they are written; written at all */
	/* Pushed, and passed to a system call, before they are written. */
	parts pushed, passed;
	parts popped;
	/* `set`: registers of which some part is written by an instruction that does not read them.
	 * `unset_reads`: registers that are read before that (the flags: before that part is
	 * written), except by stores to the stack; those stores are `spilled`. */
	uint64_t set, unset_reads, spilled;
};

/* A function and its analysis; flow.in and flow.out are NULL if nothing is read. */
struct uses_analysis {
	const struct cfg *g;
	struct sequence_uses *block_uses; /* for each block */
	parts writes;                     /* of all blocks */
	struct backward flow;
};

static uint64_t registers_of(uint64_t candidates, parts p)
{
	return whole(p) & candidates;
}

/* Vector registers are not split: an instruction that keeps a part of one that it writes is said to
 * read it (isa/insn.h). */
static parts parts_of(const struct uses_finder *u, uint64_t high, uint64_t low, uint32_t vec)
{
	const struct regset *c = &u->split;
	return (high & c->core) | low_parts(low & c->core) | whole(vec & c->vec);
}

static bool is_spill(const struct uses_finder *u, const struct insn *in)
{
	return in->op == OP_STORE && in->a == u->flow->arch->sp && in->b == REG_NONE;
}

/* smstop leaves all vector registers as they are, or without a value: it does not use them. */
static bool changes_mode(const struct insn *in)
{
	return in->reads.vec == UINT32_MAX && in->writes.vec == UINT32_MAX;
}

static void add_insn(const struct uses_finder *u, struct sequence_uses *r, const struct insn *in)
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

/* The parts that the instructions read. A system call counts as reading a register only if the
 * function sets that register somewhere: most system calls take fewer arguments than there are
 * registers for. */
static parts reads_of(const struct sequence_uses *r, parts writes)
{
	return r->reads | (r->passed & writes);
}

static struct sequence_uses uses_at(const struct uses_finder *u, uint64_t va, uint64_t end)
{
	struct sequence_uses r = {0};
	struct decoder c;
	struct insn in;
	cursor_set(&c, u->flow->module, u->flow->arch, va, end - va);
	while (cursor_next(&c, DECODE_FULL, &in))
		add_insn(u, &r, &in);
	return r;
}

/* A jump that was not understood may lead to code that no known path leads to, or to the targets of
 * understood jumps. So may a table that can have more entries. True if this adds reads. */
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

/* `ends` has the parts that are read after each block; the reads of open ends are added to it. */
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

static void find_reads(struct uses_analysis *s, parts unknown, struct arena *tmp)
{
	struct effects *effects = ARENA_ARRAY(tmp, struct effects, s->g->block_count);
	for (uint32_t b = 0; b < s->g->block_count; b++) {
		effects[b].reads.core = reads_of(&s->block_uses[b], s->writes);
		effects[b].writes.core = s->block_uses[b].writes;
	}
	struct regset *ends = ARENA_ARRAY(tmp, struct regset, s->g->block_count);
	s->flow = solve(s->g, effects, ends, unknown, tmp);
}

/* A graph may have landing pads only: if the code at the start cannot be decoded. */
static bool has_entry(const struct cfg *g)
{
	return g->entry < g->block_count;
}

/* Counts pushes that save a register as reads. A push of any register may only be there to make
 * room on the stack; it saves the register if it is in the entry block and a pop before an end of
 * the function restores it. */
static void count_saves_as_reads(uint64_t candidates, struct uses_analysis *s)
{
	parts restored = 0;
	for (uint32_t b = 0; b < s->g->block_count; b++)
		if (s->g->blocks[b].end == END_RETURN || s->g->blocks[b].end == END_TAIL_CALL)
			restored |= s->block_uses[b].popped;
	if (!has_entry(s->g))
		return;
	struct sequence_uses *first = &s->block_uses[s->g->entry];
	first->reads |= first->pushed & restored;
	first->unset_reads |= registers_of(candidates, first->pushed & restored);
}

static struct uses_analysis analyse_blocks(struct uses_finder *u, uint32_t function)
{
	struct uses_analysis s = {.g = flow_cfg(u->flow, function, &u->graph, &u->tmp)};
	s.block_uses = ARENA_ARRAY(&u->tmp, struct sequence_uses, s.g->block_count);
	for (uint32_t b = 0; b < s.g->block_count; b++) {
		const struct block *block = &s.g->blocks[b];
		s.block_uses[b] = uses_at(u, block->start, block->start + block->size);
		s.writes |= s.block_uses[b].writes;
	}
	count_saves_as_reads(u->candidates, &s);
	return s;
}

static uint64_t read_at_block(const struct uses_finder *u, const struct uses_analysis *s,
			      uint32_t b)
{
	return s->flow.in ? registers_of(u->candidates, s->flow.in[b].core) : 0;
}

/* Like decode_at(). An instruction whose target is not code is taken for data. */
static size_t decode_code(const struct uses_finder *u, uint64_t va, struct insn *in)
{
	size_t n = decode_at(u->flow->module, u->flow->arch, va, DECODE_FULL, in);
	return n && in->target && !module_is_code(u->flow->module, in->target) ? 0 : n;
}

/* A stretch of unknown code in which everything can be decoded. */
struct stretch {
	uint64_t start;
	uint32_t insns;
	struct sequence_uses current; /* since the last instruction that does not fall through */
	uint64_t reads;  /* registers that any such sequence reads before it writes them */
	uint64_t lowest; /* first instruction that reads one */
};

static void add_to_stretch(const struct uses_finder *u, struct stretch *s, parts writes,
			   const struct insn *in)
{
	add_insn(u, &s->current, in);
	uint64_t reads = registers_of(u->candidates, reads_of(&s->current, writes));
	if (reads && !s->reads)
		s->lowest = in->pc;
	s->reads |= reads;
	if (insn_ends_block(in) && in->kind != INSN_BRANCH)
		s->current = (struct sequence_uses){0};
	s->insns++;
}

static parts written_in(const struct uses_finder *u, uint64_t va, uint64_t end)
{
	struct sequence_uses all = {0};
	struct insn in;
	for (size_t n; va < end; va += n ? n : u->flow->arch->insn_align) {
		n = decode_code(u, va, &in);
		if (n)
			add_insn(u, &all, &in);
	}
	return all.writes;
}

/* The registers that unknown code reads before it writes them. `writes` are the writes of the code
 * around it. Stretches that are too short to be code are ignored. */
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

/* Code in the ranges of the function that is in none of its blocks, nor in another function. */
static part_list find_holes(const struct uses_finder *u, const struct cfg *g, uint32_t function)
{
	uint32_t count;
	const struct function *p = &flow_functions(u->flow, &count)[function];
	const struct part *more = flow_parts(u->flow) + p->first_part;
	part_list holes = {0};
	list_holes(g, p->start, p->end, &holes);
	for (uint32_t i = 0; i < p->part_count; i++)
		list_holes(g, more[i].start, more[i].end, &holes);
	vec_keep_if(&holes, h, flow_function_at(u->flow, h->start) == function);
	return holes;
}

/* For each block: the registers that the function itself has set on some path to it. */
static uint64_t *set_before(const struct uses_analysis *s, struct arena *tmp)
{
	uint64_t *set = ARENA_ARRAY(tmp, uint64_t, s->g->block_count);
	bool more;
	do {
		more = false;
		for (uint32_t i = 0; i < s->g->edge_count; i++) {
			const struct edge *e = &s->g->edges[i];
			uint64_t there = set[e->from] | s->block_uses[e->from].set;
			more |= there & ~set[e->to];
			set[e->to] |= there;
		}
	} while (more);
	return set;
}

/* Registers that are read with their values at the entry. If the function may have set a register
 * before a read, it is assumed that it did; only in the entry block nothing was set before. The
 * assumption is needed because compilers
 *
 *	1. read variables on paths where they are not set, if these paths are never taken,
 *	2. read whole registers where only the parts that were set matter,
 *	3. save registers that hold no value over a call. */
static uint64_t read_at_entry(const struct uses_finder *u, const struct uses_analysis *s,
			      struct arena *tmp)
{
	if (!has_entry(s->g) || !read_at_block(u, s, s->g->entry))
		return 0;
	struct effects *effects = ARENA_ARRAY(tmp, struct effects, s->g->block_count);
	struct regset *ends = ARENA_ARRAY(tmp, struct regset, s->g->block_count);
	uint64_t *set = set_before(s, tmp);
	for (uint32_t b = 0; b < s->g->block_count; b++) {
		const struct sequence_uses *r = &s->block_uses[b];
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

/* Adds the edge if its target is known; false if not. */
static bool add_edge(struct uses_finder *u, struct call_edge edge, uint64_t target)
{
	uint32_t count;
	const struct function *all = flow_functions(u->flow, &count);
	edge.to = target ? flow_function_at(u->flow, target) : UINT32_MAX;
	if (edge.to == UINT32_MAX || all[edge.to].flags & FUNCTION_PLT)
		return false;
	edge.inside = all[edge.to].start == target ? 0 : target;
	vec_push(&u->edges, edge);
	return true;
}

static void add_block_edge(struct uses_finder *u, const struct uses_analysis *s, uint32_t b,
			   struct call_edge edge, struct uses *out)
{
	const struct block *block = &s->g->blocks[b];
	edge.block = b;
	edge.jump = !ends_in_call(block);
	edge.noreturn = block->flags & BLOCK_NORETURN;
	edge.read_after = edge.jump || edge.noreturn ? 0 : out->unknown;
	for (uint32_t k = 0; k < block->edge_count; k++) {
		const struct edge *e = &s->g->edges[block->first_edge + k];
		if (e->kind != EDGE_CALL_RETURN)
			continue;
		edge.read_after |= read_at_block(u, s, e->to);
		/* Only if no other edge leads there, along which the value may have arrived. */
		if (s->g->first_pred[e->to] + 1 == s->g->first_pred[e->to + 1])
			edge.read_next = s->block_uses[e->to].unset_reads & edge.read_after;
	}
	out->held |= edge.read_after;
	if (add_edge(u, edge, block->target))
		return;
	if (!edge.noreturn)
		out->destroys = u->candidates;
	if (edge.read_next && !out->strange)
		out->place = block->start + block->size;
	out->strange |= edge.read_next;
}

/* Adds the calls in code of the function that no known path leads to: they may never happen. */
static void add_hole_edges(struct uses_finder *u, const struct part *hole, struct call_edge edge)
{
	struct insn in;
	for (uint64_t va = hole->start; va < hole->end;) {
		size_t n = decode_code(u, va, &in);
		if (n && in.kind == INSN_CALL)
			add_edge(u, edge, in.target);
		va += n ? n : u->flow->arch->insn_align;
	}
}

/* Adds all edges out of the function, except targets of jump tables: a table that leads out of the
 * function has a guessed size and was read too far. */
static void add_edges(struct uses_finder *u, const struct uses_analysis *s, uint32_t function,
		      const part_list *holes, struct uses *out)
{
	for (uint32_t b = 0; b < s->g->block_count; b++)
		if (ends_in_call(&s->g->blocks[b]) || s->g->blocks[b].end == END_TAIL_CALL)
			add_block_edge(u, s, b, (struct call_edge){.from = function}, out);
	if (out->unknown)
		vec_each (h, holes)
			add_hole_edges(u, h,
				       (struct call_edge){.from = function,
							  .block = BLOCK_NONE,
							  .doubtful = true,
							  .read_after = out->unknown});
}

static uint64_t read_in_holes(const struct uses_finder *u, const struct uses_analysis *s,
			      const part_list *holes)
{
	uint64_t reads = 0, lowest;
	vec_each (h, holes)
		reads |= read_in(u, h->start, h->end, s->writes, &lowest);
	return reads;
}

static bool reads_something(const struct uses_analysis *s)
{
	parts reads = 0;
	for (uint32_t b = 0; b < s->g->block_count; b++)
		reads |= reads_of(&s->block_uses[b], s->writes);
	return reads != 0;
}

struct uses uses_find(struct uses_finder *u, uint32_t function)
{
	struct uses_analysis s = analyse_blocks(u, function);
	part_list holes = find_holes(u, s.g, function);
	struct uses out = {.written = registers_of(u->candidates, s.writes),
			   .unknown = read_in_holes(u, &s, &holes)};
	if (reads_something(&s) || out.unknown)
		find_reads(&s, whole(out.unknown), &u->tmp);
	out.entry = read_at_entry(u, &s, &u->tmp) | (out.unknown & ~out.written);
	/* A register that is read first may be saved and restored. */
	out.destroys = out.written & ~out.entry;
	out.held = out.unknown;
	for (uint32_t b = 0; b < s.g->block_count; b++)
		if (s.g->blocks[b].flags & BLOCK_LANDING)
			out.held |= read_at_block(u, &s, b);
	add_edges(u, &s, function, &holes, &out);
	vec_free(&holes);
	arena_clear(&u->graph);
	arena_clear(&u->tmp);
	return out;
}

/* Adds what is passed on after the call to what is read after it. */
static void add_passed_after(const struct uses_finder *u, const struct uses_analysis *s,
			     const struct regset *ends, struct call_edge *call)
{
	const struct block *block = &s->g->blocks[call->block];
	for (uint32_t k = 0; k < block->edge_count; k++) {
		const struct edge *e = &s->g->edges[block->first_edge + k];
		if (e->kind != EDGE_CALL_RETURN)
			continue;
		call->read_after |= read_at_block(u, s, e->to);
		if (s->g->first_pred[e->to] + 1 == s->g->first_pred[e->to + 1])
			call->read_next |= registers_of(
				u->candidates, ends[e->to].core & ~s->block_uses[e->to].writes);
	}
}

void uses_add_passed(struct uses_finder *u, struct call_edge *edges, uint32_t count)
{
	struct uses_analysis s = analyse_blocks(u, edges->from);
	struct effects *effects = ARENA_ARRAY(&u->tmp, struct effects, s.g->block_count);
	struct regset *ends = ARENA_ARRAY(&u->tmp, struct regset, s.g->block_count);
	for (uint32_t b = 0; b < s.g->block_count; b++)
		effects[b].writes.core = s.block_uses[b].writes;
	for (uint32_t i = 0; i < count; i++)
		if (edges[i].block != BLOCK_NONE)
			ends[edges[i].block].core |= whole(edges[i].passed);
	s.flow = solve(s.g, effects, ends, 0, &u->tmp);
	for (uint32_t i = 0; i < count; i++)
		if (edges[i].block != BLOCK_NONE && !edges[i].jump && !edges[i].noreturn)
			add_passed_after(u, &s, ends, &edges[i]);
	arena_clear(&u->graph);
	arena_clear(&u->tmp);
}

/* The registers read from va on, where va is in no block. The code is followed up to the first
 * jump; code beyond that has been looked at already. */
static uint64_t read_straight(const struct uses_finder *u, const struct uses_analysis *s,
			      uint64_t va)
{
	struct sequence_uses r = {0};
	struct insn in = {0};
	for (size_t n; !insn_ends_block(&in) && (n = decode_code(u, va, &in)); va += n)
		add_insn(u, &r, &in);
	return registers_of(u->candidates, reads_of(&r, s->writes));
}

static uint64_t read_from(const struct uses_finder *u, const struct uses_analysis *s, uint64_t va)
{
	uint32_t b = cfg_block_at(s->g, va);
	if (b == BLOCK_NONE)
		return read_straight(u, s, va);
	struct sequence_uses r = uses_at(u, va, s->g->blocks[b].start + s->g->blocks[b].size);
	parts reads = reads_of(&r, s->writes) | (s->flow.out[b].core & ~r.writes);
	return registers_of(u->candidates, reads);
}

void uses_from(struct uses_finder *u, uint32_t function, const uint64_t *places, uint32_t count,
	       uint64_t *reads)
{
	struct uses_analysis s = analyse_blocks(u, function);
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
	vec_free(&u->edges);
}
