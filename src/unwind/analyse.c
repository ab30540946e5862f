/* Abstract interpretation of a function: states are propagated along the edges of its flow graph
 * until nothing changes, then each instruction's state becomes a recipe (Tallent et al., PLDI 2009,
 * section 2.2, but over the graph instead of a linear scan, so that no guess is needed after
 * returns and tail calls). Code that no path reaches gets the recipe that most of the function has,
 * like the paper's canonical frame. */
#include "unwind/analyse.h"

#include <string.h>

#include "base/order.h"
#include "flow/entry.h"
#include "unwind/choose_recipe.h"
#include "unwind/stack_switch.h"

/* For a larger function only call frame information is used. */
enum { MAX_INSNS = 1 << 21 };

/* A recipe, how many bytes of code use it, and a state from which it was derived. */
struct recipe_use {
	struct recipe recipe;
	uint64_t bytes;
	const struct state *state;
};

struct work {
	const struct analysis_input *input;
	const struct module *module;
	const struct arch *arch;
	const struct cfg *g;
	struct arena *tmp;
	bool look_at_callees; /* for registers that they keep although they could change them */
	int32_t pushed;       /* bytes between the CFA and the stack pointer at entry */
	struct insn *insns;   /* the instructions of all blocks, in order */
	uint32_t *first;      /* per block: index of its first instruction */
	struct state *in;     /* per block: the state at its start */
	bool *reached, *queued;
	bool *certain;  /* per block: see struct recipe_run */
	bool *switches; /* per block: it switches to another frame than the caller's */
	/* per block: the stack pointer differs from one iteration of a loop to the next */
	bool *moves;
	/* another block of this kind was found: states propagated from it before are wrong */
	bool repeat;
	uint16_t bases; /* number of bases created so far */
	/* per instruction: the base that it creates by aligning the stack pointer, else 0 */
	uint16_t *base_of;
	bool disagree; /* forward paths to a block disagree about the stack pointer */
	VEC(struct recipe_use) usual;
	VEC(uint64_t) inner; /* places inside the function that the function itself calls */
};

static bool is_call(const struct insn *in)
{
	return in->kind == INSN_CALL || in->kind == INSN_CALL_INDIRECT;
}

static void decode_block(struct work *w, uint32_t block)
{
	const struct block *b = &w->g->blocks[block];
	uint32_t at = w->first[block];
	size_t n = 0;
	const uint8_t *p = module_at(w->module, b->start, b->size, &n);
	for (size_t done = 0; p && done < b->size; at++) {
		struct insn *in = &w->insns[at];
		if (at == w->first[block + 1] ||
		    !w->arch->decode(p + done, n - done, b->start + done, DECODE_FULL, in))
			break;
		if (in->op == OP_AND && regset_has(&in->writes, w->arch->sp))
			w->base_of[at] = ++w->bases;
		done += in->length;
	}
	for (; at < w->first[block + 1]; at++)
		w->insns[at] = (struct insn){.length = 0};
}

static void prepare(struct work *w)
{
	const struct cfg *g = w->g;
	w->first = ARENA_ARRAY(w->tmp, uint32_t, g->block_count + 1);
	for (uint32_t b = 0; b < g->block_count; b++)
		w->first[b + 1] = w->first[b] + g->blocks[b].insn_count;
	w->insns = ARENA_ARRAY(w->tmp, struct insn, w->first[g->block_count]);
	w->base_of = ARENA_ARRAY(w->tmp, uint16_t, w->first[g->block_count]);
	w->in = ARENA_ARRAY(w->tmp, struct state, g->block_count);
	w->reached = ARENA_ARRAY(w->tmp, bool, g->block_count);
	w->queued = ARENA_ARRAY(w->tmp, bool, g->block_count);
	w->moves = ARENA_ARRAY(w->tmp, bool, g->block_count);
	w->certain = ARENA_ARRAY(w->tmp, bool, g->block_count);
	w->switches = ARENA_ARRAY(w->tmp, bool, g->block_count);
	for (uint32_t b = 0; b < g->block_count; b++)
		decode_block(w, b);
}

