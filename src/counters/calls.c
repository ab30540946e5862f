/* Probes where control enters and leaves a function: its entry and exits, its calls, its landing
 * pads. */
#include "counters/coder.h"

/* Sizes of struct rt_context_slot and struct rt_callee, as shifts. */
enum { SLOT_SHIFT = 4, CALLEE_SHIFT = 5 };

/* Calls the runtime, which leaves the context in `at`, and the frame at the top of the area. */
static void call_runtime(struct coder *c, unsigned at)
{
	op(c, EMIT_CALL, at, 0, 0, 0);
	code_keep_context(c, at);
	if (c->t->frame == REG_NONE)
		return;
	unsigned held = EMIT_HELD + c->t->frame;
	load(c, held, at, offsetof(struct rt_context, area));
	load(c, held, held, offsetof(struct rt_area, top));
}

static uint64_t site_argument(const struct coder *c, uint64_t more)
{
	return c->n->function | more << 32;
}

/* ---- what calls pass ----
 *
 * To find its caller's frame through the thread, a function needs four loads, each of which has to
 * wait for the one before, and the last for a recent store. So callers pass the frame in a
 * register, and returns pass it back. A second register holds the sum of the frame's key (see
 * abi_count.h) and its address, so that any other values in the two registers are detected:
 * uncounted code does not know about them. If the check fails, the frame is found through the
 * thread.
 *
 * A return passes the key minus the address instead of the sum. So the check always fails after
 * uncounted code, even if it did not touch the registers. This matters because that code may have
 * forked, and a child that was not prepared must not use the frames of its parent.
 *
 * Where nothing is passed any more or yet, probes work in these two registers, because there may be
 * no others to spare. */

static unsigned passed_sum(const struct coder *c)
{
	return EMIT_HELD + c->t->live->arch->pass[0];
}

static unsigned passed_frame(const struct coder *c)
{
	return EMIT_HELD + c->t->live->arch->pass[1];
}

/* Whether the values of the two registers are not needed before the instruction. */
static bool can_pass(const struct coder *c, const struct spot *s)
{
	const uint8_t *pass = c->t->live->arch->pass;
	if (!c->t->passes || s->place == SPOT_EDGE)
		return false;
	struct regset live = liveness_before(c->t->live, cfg_block_at(c->t->cfg, s->va), s->va);
	return !regset_has(&live, pass[0]) && !regset_has(&live, pass[1]);
}

static void pass(struct coder *c, unsigned frame, unsigned key, bool back)
{
	op(c, back ? EMIT_SUB_SHIFTED : EMIT_ADD_SHIFTED, passed_sum(c), key, frame, 0);
	if (frame != passed_frame(c))
		op(c, EMIT_MOVE, passed_frame(c), frame, 0, 0);
}

/* Whether the spot is at a return. At a tail call, the callee gets what was passed to us. */
static bool returns(const struct coder *c, const struct spot *s)
{
	return c->t->cfg->blocks[cfg_block_at(c->t->cfg, s->va)].end == END_RETURN;
}

/* Passes the frame of our caller, on leaving the function. */
static void pass_on(struct coder *c, const struct spot *s, unsigned frame)
{
	load(c, passed_sum(c), frame, offsetof(struct rt_shadow, key));
	pass(c, frame, passed_sum(c), returns(c, s));
}

void code_pass_back(struct coder *c, struct spot spot)
{
	if (!can_pass(c, &spot))
		return;
	begin(c);
	pass_on(c, &spot, code_frame(c, passed_frame(c), passed_sum(c)));
	code_put_alone(c, spot);
}

/* ---- entries and exits ---- */

/* The operands with which probes find frames. */
struct frame_finding {
	unsigned frame; /* the one that is searched for */
	unsigned key;   /* its key */
	unsigned own;   /* where the activation's own frame goes */
};

