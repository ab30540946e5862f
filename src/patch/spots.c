#include "patch/spots.h"

#include "base/vec.h"
#include "isa/arch.h"
#include "module/module.h"
#include "patch/pinned.h"

const char *const point_kind_name[POINT_KINDS] = {
	[POINT_ENTRY] = "entry",
	[POINT_EXIT] = "exit",
	[POINT_CALL] = "call",
	[POINT_LOOP_ENTRY] = "loop-entry",
	[POINT_LOOP_EXIT] = "loop-exit",
	[POINT_ITERATION_BEGIN] = "iteration-begin",
	[POINT_ITERATION_END] = "iteration-end",
	[POINT_SYSCALL] = "syscall",
	[POINT_SYSCALL_DONE] = "syscall-done",
	[POINT_PASS] = "pass",
	[POINT_PASS_DONE] = "pass-done",
};

const char *const spot_place_name[SPOT_PLACES] = {
	[SPOT_BEFORE] = "before",
	[SPOT_ENTRY] = "entry",
	[SPOT_EDGE] = "edge",
	[SPOT_TAKEN] = "taken",
};

struct spot_search {
	const struct arch *arch;
	const struct module *module;
	const struct cfg *g;
	const struct loop_forest *forest;
	uint32_t kinds, loop;
	struct spot_list *out;
	/* The block whose last instruction was found last, and its address: edges are listed by
	 * their source block, and switches have many. */
	uint32_t last_block;
	uint64_t last_va;
};

static void add(struct spot_search *s, struct spot spot)
{
	if (s->kinds >> spot.kind & 1)
		vec_push(s->out, spot);
}

/* Decodes at va, inside the block. False at its end. */
static bool insn_at(const struct spot_search *s, const struct block *b, uint64_t va,
		    struct insn *in)
{
	size_t n;
	uint64_t end = b->start + b->size;
	const uint8_t *p = va < end ? module_at(s->module, va, end - va, &n) : NULL;
	return p && s->arch->decode(p, n, va, DECODE_FLOW, in);
}

static uint64_t last_insn(struct spot_search *s, uint32_t block)
{
	const struct block *b = &s->g->blocks[block];
	struct insn in;
	if (block == s->last_block)
		return s->last_va;
	s->last_block = block;
	s->last_va = b->start;
	if (s->arch->insn_align == s->arch->insn_max)
		s->last_va = b->start + b->size - s->arch->insn_max;
	else
		for (uint64_t va = b->start; insn_at(s, b, va, &in); va += in.length)
			s->last_va = va;
	return s->last_va;
}

static void add_before(struct spot_search *s, enum point_kind kind, uint64_t va)
{
	add(s, (struct spot){.kind = (uint8_t)kind,
			     .place = SPOT_BEFORE,
			     .loop = LOOP_NONE,
			     .edge = UINT32_MAX,
			     .va = va});
}

static void add_edge(struct spot_search *s, enum point_kind kind, uint32_t loop, uint32_t edge)
{
	if (s->kinds >> kind & 1)
		add(s, (struct spot){.kind = (uint8_t)kind,
				     .place = SPOT_EDGE,
				     .loop = loop,
				     .edge = edge,
				     .va = last_insn(s, s->g->edges[edge].from)});
}

static bool wants_loop(const struct spot_search *s, uint32_t loop)
{
	return s->loop == LOOP_NONE || s->loop == loop;
}

/* The spot for control from outside the function, after the landing instructions. */
static struct spot entry_spot(struct spot_search *s)
{
	const struct block *b = &s->g->blocks[s->g->entry];
	struct spot spot = {
		.place = SPOT_ENTRY, .loop = LOOP_NONE, .edge = UINT32_MAX, .va = b->start};
	struct insn in;
	while (insn_at(s, b, spot.va, &in) && in.flags & INSN_LANDING)
		spot.va += in.length;
	return spot;
}

/* Loops that contain the entry block are entered with the function, not by an edge. */
static void add_entry(struct spot_search *s)
{
	struct spot spot = entry_spot(s);
	uint32_t inner = s->forest ? s->forest->innermost[s->g->entry] : (uint32_t)LOOP_NONE;
	spot.kind = POINT_ENTRY;
	add(s, spot);
	for (uint32_t depth = 1; inner != LOOP_NONE; depth++) {
		uint32_t l = inner;
		while (s->forest->loops[l].depth > depth)
			l = s->forest->loops[l].parent;
		spot.loop = l;
		spot.kind = POINT_LOOP_ENTRY;
		if (wants_loop(s, l))
			add(s, spot);
		spot.kind = POINT_ITERATION_BEGIN;
		if (wants_loop(s, l))
			add(s, spot);
		if (l == inner)
			break;
	}
}

/* A system call does not end a block, but a block may end after it, because other code jumps
 * there. */
static void add_syscalls_of(struct spot_search *s, uint32_t block)
{
	const struct block *b = &s->g->blocks[block];
	bool after = false;
	struct insn in;
	for (uint64_t va = b->start; insn_at(s, b, va, &in); va += in.length) {
		if (after)
			add_before(s, POINT_SYSCALL_DONE, va);
		after = in.kind == INSN_SYSCALL;
		if (after)
			add_before(s, POINT_SYSCALL, va);
	}
	if (after && b->end == END_FALL && b->edge_count)
		add_edge(s, POINT_SYSCALL_DONE, LOOP_NONE, b->first_edge);
}