static void execute_call(const struct work *w, struct state *s, const struct insn *in)
{
	bool look = w->look_at_callees && in->kind == INSN_CALL && w->input->kept;
	state_call(s, w->arch, in, look ? w->input->kept(w->input->ctx, in->target) : 0);
}

/* Executes one instruction. Returns true if another recipe may be needed after it. */
static bool step(struct work *w, struct state *s, uint32_t insn)
{
	const struct insn *in = &w->insns[insn];
	if (!is_call(in))
		return state_execute(s, w->arch, in, w->base_of[insn]);
	execute_call(w, s, in);
	return true;
}

/* Merges the state at the end of block `from` into the one at the start of `to`; returns true if
 * that changed. Two paths to a block may disagree about the stack pointer. On a back edge, the
 * stack pointer really moves with each iteration. Otherwise one of the paths is not real (it
 * follows a call that never returns), and the one found first is believed. */
static bool propagate(struct work *w, struct state *s, uint32_t from, uint32_t to)
{
	if (w->moves[to])
		s->reg[w->arch->sp] = (struct value){0};
	if (!w->reached[to]) {
		w->in[to] = *s;
		w->reached[to] = true;
		return true;
	}
	bool disagree = false;
	bool forward = w->g->blocks[to].start > w->g->blocks[from].start;
	bool changed = state_meet(&w->in[to], w->arch, s, forward, &disagree);
	w->disagree |= disagree && forward;
	w->repeat |= disagree && !forward;
	w->moves[to] |= disagree && !forward;
	return changed;
}

/* The state at the end of a block, after its last instruction. */
static struct state state_at_end(struct work *w, uint32_t block)
{
	struct state s = w->in[block];
	for (uint32_t i = w->first[block]; i < w->first[block + 1]; i++)
		if (w->insns[i].length)
			step(w, &s, i);
	return s;
}

static void leave_block(struct work *w, uint32_t block, uint32_t *lowest)
{
	const struct block *b = &w->g->blocks[block];
	const struct insn *last = b->insn_count ? &w->insns[w->first[block + 1] - 1] : NULL;
	struct state s = state_at_end(w, block);
	for (uint32_t i = 0; i < b->edge_count; i++) {
		const struct edge *e = &w->g->edges[b->first_edge + i];
		struct state along = s;
		if (b->end == END_BRANCH && last)
			state_branch(&along, last, e->kind == EDGE_TAKEN);
		if (propagate(w, &along, block, e->to) && !w->queued[e->to]) {
			w->queued[e->to] = true;
			*lowest = e->to < *lowest ? e->to : *lowest;
		}
	}
}

/* Propagates states from a block on until nothing changes. Blocks are visited in the order of
 * addresses. If a visit has changed the state of blocks at or before it, the lowest of them is
 * next. */
static void propagate_from(struct work *w, uint32_t at)
{
	uint32_t count = w->g->block_count;
	state_at_entry(&w->in[at], w->arch, w->pushed);
	w->reached[at] = w->queued[at] = true;
	while (at < count) {
		uint32_t lowest = count;
		if (!w->queued[at]) {
			at++;
			continue;
		}
		w->queued[at] = false;
		leave_block(w, at, &lowest);
		at = lowest <= at ? lowest : at + 1;
	}
}

static void propagate_all(struct work *w)
{
	memset(w->reached, 0, w->g->block_count * sizeof(*w->reached));
	w->disagree = w->repeat = false;
	propagate_from(w, w->g->entry);
	vec_each (va, &w->inner) {
		uint32_t block = cfg_block_at(w->g, *va);
		if (block != BLOCK_NONE && !w->reached[block] && w->g->blocks[block].start == *va)
			propagate_from(w, block);
	}
}