static struct frame_finding frame_operands(const struct coder *c, bool passes)
{
	struct frame_finding f = {.frame = V1, .key = V0};
	if (passes)
		f = (struct frame_finding){.frame = passed_frame(c), .key = passed_sum(c)};
	f.own = f.frame;
	if (c->t->frame != REG_NONE)
		f.own = EMIT_HELD + c->t->frame;
	if (!passes)
		f.frame = f.own;
	return f;
}

/* Pushes a frame for this activation at `at`, below that of its caller. The frame is written twice,
 * because a signal handler that runs before it becomes the top frame uses the same memory. */
static void push(struct coder *c, unsigned context, unsigned caller, unsigned at)
{
	op(c, EMIT_ADD, at, caller, 0, -(int64_t)counters_frame_size(c->t));
	op(c, EMIT_STACK, V2, 0, 0, 0);
	for (int i = 0; i < 2; i++) {
		store(c, at, offsetof(struct rt_shadow, context), context);
		store(c, at, offsetof(struct rt_shadow, key), V2);
		store(c, at, offsetof(struct rt_shadow, entry_sp), V2);
		if (i)
			break;
		load(c, V3, context, offsetof(struct rt_context, area));
		store(c, V3, offsetof(struct rt_area, top), at);
	}
}

/* Leaves in V3 the end of the slot of the call that entered us (the slot is at V3 - 16). `site`
 * holds the key without its stack pointer. */
static void find_slot(struct coder *c, unsigned frame, unsigned site)
{
	load(c, V3, frame, offsetof(struct rt_shadow, context));
	op(c, EMIT_SHIFT_RIGHT, site, site, 0, RT_KEY_SITE - SLOT_SHIFT);
	op(c, EMIT_SUB_SHIFTED, V3, V3, site, 0);
}

/* A call that passes nothing, because the program needs the register of the frame, may leave a key
 * in the other one. That passes for the sum if the program's value is 0, and no other. */
static void check_any_passed(struct coder *c, const struct frame_finding *f)
{
	op(c, EMIT_IF_ZERO, 0, f->frame, 0, 0);
}

/* Checks the passed frame, and finds the slot. The key must contain the stack pointer at the call,
 * and a site: the difference of two addresses, which other code may have left in the registers, has
 * none. Only then may the frame be read.
 *
 * Context and key were stored by separate instructions and are loaded the same way: a load of the
 * pair would have to wait until both stores have reached the cache. */
static void check_passed(struct coder *c, const struct frame_finding *f)
{
	int64_t pushed = c->t->live->arch->link == REG_NONE ? 8 : 0;
	op(c, EMIT_SUB_SHIFTED, f->key, passed_sum(c), f->frame, 0);
	op(c, EMIT_STACK, V2, 0, 0, pushed);
	op(c, EMIT_XOR, V2, V2, f->key, 0);
	op(c, EMIT_IF_ZERO, 0, V2, 0, 0);
	op(c, EMIT_LOW_BITS, V3, V2, 0, RT_KEY_SITE);
	op(c, EMIT_UNLESS_ZERO, 0, V3, 0, 0);
	check_any_passed(c, f);
	load(c, V3, f->frame, offsetof(struct rt_shadow, key));
	op(c, EMIT_XOR, V3, V3, f->key, 0);
	op(c, EMIT_UNLESS_ZERO, 0, V3, 0, 0);
	find_slot(c, f->frame, V2);
}

/* Does the same as check_passed(), but finds the caller's frame through the thread. That frame is
 * stale if its stack pointer is below ours: then branches to the aside `stale`. */
static void find_caller(struct coder *c, const struct frame_finding *f, unsigned stale)
{
	op(c, EMIT_AREA, f->frame, 0, 0, 0);
	load(c, f->frame, f->frame, offsetof(struct rt_area, top));
	load(c, f->key, f->frame, offsetof(struct rt_shadow, key));
	op(c, EMIT_LOW_BITS, V2, f->key, 0, RT_KEY_SITE);
	op(c, EMIT_XOR, f->key, f->key, V2, 0);
	op(c, EMIT_STACK, V3, 0, 0, 0);
	op(c, EMIT_SUB_SHIFTED, V2, V2, V3, 0);
	op(c, EMIT_IF_NEGATIVE, 0, V2, 0, stale);
	find_slot(c, f->frame, f->key);
}