static void add_passes_of(struct spot_search *s, uint32_t block)
{
	const struct block *b = &s->g->blocks[block];
	if (b->end != END_CALL || !is_pinned(s->module, s->arch, b->target))
		return;
	add_before(s, POINT_PASS, last_insn(s, block));
	for (uint32_t i = b->first_edge; i < b->first_edge + b->edge_count; i++)
		if (s->g->edges[i].kind == EDGE_CALL_RETURN)
			add_edge(s, POINT_PASS_DONE, LOOP_NONE, i);
}

static bool leaves_if_taken(const struct block *b)
{
	return b->end == END_TAIL_CALL && b->flags & BLOCK_CONDITIONAL &&
	       !(b->flags & BLOCK_OPEN_FRAME);
}

/* A conditional tail call in a loop leaves it, but not by an edge. */
static void add_taken_exits(struct spot_search *s, uint32_t block)
{
	uint32_t l = s->forest->innermost[block];
	struct spot spot = {.place = SPOT_TAKEN, .edge = UINT32_MAX, .va = last_insn(s, block)};
	for (; l != LOOP_NONE; l = s->forest->loops[l].parent) {
		if (!wants_loop(s, l))
			continue;
		spot.loop = l;
		spot.kind = POINT_ITERATION_END;
		add(s, spot);
		spot.kind = POINT_LOOP_EXIT;
		add(s, spot);
	}
}

/* Adds two points on each of the edges. Either kind may be one that was not requested. */
static void add_edges(struct spot_search *s, uint32_t loop, uint32_t first, uint32_t count,
		      enum point_kind one, enum point_kind then)
{
	for (uint32_t i = first; wants_loop(s, loop) && i < first + count; i++) {
		add_edge(s, one, loop, s->forest->edges[i]);
		add_edge(s, then, loop, s->forest->edges[i]);
	}
}

/* Nested loops have higher numbers than the loops around them. */
static void add_loops(struct spot_search *s)
{
	const struct loop *loops = s->forest->loops;
	uint32_t count = s->forest->loop_count;
	for (uint32_t b = 0; b < s->g->block_count; b++)
		if (leaves_if_taken(&s->g->blocks[b]))
			add_taken_exits(s, b);
	for (uint32_t l = count; l-- > 0;)
		add_edges(s, l, loops[l].first_exit, loops[l].exit_count, POINT_ITERATION_END,
			  POINT_LOOP_EXIT);
	for (uint32_t l = 0; l < count; l++)
		add_edges(s, l, loops[l].first_back, loops[l].back_count, POINT_ITERATION_END,
			  POINT_ITERATION_BEGIN);
	for (uint32_t l = 0; l < count; l++)
		add_edges(s, l, loops[l].first_entry, loops[l].entry_count, POINT_LOOP_ENTRY,
			  POINT_ITERATION_BEGIN);
}

static void add_calls_and_exits(struct spot_search *s, uint32_t block)
{
	const struct block *b = &s->g->blocks[block];
	switch (b->end) {
	case END_CALL:
	case END_CALL_INDIRECT: add_before(s, POINT_CALL, last_insn(s, block)); break;
	case END_RETURN: add_before(s, POINT_EXIT, last_insn(s, block)); break;
	case END_TAIL_CALL:
		if (leaves_if_taken(b))
			add(s, (struct spot){.kind = POINT_EXIT,
					     .place = SPOT_TAKEN,
					     .loop = LOOP_NONE,
					     .edge = UINT32_MAX,
					     .va = last_insn(s, block)});
		else if (!(b->flags & (BLOCK_CONDITIONAL | BLOCK_OPEN_FRAME)))
			add_before(s, POINT_EXIT, last_insn(s, block));
		break;
	default: break;
	}
}

/* The order of the calls gives the order of spots that the header promises. */
void spots_find(const struct flow *f, const struct cfg *g, const struct loop_forest *forest,
		uint32_t kinds, uint32_t loop, struct spot_list *out)
{
	const uint32_t syscalls = 1u << POINT_SYSCALL | 1u << POINT_SYSCALL_DONE;
	const uint32_t passes = 1u << POINT_PASS | 1u << POINT_PASS_DONE;
	const uint32_t ends = 1u << POINT_CALL | 1u << POINT_EXIT;
	const uint32_t loops = 1u << POINT_LOOP_ENTRY | 1u << POINT_LOOP_EXIT |
			       1u << POINT_ITERATION_BEGIN | 1u << POINT_ITERATION_END;
	struct spot_search s = {.arch = flow_arch(f),
				.module = flow_module(f),
				.g = g,
				.forest = forest,
				.kinds = forest ? kinds : kinds & ~loops,
				.loop = loop,
				.out = out,
				.last_block = BLOCK_NONE};
	if (!g->block_count)
		return;
	add_entry(&s);
	for (uint32_t b = 0; s.kinds & syscalls && b < g->block_count; b++)
		add_syscalls_of(&s, b);
	for (uint32_t b = 0; s.kinds & passes && b < g->block_count; b++)
		add_passes_of(&s, b);
	if (s.kinds & loops)
		add_loops(&s);
	for (uint32_t b = 0; s.kinds & ends && b < g->block_count; b++)
		add_calls_and_exits(&s, b);
}