/* Repeats the propagation while it finds further blocks at which the stack pointer moves. */
static void interpret(struct work *w)
{
	enum { ROUNDS_MAX = 8 };
	w->repeat = true;
	for (unsigned i = 0; w->repeat && i < ROUNDS_MAX; i++)
		propagate_all(w);
}

/* Whether the exits of a function find the caller's frame restored. */
struct exits {
	uint32_t good, bad;
	int32_t off; /* how much the stack pointer is too high at the bad exits */
	/* all bad exits are off by the same positive distance */
	bool uniform;
	bool unknown_target; /* some bad exit is not a direct jump: its target is unknown */
};

/* The state before the last instruction of the block. */
static struct state before_last(struct work *w, uint32_t block)
{
	struct state s = w->in[block];
	for (uint32_t i = w->first[block]; i + 1 < w->first[block + 1]; i++)
		if (w->insns[i].length)
			step(w, &s, i);
	return s;
}

static void check_exit(struct work *w, uint32_t block, struct exits *x)
{
	uint32_t first = w->first[block], count = w->first[block + 1] - first;
	struct state s = before_last(w, block);
	int32_t off;
	if (state_is_restored(&s, w->arch, &w->insns[w->first[block + 1] - 1], &off)) {
		x->good++;
		w->certain[block] = true;
		return;
	}
	w->switches[block] = is_stack_switch(&w->insns[first], count, w->arch, &s);
	x->uniform = x->bad ? x->uniform && off == x->off : off > 0;
	x->off = off;
	x->bad++;
	x->unknown_target |= w->insns[first + count - 1].kind != INSN_JUMP;
}

/* Whether an unresolved jump leaves for another frame: the stack and frame pointers do not point to
 * the function's own frame. gcc 14 raises exceptions like this, from an exit next to the one that
 * returns. */
static bool leaves_for_other_frame(struct work *w, uint32_t block)
{
	struct state s = before_last(w, block);
	return s.reg[w->arch->sp].kind != VALUE_STACK && s.reg[w->arch->fp].kind != VALUE_STACK;
}

static bool leaves(struct work *w, uint32_t block)
{
	const struct block *b = &w->g->blocks[block];
	switch (b->end) {
	case END_RETURN: return true;
	case END_TAIL_CALL: return !(b->flags & BLOCK_OPEN_FRAME);
	case END_UNRESOLVED: return leaves_for_other_frame(w, block);
	default: return false;
	}
}

/* Marks the blocks from the entry on as certain, as long as only one path leads to them. */
static void mark_beginning(struct work *w)
{
	const struct cfg *g = w->g;
	for (uint32_t b = g->entry; !w->certain[b];) {
		const struct block *block = &g->blocks[b];
		bool entered_once = g->first_pred[b + 1] - g->first_pred[b] == (b != g->entry);
		if (!entered_once)
			return;
		w->certain[b] = true;
		if (block->edge_count == 0)
			return;
		b = g->edges[block->first_edge].to;
	}
}

static struct exits check_exits(struct work *w)
{
	struct exits x = {0};
	memset(w->certain, 0, w->g->block_count * sizeof(*w->certain));
	memset(w->switches, 0, w->g->block_count * sizeof(*w->switches));
	mark_beginning(w);
	for (uint32_t i = 0; i < w->g->block_count; i++)
		if (w->reached[i] && leaves(w, i))
			check_exit(w, i, &x);
	/* If a function has no other exits, its unresolved jumps are its exits. */
	for (uint32_t i = 0; !x.good && !x.bad && i < w->g->block_count; i++)
		if (w->reached[i] && w->g->blocks[i].end == END_UNRESOLVED)
			check_exit(w, i, &x);
	return x;
}

/* Finds or adds the entry of a recipe. The result is valid until the next call. */
static struct recipe_use *recipe_use_of(struct work *w, const struct recipe *r,
					const struct state *s)
{
	vec_each (u, &w->usual)
		if (!memcmp(&u->recipe, r, sizeof(*r)))
			return u;
	vec_push(&w->usual, (struct recipe_use){*r, 0, ARENA_DUP(w->tmp, s, 1)});
	return &vec_last(&w->usual);
}