/* Branches to the aside unless the context is one of this function. */
static void check_function(struct coder *c, unsigned context, unsigned tmp, unsigned other)
{
	load(c, tmp, context, offsetof(struct rt_context, function));
	op(c, EMIT_ADD, tmp, tmp, 0, -(int64_t)c->n->function);
	op(c, EMIT_UNLESS_ZERO, 0, tmp, 0, other);
}

static void find_area(struct coder *c, unsigned frame, unsigned d)
{
	load(c, d, frame, offsetof(struct rt_shadow, context));
	load(c, d, d, offsetof(struct rt_context, area));
}

/* If a site calls several functions, its slot leads to one of them, and the thread's table of
 * callees to others. Leaves the context in `child`, which holds the area; V3 is as find_slot() left
 * it. `distance`: of the place from the function's start, if control jumped into its middle. */
static void find_callee(struct coder *c, unsigned child, uint32_t distance, unsigned missing)
{
	load(c, child, child, offsetof(struct rt_area, callees));
	op(c, EMIT_SHIFT_RIGHT, V2, V3, 0, SLOT_SHIFT);
	op(c, EMIT_ADD, V2, V2, 0, RT_CALLEE_STEP * (int64_t)c->n->function + distance);
	op(c, EMIT_LOW_BITS, V2, V2, 0, RT_CALLEE_BITS);
	op(c, EMIT_ADD_SHIFTED, V2, child, V2, CALLEE_SHIFT);
	load(c, child, V2, offsetof(struct rt_callee, slot));
	if (distance)
		op(c, EMIT_ADD, V3, V3, 0, RT_CALLEE_JUMPED);
	op(c, EMIT_XOR, child, child, V3, 0);
	op(c, EMIT_UNLESS_ZERO, 0, child, 0, missing);
	load(c, child, V2, offsetof(struct rt_callee, child));
	load(c, V2, V2, offsetof(struct rt_callee, calls));
	check_function(c, child, V3, missing);
	op(c, EMIT_COUNT, V3, V2, 0, 0);
}

/* The caller's frame holds its context and the site of the call. The slot of that site leads to our
 * context, unless another function was called there last. */
void code_enter(struct coder *c, struct spot spot)
{
	bool passes = c->t->passes;
	struct frame_finding f = frame_operands(c, passes);
	unsigned child = c->t->context != REG_NONE ? held_context(c) : f.key;
	unsigned other = passes, unknown = other + 1; /* numbers of asides */
	const int64_t slot = -(int64_t)sizeof(struct rt_context_slot);
	begin(c);
	if (passes)
		check_passed(c, &f);
	else
		find_caller(c, &f, unknown);
	uint16_t found = next_op(c);
	op(c, EMIT_LOAD, child, V3, 0, slot + (int64_t)offsetof(struct rt_context_slot, child));
	check_function(c, child, V2, other);
	op(c, EMIT_COUNT, V2, V3, 0, slot + (int64_t)offsetof(struct rt_context_slot, calls));
	uint16_t counted = next_op(c);
	code_keep_context(c, child);
	if (c->t->framed)
		push(c, child, f.frame, f.own);
	if (passes) {
		aside(c, found);
		find_caller(c, &f, unknown);
	}
	aside(c, counted);
	find_area(c, f.frame, child);
	find_callee(c, child, 0, unknown);
	last_aside(c, c->n->called, site_argument(c, 0));
	call_runtime(c, child);
	code_put_alone(c, spot);
}

/* Pops the frame. */
void code_leave(struct coder *c, struct spot spot)
{
	bool passes = can_pass(c, &spot);
	unsigned outer = passes ? passed_frame(c) : V1, area = passes ? passed_sum(c) : V0;
	begin(c);
	unsigned at = code_frame(c, outer, V2);
	code_area(c, area);
	op(c, EMIT_ADD, outer, at, 0, counters_frame_size(c->t));
	store(c, area, offsetof(struct rt_area, top), outer);
	if (passes)
		pass_on(c, &spot, outer);
	code_put_alone(c, spot);
}

/* A function that does not move the stack pointer makes calls with the same stack pointer with
 * which it was called. Its keys contain a slightly lower one, so that they differ from those of its
 * caller if control leaves without popping its frame. */
int64_t counters_key(const struct counters *t, uint32_t site)
{
	int64_t key = (int64_t)((uint64_t)site << RT_KEY_SITE);
	return key - (t->sites[site - 1].syscall ? 2 : t->still ? 1 : 0);
}

void code_call(struct coder *c, struct spot spot, uint32_t site)
{
	bool passes = can_pass(c, &spot);
	unsigned key = passes ? passed_sum(c) : V1;
	begin(c);
	unsigned at = code_frame(c, passes ? passed_frame(c) : V0, V1);
	op(c, EMIT_STACK, key, 0, 0, counters_key(c->t, site));
	store(c, at, offsetof(struct rt_shadow, key), key);
	if (passes)
		pass(c, at, key, false);
	code_put_alone(c, spot);
}

/* Branches to the aside `other` if the key is not that of the call. */
static void check_key(struct coder *c, unsigned key, uint32_t site, unsigned other)
{
	op(c, EMIT_STACK, V2, 0, 0, counters_key(c->t, site));
	op(c, EMIT_XOR, V2, V2, key, 0);
	op(c, EMIT_UNLESS_ZERO, 0, V2, 0, other);
}

/* Finds the top frame, which must have the key of the call; if not, branches to the aside
 * `other`. */
static void find_own(struct coder *c, const struct frame_finding *f, uint32_t site, unsigned other)
{
	op(c, EMIT_AREA, f->frame, 0, 0, 0);
	load(c, f->frame, f->frame, offsetof(struct rt_area, top));
	load(c, f->key, f->frame, offsetof(struct rt_shadow, key));
	check_key(c, f->key, site, other);
}

/* Makes the frame, and its context, the current ones. */
static void adopt_frame(struct coder *c, const struct frame_finding *f, unsigned context)
{
	if (f->own != f->frame)
		op(c, EMIT_MOVE, f->own, f->frame, 0, 0);
	load(c, context, f->frame, offsetof(struct rt_shadow, context));
	code_keep_context(c, context);
}

void code_come_back(struct coder *c, struct spot spot, uint32_t site)
{
	bool passes = c->t->passes && !c->t->sites[site - 1].syscall;
	struct frame_finding f = frame_operands(c, passes);
	unsigned context = c->t->context != REG_NONE ? held_context(c) : f.key;
	begin(c);
	if (passes) {
		op(c, EMIT_ADD_SHIFTED, f.key, f.key, f.frame, 0);
		check_key(c, f.key, site, 0);
		check_any_passed(c, &f);
	} else {
		find_own(c, &f, site, 0);
	}
	uint16_t found = next_op(c);
	adopt_frame(c, &f, context);
	if (passes) {
		aside(c, found);
		find_own(c, &f, site, 1);
	}
	last_aside(c, c->n->returned, site_argument(c, site));
	call_runtime(c, context);
	code_put_alone(c, spot);
}

/* Calls the runtime, which leaves the context in `d`: always, or only if an earlier test has
 * branched to the aside. */
static void call_runtime_aside(struct coder *c, unsigned d, uint64_t routine, uint64_t argument,
			       bool always)
{
	if (always) {
		op(c, EMIT_SET, V0, 0, 0, 1);
		op(c, EMIT_UNLESS_ZERO, 0, V0, 0, 0);
	}
	last_aside(c, routine, argument);
	call_runtime(c, d);
}