static void add_run(struct analysis *out, uint64_t start, uint64_t end, const struct recipe *r,
		    bool certain)
{
	struct recipe_run *last = out->runs.len ? &vec_last(&out->runs) : NULL;
	if (last && last->end == start && last->certain == certain &&
	    !memcmp(&last->recipe, r, sizeof(*r)))
		last->end = end;
	else
		vec_push(&out->runs, (struct recipe_run){start, end, *r, certain});
}

/* In a frame that waits for a call, only preserved registers are known. So the recipe at a call
 * must use only these, if possible. */
static struct recipe recipe_at(const struct work *w, const struct state *s, const struct insn *in)
{
	if (is_call(in)) {
		struct state after = *s;
		execute_call(w, &after, in);
		struct recipe r = choose_recipe(&after, w->arch);
		bool moved = after.reg[w->arch->sp].offset != s->reg[w->arch->sp].offset;
		if (r.cfa != CFA_UNKNOWN && r.ret != RETURN_UNKNOWN && !moved)
			return r;
	}
	return choose_recipe(s, w->arch);
}

/* The recipes that lead to the frame to which the block switches; NULL if it does not switch. */
static const struct recipe *recipes_of_switch(struct work *w, uint32_t block)
{
	uint32_t first = w->first[block], count = w->first[block + 1] - first;
	if (!w->switches[block])
		return NULL;
	struct recipe *r = ARENA_ARRAY(w->tmp, struct recipe, count);
	stack_switch_recipes(&w->insns[first], count, w->arch, r);
	return r;
}

/* Prefers the recipe for the caller as long as it is complete. */
static const struct recipe *better_of(const struct recipe *own, const struct recipe *other)
{
	bool complete = own->cfa != CFA_UNKNOWN && own->ret != RETURN_UNKNOWN;
	return complete || !other || !other->switches ? own : other;
}

static void emit_block(struct work *w, uint32_t block, struct analysis *out)
{
	struct state s = w->in[block];
	const struct recipe *other = recipes_of_switch(w, block);
	struct recipe_use *u = NULL;
	bool changed = true;
	for (uint32_t i = w->first[block]; i < w->first[block + 1]; i++) {
		const struct insn *in = &w->insns[i];
		if (!in->length)
			break;
		if (changed || is_call(in)) {
			struct recipe r = recipe_at(w, &s, in);
			u = recipe_use_of(w, &r, &s);
		}
		u->bytes += in->length;
		add_run(out, in->pc, in->pc + in->length, better_of(&u->recipe, other),
			w->certain[block]);
		other += other != NULL;
		changed = step(w, &s, i);
	}
}

/* Linear code that no path reaches. The state is `usual` at its start and after each instruction
 * that does not fall through, and `entry` at places that the function itself calls. */
struct loose {
	const struct module *module;
	const struct arch *arch;
	const struct state *usual, *entry;
	const uint64_t *inner;
	uint32_t inner_count;
};

static bool is_inner_start(const struct loose *l, uint64_t va)
{
	for (uint32_t i = 0; i < l->inner_count; i++)
		if (l->inner[i] == va)
			return true;
	return false;
}

/* Callees are not analysed here: if the code keeps a value in a register across a call, it is
 * assumed that the callee preserves it. */
static uint32_t all_but_link(const struct arch *arch)
{
	return arch->link == REG_NONE ? UINT32_MAX : ~(UINT32_C(1) << arch->link);
}

static struct recipe recipe_at_call(const struct loose *l, const struct state *s,
				    const struct insn *in)
{
	struct state after = *s;
	state_call(&after, l->arch, in, all_but_link(l->arch));
	struct recipe r = choose_recipe(&after, l->arch);
	return r.ret != RETURN_UNKNOWN ? r : choose_recipe(s, l->arch);
}