/* The loop that an exception which arrives at a block stays in, as the runtime numbers loops. */
static uint64_t loop_argument(const struct coder *c, uint32_t block)
{
	uint32_t l = c->t->forest->innermost[block];
	while (l != LOOP_NONE && c->t->loops[l].method != TRIP_FRAME)
		l = c->t->forest->loops[l].parent;
	return l == LOOP_NONE ? 0 : (uint64_t)c->n->first_loop + l + 1;
}

/* The call that returns to a block; 0: none does. */
static uint32_t site_before(const struct coder *c, uint32_t block)
{
	const struct cfg *g = c->t->cfg;
	for (uint32_t i = 0; i < c->t->site_count; i++) {
		const struct block *b = &g->blocks[c->t->sites[i].block];
		for (uint32_t k = b->first_edge; k < b->first_edge + b->edge_count; k++)
			if (!c->t->sites[i].syscall && g->edges[k].kind == EDGE_CALL_RETURN &&
			    g->edges[k].to == block)
				return i + 1;
	}
	return 0;
}

/* Exceptions from several calls arrive at one place: the same probe is on all their edges. If a
 * call returns to the same place, the frame's key shows that it did. */
void code_land(struct coder *c, uint32_t block, uint32_t word)
{
	const struct cfg *g = c->t->cfg;
	struct frame_finding f = frame_operands(c, false);
	unsigned context = c->t->context != REG_NONE ? held_context(c) : V3;
	uint32_t owner = c->owners++, site = site_before(c, block);
	begin(c);
	if (site) {
		find_own(c, &f, site, 0);
		adopt_frame(c, &f, context);
	}
	call_runtime_aside(c, context, c->n->landed, site_argument(c, loop_argument(c, block)),
			   !site);
	if (word != NO_WORD)
		op(c, EMIT_COUNT, V0, context, 0, (int64_t)word_offset(word));
	for (uint32_t i = g->first_pred[block]; i < g->first_pred[block + 1]; i++)
		if (g->edges[g->pred_edges[i]].kind == EDGE_UNWIND ||
		    g->edges[g->pred_edges[i]].kind == EDGE_CALL_RETURN)
			code_put(c, code_on_edge(c, g->pred_edges[i]), owner);
}

/* Another function may have jumped here instead of returning: mempcpy of the C library into the
 * middle of memmove. If it passed its caller's frame, and that is the top one, this activation
 * begins here. The table of callees leads to its context; otherwise branches to aside 0. Registers
 * that hold nothing for us may belong to the program. */
static void find_jumped(struct coder *c, unsigned child, uint32_t distance)
{
	struct frame_finding f = {.frame = passed_frame(c), .key = V0, .own = V1};
	if (c->t->frame != REG_NONE)
		f.own = EMIT_HELD + c->t->frame;
	check_passed(c, &f);
	find_area(c, f.frame, child);
	load(c, V2, child, offsetof(struct rt_area, top));
	op(c, EMIT_XOR, V2, V2, f.frame, 0);
	op(c, EMIT_UNLESS_ZERO, 0, V2, 0, 0);
	find_callee(c, child, distance, 0);
	code_keep_context(c, child);
	if (c->t->framed)
		push(c, child, f.frame, f.own);
}

/* RT_PLACE takes the place of a site: control has not returned from any site here. */
struct emit_probe counters_recover(const struct counters *t, const struct counters_numbers *n,
				   uint32_t distance, struct arena *a)
{
	struct coder c = {.t = t, .n = n, .a = a};
	unsigned context = t->context != REG_NONE ? held_context(&c) : V0;
	bool may_be_known = t->passes && distance && distance < 1 << RT_CALLEE_BITS;
	begin(&c);
	if (may_be_known)
		find_jumped(&c, context, distance);
	call_runtime_aside(&c, context, n->returned, site_argument(&c, RT_PLACE | distance),
			   !may_be_known);
	struct emit_probe probe = code_finished(&c);
	vec_free(&c.ops);
	probe.held = counters_held(t);
	return probe;
}