/* Confirms the runs from `first_run` on. Straight code that began with the usual frame and returns
 * with all registers restored shows that it had the usual frame. */
static void confirm(struct analysis *out, uint32_t first_run)
{
	for (uint32_t i = first_run; i < out->runs.len; i++) {
		out->runs.data[i].recipe.source = RECIPE_ANALYSIS;
		out->runs.data[i].certain = true;
	}
}

/* Adds runs from va to the end of straight code, or of the range. Returns that end. */
static uint64_t assume_straight(const struct loose *l, uint64_t va, uint64_t end,
				struct analysis *out)
{
	struct state s = is_inner_start(l, va) ? *l->entry : *l->usual;
	uint32_t first_run = out->runs.len;
	int32_t off;
	do {
		struct insn in;
		size_t n = decode_at(l->module, l->arch, va, DECODE_FULL, &in);
		uint64_t next = va + (n ? n : l->arch->insn_align);
		struct recipe r =
			n && is_call(&in) ? recipe_at_call(l, &s, &in) : choose_recipe(&s, l->arch);
		r.source = RECIPE_ASSUMED;
		if (out->runs.len == first_run)
			vec_push(&out->runs, (struct recipe_run){va, va, r, false});
		add_run(out, va, next < end ? next : end, &r, false);
		va = next;
		if (n && is_call(&in)) {
			state_call(&s, l->arch, &in, all_but_link(l->arch));
		} else if (n && insn_ends_block(&in) && in.kind != INSN_BRANCH) {
			if (in.kind == INSN_RETURN && state_is_restored(&s, l->arch, &in, &off))
				confirm(out, first_run);
			break;
		} else if (n) {
			state_execute(&s, l->arch, &in, UINT16_MAX);
		}
	} while (va < end && !is_inner_start(l, va));
	return va;
}

static void assume(const struct loose *l, uint64_t start, uint64_t end, struct analysis *out)
{
	while (start < end)
		start = assume_straight(l, start, end, out);
}

static const struct state *usual_state(const struct work *w)
{
	const struct recipe_use *best = NULL;
	vec_each (u, &w->usual)
		if (!best || u->bytes > best->bytes)
			best = u;
	return best ? best->state : NULL;
}

static void sort_runs(struct analysis *out)
{
	order_by_address(out->runs.data, out->runs.len, sizeof(*out->runs.data),
			 offsetof(struct recipe_run, start));
}

/* Adds assumed runs where the runs, which are sorted, leave gaps in the span. */
static void fill(const struct loose *l, const struct part *span, struct analysis *out)
{
	uint32_t known = out->runs.len;
	uint64_t at = span->start;
	for (uint32_t i = 0; i < known && at < span->end; i++) {
		uint64_t start = out->runs.data[i].start, end = out->runs.data[i].end;
		if (end <= at)
			continue;
		uint64_t stop = start < span->end ? start : span->end;
		if (at < stop)
			assume(l, at, stop, out);
		at = end;
	}
	if (at < span->end)
		assume(l, at, span->end, out);
	sort_runs(out);
}

/* Removes overlaps: the first run keeps its place. Blocks overlap only in code that jumps into the
 * middle of its own instructions. */
static void remove_overlaps(struct analysis *out)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < out->runs.len; i++) {
		struct recipe_run r = out->runs.data[i];
		if (kept && r.start < out->runs.data[kept - 1].end)
			r.start = out->runs.data[kept - 1].end;
		if (r.start < r.end)
			out->runs.data[kept++] = r;
	}
	out->runs.len = kept;
}

/* The number of bytes on the stack below the caller's frame, at entry. The first entry of a PLT is
 * entered with a relocation number pushed on top of the return address. */
static int32_t pushed_at_entry(const struct arch *arch, const struct function *p)
{
	bool numbered = p->flags & FUNCTION_PLT && p->name && !strcmp(p->name, "plt0");
	return arch->link == REG_NONE ? numbered ? 16 : 8 : 0;
}

static void emit(struct work *w, struct analysis *out)
{
	struct state entry;
	vec_clear(&out->runs);
	vec_clear(&w->usual);
	for (uint32_t b = 0; b < w->g->block_count; b++)
		if (w->reached[b])
			emit_block(w, b, out);
	sort_runs(out);
	remove_overlaps(out);
	state_at_entry(&entry, w->arch, w->pushed);
	const struct state *usual = usual_state(w);
	if (!usual)
		return;
	struct state saved = *usual;
	state_forget_saved(&saved, w->arch);
	struct loose l = {w->module, w->arch, &saved, &entry, w->inner.data, w->inner.len};
	for (uint32_t i = 0; i < w->input->span_count; i++)
		fill(&l, &w->input->spans[i], out);
}

/* Interprets the function and emits its recipes; returns the state of the exits. */
static struct exits attempt(struct work *w, struct analysis *out)
{
	interpret(w);
	struct exits x = check_exits(w);
	/* If at all exits the stack pointer is too high by the same distance, the code that jumps
	 * here has pushed that much (a stub before the dynamic linker's resolver). */
	if (x.bad && !x.good && x.uniform) {
		w->pushed += x.off;
		interpret(w);
		x = check_exits(w);
	}
	emit(w, out);
	return x;
}

static bool has_gaps(const struct analysis *a)
{
	vec_each (r, &a->runs)
		if (r->recipe.source == RECIPE_ANALYSIS &&
		    (r->recipe.cfa == CFA_UNKNOWN || r->recipe.ret == RETURN_UNKNOWN))
			return true;
	return false;
}

/* Lists the places inside the function that it calls, except calls that only load the pc. */
static void list_inner(struct work *w)
{
	for (uint32_t b = 0; b < w->g->block_count; b++) {
		const struct block *block = &w->g->blocks[b];
		uint64_t to = block->target;
		if (block->end != END_CALL || to == block->start + block->size ||
		    to == w->g->blocks[w->g->entry].start)
			continue;
		for (uint32_t i = 0; i < w->input->span_count; i++)
			if (to >= w->input->spans[i].start && to < w->input->spans[i].end)
				vec_push(&w->inner, to);
	}
}

/* Functions that do not return to their caller, such as those that raise exceptions, may change
 * their own frame records first. Then the chain of records leads elsewhere. */
static void distrust_records(struct analysis *out)
{
	vec_each (r, &out->runs)
		r->recipe.record &= r->certain;
}

void analyse_function(struct analysis *out, const struct analysis_input *in, struct arena *tmp)
{
	struct work w = {
		.input = in, .module = in->module, .arch = in->arch, .g = in->g, .tmp = tmp};
	vec_clear(&out->runs);
	out->proven = false;
	if (!in->g->block_count || in->g->insn_count > MAX_INSNS)
		return;
	prepare(&w);
	list_inner(&w);
	w.pushed = pushed_at_entry(in->arch, in->function);
	struct exits x = attempt(&w, out);
	if (x.bad || has_gaps(out)) {
		w.look_at_callees = true;
		w.pushed = pushed_at_entry(in->arch, in->function);
		x = attempt(&w, out);
	}
	out->proven = (!x.bad && !w.disagree) || in->function->flags & FUNCTION_PLT;
	if (x.unknown_target || w.disagree)
		distrust_records(out);
	vec_free(&w.usual);
	vec_free(&w.inner);
}

void analyse_loose_code(struct analysis *out, const struct module *m, const struct arch *arch,
			uint64_t start, uint64_t end)
{
	struct state entry;
	state_at_entry(&entry, arch, arch->link == REG_NONE ? 8 : 0);
	struct loose l = {.module = m, .arch = arch, .usual = &entry, .entry = &entry};
	vec_clear(&out->runs);
	out->proven = false;
	assume(&l, start, end, out);
}
