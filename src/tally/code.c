/* The order in which probes are listed is that in which those at one place execute: first what
 * makes the context known (behind a call, at a landing pad, at the entry), then loops and counters,
 * at last what gives it up (before a call, at an exit). */
#include "tally/code.h"

#include <stddef.h>

#include "base/vec.h"
#include "runtime/abi.h"

enum { OPS_MAX = 64 };
/* Sizes of struct rt_context_slot and struct rt_callee. */
enum { SLOT_SHIFT = 4, CALLEE_SHIFT = 5 };

/* Values of a probe; the context itself is in the last one if no register holds it. */
enum { V0, V1, V2, V3 };

struct coder {
	const struct tally *t;
	const struct flow *flow;
	const struct tally_numbers *n;
	struct tally_probes *out;
	struct arena *a;
	uint32_t owners;
	/* The probe being written. */
	struct emit_op ops[OPS_MAX];
	uint16_t count, froms[EMIT_ASIDES], backs[EMIT_ASIDES];
	uint8_t asides;
	uint64_t routine, argument;
	bool checks; /* who owns the frame: it tests without an aside of its own */
};

static void op(struct coder *c, enum emit_op_kind kind, unsigned d, unsigned a, unsigned b,
	       int64_t imm)
{
	c->ops[c->count++] =
		(struct emit_op){(uint8_t)kind, (uint8_t)d, (uint8_t)a, (uint8_t)b, imm};
}

static void load(struct coder *c, unsigned d, unsigned base, size_t offset)
{
	op(c, EMIT_LOAD, d, base, 0, (int64_t)offset);
}

static void store(struct coder *c, unsigned base, size_t offset, unsigned value)
{
	op(c, EMIT_STORE, 0, base, value, (int64_t)offset);
}

static void begin(struct coder *c)
{
	c->count = c->asides = 0;
	c->routine = c->argument = 0;
	c->checks = false;
}

/* What follows is executed only where a test has said so, and then goes on at `back`. */
static void aside(struct coder *c, uint16_t back)
{
	c->froms[c->asides] = c->count;
	c->backs[c->asides++] = back;
}

/* The last one, which goes on behind everything. */
static void last_aside(struct coder *c, uint64_t routine, uint64_t argument)
{
	aside(c, c->asides ? c->froms[0] : c->count);
	c->routine = routine;
	c->argument = argument;
}

/* Registers of loops that are running on the way or at the place of the spot. */
static struct regset held_at(const struct coder *c, const struct spot *s)
{
	const struct cfg *g = c->t->cfg;
	uint32_t block = s->place == SPOT_EDGE ? g->edges[s->edge].from : cfg_block_at(g, s->va);
	uint32_t to = s->place == SPOT_EDGE ? g->edges[s->edge].to : block;
	uint32_t loops[] = {c->t->forest->innermost[block], c->t->forest->innermost[to]};
	struct regset r = tally_held(c->t);
	for (size_t i = 0; i < ARRAY_SIZE(loops); i++)
		for (uint32_t l = loops[i]; l != LOOP_NONE; l = c->t->forest->loops[l].parent)
			r = regset_or(r, c->t->loops[l].registers);
	return r;
}

static struct emit_probe finished(struct coder *c)
{
	/* Tests need somewhere to go, if only to skip the rest. */
	if (!c->asides && c->checks) {
		last_aside(c, 0, 0);
		op(c, EMIT_SET, V0, 0, 0, 0);
	}
	struct emit_probe p = {
		.ops = ARENA_DUP(c->a, c->ops, c->count),
		.op_count = c->count,
		.aside_count = c->asides,
		.table = c->n->table,
		.table_bits = RT_TABLE_BITS,
		.find = c->n->find,
		.routine = c->routine,
		.argument = c->argument,
	};
	for (unsigned i = 0; i < c->asides; i++) {
		p.asides[i].from = c->froms[i];
		p.asides[i].back = c->backs[i];
	}
	return p;
}

/* Probes of one owner where ways meet are one (patch/fragment.h). */
static void put(struct coder *c, struct spot spot, uint32_t owner)
{
	struct spot_probe probe = {.spot = spot, .code = finished(c), .owner = owner};
	probe.code.held = held_at(c, &spot);
	vec_push(c->out, probe);
}

static void put_alone(struct coder *c, struct spot spot)
{
	put(c, spot, c->owners++);
}

static struct spot spot_on_edge(const struct coder *c, uint32_t edge)
{
	const struct block *from = &c->t->cfg->blocks[c->t->cfg->edges[edge].from];
	return (struct spot){.kind = POINT_ITERATION_BEGIN,
			     .place = SPOT_EDGE,
			     .loop = LOOP_NONE,
			     .edge = edge,
			     .va = from->start};
}

static struct spot spot_before(uint64_t va)
{
	return (struct spot){.kind = POINT_ITERATION_BEGIN,
			     .place = SPOT_BEFORE,
			     .loop = LOOP_NONE,
			     .edge = UINT32_MAX,
			     .va = va};
}

/* ---- contexts ---- */

static unsigned held_context(const struct coder *c)
{
	return EMIT_HELD + c->t->context;
}

/* Counters in registers: general ones or vectors. */
static void begin_counter(struct coder *c, unsigned counter)
{
	op(c, counter < EMIT_VECTOR ? EMIT_SET : EMIT_VECTOR_BEGIN, counter, 0, 0, 0);
}

static void count_in(struct coder *c, unsigned counter)
{
	if (counter < EMIT_VECTOR)
		op(c, EMIT_ADD, counter, counter, 0, 1);
	else
		op(c, EMIT_VECTOR_COUNT, counter, 0, 0, 0);
}

/* Returns where the count is; that may be `where`. */
static unsigned read_counter(struct coder *c, unsigned counter, unsigned where)
{
	if (counter < EMIT_VECTOR)
		return counter;
	op(c, EMIT_VECTOR_READ, where, counter, 0, 0);
	return where;
}

/* Without a register that holds the context, the frame on top tells it. It is of another procedure
 * if this activation got none (no memory, a thread that does not count): then the probe does
 * nothing. */
static void check_owner(struct coder *c, unsigned context, unsigned tmp)
{
	load(c, tmp, context, offsetof(struct rt_context, procedure));
	op(c, EMIT_ADD, tmp, tmp, 0, -(int64_t)c->n->procedure);
	op(c, EMIT_UNLESS_ZERO, 0, tmp, 0, 0);
	c->checks = true;
}

/* The context: held, or brought to `where`. */
static unsigned context(struct coder *c, unsigned where, unsigned tmp)
{
	if (c->t->context != REG_NONE)
		return held_context(c);
	if (c->t->context_vector != REG_NONE) {
		op(c, EMIT_FROM_VECTOR, where, EMIT_VECTOR + c->t->context_vector, 0, 0);
		return where;
	}
	op(c, EMIT_AREA, where, 0, 0, 0);
	load(c, where, where, offsetof(struct rt_area, top));
	load(c, where, where, offsetof(struct rt_shadow, context));
	check_owner(c, where, tmp);
	return where;
}

/* The context has become known, and is at `at`; a general register that holds it is that itself. */
static void keep_context(struct coder *c, unsigned at)
{
	if (c->t->context_vector != REG_NONE)
		op(c, EMIT_TO_VECTOR, EMIT_VECTOR + c->t->context_vector, at, 0, 0);
}

static void load_area(struct coder *c, unsigned d)
{
	if (tally_holds_context(c->t))
		load(c, d, context(c, d, d), offsetof(struct rt_context, area));
	else
		op(c, EMIT_AREA, d, 0, 0, 0);
}

/* The frame of this activation: held, or looked up in `where`. */
static unsigned frame(struct coder *c, unsigned where, unsigned tmp)
{
	if (c->t->frame != REG_NONE)
		return EMIT_HELD + c->t->frame;
	load_area(c, where);
	load(c, where, where, offsetof(struct rt_area, top));
	if (!tally_holds_context(c->t)) {
		load(c, tmp, where, offsetof(struct rt_shadow, context));
		check_owner(c, tmp, tmp);
	}
	return where;
}

/* The runtime has left the context in `at`; the frame is on top. */
static void call_runtime(struct coder *c, unsigned at)
{
	op(c, EMIT_CALL, at, 0, 0, 0);
	keep_context(c, at);
	if (c->t->frame == REG_NONE)
		return;
	unsigned held = EMIT_HELD + c->t->frame;
	load(c, held, at, offsetof(struct rt_context, area));
	load(c, held, held, offsetof(struct rt_area, top));
}

static size_t word_offset(uint32_t word)
{
	return offsetof(struct rt_context, words) + 8 * (size_t)word;
}

static size_t slot_offset(uint32_t slot)
{
	return sizeof(struct rt_shadow) + 8 * (size_t)slot;
}

static uint64_t site_argument(const struct coder *c, uint64_t more)
{
	return c->n->procedure | more << 32;
}

/* ---- what calls pass ----
 *
 * A procedure finds its caller's frame by way of its thread: four loads, each of which has to wait
 * for the one before, and the last for a store of a moment ago. So callers pass it, in a register,
 * and returns pass it back. In another register there is the sum of the frame's key (see
 * abi_count.h) and its address, so that anything else which happens to be in the two is noticed:
 * code that is not counted knows nothing of them. Where they fail the thread is asked.
 *
 * On the way back it is the key less the address. So what comes back from code that is not counted
 * fails, though nothing may have touched the registers: it may have forked, and a child that nobody
 * prepared must not go on with the frames of its parent. */

static unsigned passed_sum(const struct coder *c)
{
	return EMIT_HELD + c->t->live->arch->pass[0];
}

static unsigned passed_frame(const struct coder *c)
{
	return EMIT_HELD + c->t->live->arch->pass[1];
}

/* Whether nobody needs what is in the two before the instruction. */
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
	op(c, EMIT_MOVE, passed_frame(c), frame, 0, 0);
}

/* Another procedure may be called in place of a return, and gets what ours got. */
static bool returns(const struct coder *c, const struct spot *s)
{
	return c->t->cfg->blocks[cfg_block_at(c->t->cfg, s->va)].end == END_RETURN;
}

/* A procedure without a frame leaves what was passed alone, until it returns. */
static void pass_back(struct coder *c, struct spot spot)
{
	const uint8_t *pass = c->t->live->arch->pass;
	const struct regset *touched = &c->t->live->touched;
	if (!can_pass(c, &spot) || !returns(c, &spot) || regset_has(touched, pass[0]) ||
	    regset_has(touched, pass[1]) || c->t->context == pass[0])
		return;
	begin(c);
	op(c, EMIT_SUB_SHIFTED, passed_sum(c), passed_sum(c), passed_frame(c), 1);
	put_alone(c, spot);
}

/* ---- entries and exits ---- */

/* A frame for this activation at `at`, below that of its caller. Written twice: a signal handler
 * before it is on top uses the same memory. */
static void push(struct coder *c, unsigned context, unsigned caller, unsigned at)
{
	op(c, EMIT_ADD, at, caller, 0, -(int64_t)tally_frame_size(c->t));
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

/* Leaves in V3 where the slots end that begin with the one of the call that we come from. The stack
 * pointer is what it was at the call.
 *
 * Context and key were written one after the other, and are read so: as a pair they would have to
 * reach memory first. */
static void take_passed(struct coder *c)
{
	unsigned frame = passed_frame(c);
	int64_t pushed = c->t->live->arch->link == REG_NONE ? 8 : 0;
	op(c, EMIT_SUB_SHIFTED, V0, passed_sum(c), frame, 0);
	op(c, EMIT_STACK, V1, 0, 0, pushed);
	op(c, EMIT_XOR, V1, V1, V0, 0);
	op(c, EMIT_LOW_BITS, V2, V1, 0, RT_KEY_SITE);
	op(c, EMIT_UNLESS_ZERO, 0, V2, 0, 0);
	load(c, V2, frame, offsetof(struct rt_shadow, key));
	op(c, EMIT_XOR, V2, V2, V0, 0);
	op(c, EMIT_UNLESS_ZERO, 0, V2, 0, 0);
	load(c, V3, frame, offsetof(struct rt_shadow, context));
	op(c, EMIT_SHIFT_RIGHT, V0, V1, 0, RT_KEY_SITE);
	op(c, EMIT_SUB_SHIFTED, V3, V3, V0, SLOT_SHIFT);
}

/* The same by way of the thread, with the caller's frame in `frame`; it is stale if its stack
 * pointer is below ours: on to the aside. */
static void find_caller(struct coder *c, unsigned frame, unsigned stale)
{
	bool passes = c->t->passes && !c->t->framed && held_context(c) != passed_sum(c);
	op(c, EMIT_AREA, V0, 0, 0, 0);
	load(c, frame, V0, offsetof(struct rt_area, top));
	load(c, V2, frame, offsetof(struct rt_shadow, key));
	if (passes) /* we leave them alone, and our caller will find them */
		op(c, EMIT_ADD_SHIFTED, passed_sum(c), V2, frame, 0);
	op(c, EMIT_SHIFT_RIGHT, V0, V2, 0, RT_KEY_SITE);
	load(c, V3, frame, offsetof(struct rt_shadow, context));
	op(c, EMIT_SUB_SHIFTED, V3, V3, V0, SLOT_SHIFT);
	op(c, EMIT_LOW_BITS, V2, V2, 0, RT_KEY_SITE);
	op(c, EMIT_STACK, V0, 0, 0, 0);
	op(c, EMIT_SUB_SHIFTED, V2, V2, V0, 0);
	op(c, EMIT_IF_NEGATIVE, 0, V2, 0, stale);
}

/* Of sites that call several procedures in turn, the slot knows one, and the thread's table of
 * callees others. Leaves the context in `child`; V3 is what take_passed() left. */
static void find_callee(struct coder *c, unsigned caller, unsigned child, unsigned missing)
{
	load(c, V0, caller, offsetof(struct rt_shadow, context));
	load(c, V0, V0, offsetof(struct rt_context, area));
	load(c, V0, V0, offsetof(struct rt_area, callees));
	op(c, EMIT_SHIFT_RIGHT, V2, V3, 0, SLOT_SHIFT);
	op(c, EMIT_ADD, V2, V2, 0, RT_CALLEE_STEP * (int64_t)c->n->procedure);
	op(c, EMIT_LOW_BITS, V2, V2, 0, RT_CALLEE_BITS);
	op(c, EMIT_ADD_SHIFTED, V0, V0, V2, CALLEE_SHIFT);
	load(c, V2, V0, offsetof(struct rt_callee, slot));
	op(c, EMIT_XOR, V2, V2, V3, 0);
	op(c, EMIT_UNLESS_ZERO, 0, V2, 0, missing);
	load(c, V2, V0, offsetof(struct rt_callee, calls));
	load(c, child, V0, offsetof(struct rt_callee, child));
	load(c, V3, child, offsetof(struct rt_context, procedure));
	op(c, EMIT_ADD, V3, V3, 0, -(int64_t)c->n->procedure);
	op(c, EMIT_UNLESS_ZERO, 0, V3, 0, missing);
	op(c, EMIT_COUNT, V3, V2, 0, 0);
}

/* The caller's frame tells its context and where in it the call is; the slot of that call leads to
 * our context, unless another procedure was called there last. */
static void enter(struct coder *c, struct spot spot)
{
	bool passes = c->t->passes;
	unsigned child = c->t->context != REG_NONE ? held_context(c) : V0;
	unsigned own = c->t->frame != REG_NONE ? EMIT_HELD + c->t->frame : V1;
	unsigned caller = passes ? passed_frame(c) : own;
	unsigned other = passes, unknown = other + 1; /* asides */
	const int64_t slot = -(int64_t)sizeof(struct rt_context_slot);
	begin(c);
	if (passes)
		take_passed(c);
	else
		find_caller(c, caller, unknown);
	uint16_t found = c->count;
	op(c, EMIT_LOAD, child, V3, 0, slot + (int64_t)offsetof(struct rt_context_slot, child));
	load(c, V2, child, offsetof(struct rt_context, procedure));
	op(c, EMIT_ADD, V2, V2, 0, -(int64_t)c->n->procedure);
	op(c, EMIT_UNLESS_ZERO, 0, V2, 0, other);
	op(c, EMIT_COUNT, V2, V3, 0, slot + (int64_t)offsetof(struct rt_context_slot, calls));
	uint16_t counted = c->count;
	keep_context(c, child);
	if (c->t->framed)
		push(c, child, caller, own);
	if (passes) {
		aside(c, found);
		find_caller(c, caller, unknown);
	}
	aside(c, counted);
	find_callee(c, caller, child, unknown);
	last_aside(c, c->n->called, site_argument(c, 0));
	call_runtime(c, child);
	put_alone(c, spot);
}

/* The frame is not needed any more. */
static void leave(struct coder *c, struct spot spot)
{
	bool passes = can_pass(c, &spot);
	unsigned outer = passes ? passed_frame(c) : V1;
	begin(c);
	unsigned at = frame(c, V1, V2);
	load_area(c, V0);
	op(c, EMIT_ADD, outer, at, 0, tally_frame_size(c->t));
	store(c, V0, offsetof(struct rt_area, top), outer);
	if (passes) {
		load(c, V1, outer, offsetof(struct rt_shadow, key));
		pass(c, outer, V1, returns(c, &spot));
	}
	put_alone(c, spot);
}

static uint32_t site_at(const struct coder *c, uint64_t va)
{
	for (uint32_t i = 0; i < c->t->site_count; i++)
		if (c->t->sites[i].va == va)
			return i + 1;
	return 0;
}

/* A procedure that has not moved the stack pointer calls where it was called itself: less than the
 * stack pointer tells their keys apart, if control leaves its frame behind. */
int64_t tally_key(const struct tally *t, uint32_t site)
{
	int64_t key = (int64_t)((uint64_t)site << RT_KEY_SITE);
	return key - (t->sites[site - 1].syscall ? 2 : t->still ? 1 : 0);
}

static void call(struct coder *c, struct spot spot, uint32_t site)
{
	begin(c);
	unsigned at = frame(c, V0, V1);
	op(c, EMIT_STACK, V1, 0, 0, tally_key(c->t, site));
	store(c, at, offsetof(struct rt_shadow, key), V1);
	if (can_pass(c, &spot))
		pass(c, at, V1, false);
	put_alone(c, spot);
}

/* The frame on top, `top`, must be that of the call; if not, on to the aside. */
static void check_key(struct coder *c, unsigned top, uint32_t site, unsigned other)
{
	op(c, EMIT_AREA, V0, 0, 0, 0);
	load(c, top, V0, offsetof(struct rt_area, top));
	load(c, V2, top, offsetof(struct rt_shadow, key));
	op(c, EMIT_STACK, V0, 0, 0, tally_key(c->t, site));
	op(c, EMIT_XOR, V2, V2, V0, 0);
	op(c, EMIT_UNLESS_ZERO, 0, V2, 0, other);
}

/* Its context is the one. */
static void take_frame(struct coder *c, unsigned frame, unsigned context)
{
	if (c->t->frame != REG_NONE)
		op(c, EMIT_MOVE, EMIT_HELD + c->t->frame, frame, 0, 0);
	load(c, context, frame, offsetof(struct rt_shadow, context));
	keep_context(c, context);
}

static void come_back(struct coder *c, struct spot spot, uint32_t site)
{
	unsigned context = c->t->context != REG_NONE ? held_context(c) : V3;
	unsigned own = c->t->frame != REG_NONE ? EMIT_HELD + c->t->frame : V1;
	bool passes = c->t->passes && !c->t->sites[site - 1].syscall;
	unsigned top = passes ? passed_frame(c) : own;
	begin(c);
	if (passes) {
		op(c, EMIT_ADD_SHIFTED, V0, passed_sum(c), top, 0);
		op(c, EMIT_STACK, V1, 0, 0, tally_key(c->t, site));
		op(c, EMIT_XOR, V0, V0, V1, 0);
		op(c, EMIT_UNLESS_ZERO, 0, V0, 0, 0);
	} else {
		check_key(c, top, site, 0);
	}
	uint16_t found = c->count;
	take_frame(c, top, context);
	if (passes) {
		aside(c, found);
		check_key(c, top, site, 1);
	}
	last_aside(c, c->n->returned, site_argument(c, site));
	call_runtime(c, context);
	put_alone(c, spot);
}

/* On to the runtime, which leaves the context in `d`; always, or where a test has said so. */
static void ask_runtime(struct coder *c, unsigned d, uint64_t routine, uint64_t argument,
			bool always)
{
	if (always) {
		op(c, EMIT_SET, V0, 0, 0, 1);
		op(c, EMIT_UNLESS_ZERO, 0, V0, 0, 0);
	}
	last_aside(c, routine, argument);
	call_runtime(c, d);
}

/* The loop that exceptions which arrive at a block do not leave, as the runtime counts loops. */
static uint64_t loop_argument(const struct coder *c, uint32_t block)
{
	uint32_t l = c->t->forest->innermost[block];
	while (l != LOOP_NONE && c->t->loops[l].method != TRIP_FRAME)
		l = c->t->forest->loops[l].parent;
	return l == LOOP_NONE ? 0 : (uint64_t)c->n->first_loop + l + 1;
}

/* The call that comes back to a block; 0: none does. */
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

/* Exceptions come from several calls to one place: the same probe on all ways. A call may come back
 * there, too, as its frame tells. */
static void land(struct coder *c, uint32_t block, uint32_t word)
{
	const struct cfg *g = c->t->cfg;
	unsigned context = c->t->context != REG_NONE ? held_context(c) : V3;
	unsigned own = c->t->frame != REG_NONE ? EMIT_HELD + c->t->frame : V1;
	uint32_t owner = c->owners++, site = site_before(c, block);
	begin(c);
	if (site) {
		check_key(c, own, site, 0);
		take_frame(c, own, context);
	}
	ask_runtime(c, context, c->n->landed, site_argument(c, loop_argument(c, block)), !site);
	if (word != NO_WORD)
		op(c, EMIT_COUNT, V0, context, 0, (int64_t)word_offset(word));
	for (uint32_t i = g->first_pred[block]; i < g->first_pred[block + 1]; i++)
		if (g->edges[g->pred_edges[i]].kind == EDGE_UNWIND ||
		    g->edges[g->pred_edges[i]].kind == EDGE_CALL_RETURN)
			put(c, spot_on_edge(c, g->pred_edges[i]), owner);
}

/* ---- loops ---- */

static void enter_loop(struct coder *c, struct spot spot)
{
	const struct tally_loop *l = &c->t->loops[spot.loop];
	begin(c);
	if (l->method == TRIP_HELD) {
		begin_counter(c, l->trips);
		for (uint32_t i = 0; i < l->held_count; i++)
			begin_counter(c, c->t->carriers[c->t->held[l->first_held + i]].counter);
	} else if (l->method == TRIP_DIFFERENCE) {
		unsigned at = context(c, V3, V2);
		load(c, V0, at, word_offset(l->word));
		store(c, at, word_offset(l->before), V0);
	} else if (l->method == TRIP_FRAME) {
		store(c, frame(c, V0, V1), slot_offset(l->slot), EMIT_ZERO);
	}
	if (c->count)
		put_alone(c, spot);
}

static void count_header(struct coder *c, uint32_t loop)
{
	const struct tally_loop *l = &c->t->loops[loop];
	begin(c);
	if (l->method == TRIP_HELD) {
		count_in(c, l->trips);
	} else if (l->method == TRIP_DIFFERENCE) {
		op(c, EMIT_COUNT, V0, context(c, V3, V2), 0, (int64_t)word_offset(l->word));
	} else {
		op(c, EMIT_COUNT, V1, frame(c, V0, V1), 0, (int64_t)slot_offset(l->slot));
	}
	uint32_t header = c->t->forest->loops[loop].header;
	put_alone(c, spot_before(c->t->cfg->blocks[header].start));
}

/* What the loop has counted in registers goes to the words. */
static void add_held(struct coder *c, const struct tally_loop *l, unsigned context)
{
	for (uint32_t i = 0; i < l->held_count; i++) {
		const struct carrier *k = &c->t->carriers[c->t->held[l->first_held + i]];
		unsigned count = read_counter(c, k->counter, V0);
		op(c, EMIT_COUNT_VALUE, V1, context, count, (int64_t)word_offset(k->word));
	}
}

/* Leaves how often the header was executed in V0, or returns where that is; and adds it to the
 * header's counter, if it is not there yet. */
static unsigned executions(struct coder *c, const struct tally_loop *l, unsigned at)
{
	unsigned trips;
	switch (l->method) {
	case TRIP_HELD:
		add_held(c, l, at);
		trips = read_counter(c, l->trips, V0);
		op(c, EMIT_COUNT_VALUE, V1, at, trips, (int64_t)word_offset(l->word));
		return trips;
	case TRIP_DIFFERENCE:
		load(c, V0, at, word_offset(l->word));
		load(c, V1, at, word_offset(l->before));
		op(c, EMIT_SUB_SHIFTED, V0, V0, V1, 0);
		return V0;
	default:
		load(c, V0, frame(c, V0, V1), slot_offset(l->slot));
		op(c, EMIT_COUNT_VALUE, V1, at, V0, (int64_t)word_offset(l->word));
		return V0;
	}
}

/* Into the thread's histogram; what is not exact there is left to the runtime. */
static void leave_loop(struct coder *c, struct spot spot)
{
	const struct tally_loop *l = &c->t->loops[spot.loop];
	uint32_t number = c->n->first_loop + spot.loop;
	if (l->method == TRIP_NONE)
		return;
	begin(c);
	unsigned at = context(c, V3, V2), trips = executions(c, l, at);
	if (spot.place == SPOT_EDGE && c->t->tests[spot.edge] == spot.loop) {
		op(c, EMIT_ADD, V0, trips, 0, -1);
		trips = V0;
	}
	bool checked = !tally_holds_context(c->t);
	load(c, V2, at, offsetof(struct rt_context, area));
	if (checked) /* the aside is for who does not own the frame, too: then this is 0 */
		store(c, V2, offsetof(struct rt_area, trip), trips);
	op(c, EMIT_ADD, V1, trips, 0, -RT_EXACT_TRIPS);
	op(c, EMIT_UNLESS_NEGATIVE, 0, V1, 0, 0);
	if (checked)
		store(c, V2, offsetof(struct rt_area, trip), EMIT_ZERO);
	op(c, EMIT_ADD_SHIFTED, V2, V2, trips, 3);
	op(c, EMIT_ADD, V2, V2, 0, (int64_t)(RT_AREA_TRIPS + number * sizeof(struct rt_trips)));
	op(c, EMIT_COUNT, V1, V2, 0, 0);
	last_aside(c, c->n->tripped, number);
	if (!checked)
		store(c, V2, offsetof(struct rt_area, trip), trips);
	op(c, EMIT_CALL, V1, 0, 0, 0);
	put_alone(c, spot);
}

/* ---- counters ---- */

/* Before the last instruction of a block; on its way, if that is a branch. */
static struct spot spot_leaving(const struct coder *c, uint32_t block, uint64_t last)
{
	struct spot spot = spot_before(last);
	if (c->t->cfg->blocks[block].flags & BLOCK_CONDITIONAL)
		spot.place = SPOT_TAKEN;
	return spot;
}

static uint64_t last_insn(const struct coder *c, uint32_t block)
{
	const struct block *b = &c->t->cfg->blocks[block];
	const struct arch *arch = flow_arch(c->flow);
	uint64_t last = b->start;
	struct insn in;
	for (uint64_t va = b->start; va < b->start + b->size; va += in.length) {
		size_t n;
		const uint8_t *bytes = image_at(flow_image(c->flow), va, &n);
		if (!bytes || !arch->decode(bytes, n, va, DECODE_FLOW, &in))
			break;
		last = va;
	}
	return last;
}

static void count_carrier(struct coder *c, const struct carrier *k)
{
	begin(c);
	if (k->counter != REG_NONE)
		count_in(c, k->counter);
	else
		op(c, EMIT_COUNT, V0, context(c, V3, V2), 0, (int64_t)word_offset(k->word));
	if (k->kind == CARRIER_BLOCK)
		put_alone(c, spot_before(c->t->cfg->blocks[k->index].start));
	else if (k->kind == CARRIER_EDGE)
		put_alone(c, spot_on_edge(c, k->index));
	else
		put_alone(c, spot_leaving(c, k->index, last_insn(c, k->index)));
}

/* Those that do not count otherwise. */
static void count_carriers(struct coder *c)
{
	const struct tally *t = c->t;
	for (uint32_t l = 0; l < t->forest->loop_count; l++)
		if (t->loops[l].method != TRIP_NONE)
			count_header(c, l);
	for (uint32_t i = 0; i < t->net.edge_count; i++) {
		const struct carrier *k = &t->carriers[i];
		bool counts = t->net.edges[i].chord && k->word != NO_WORD;
		bool header = counts && k->kind == CARRIER_BLOCK && t->net.edges[i].weight < 0;
		if (counts && !header && k->kind != CARRIER_LANDING)
			count_carrier(c, k);
	}
}

/* ---- all of them ---- */

static void find_spots(const struct coder *c, uint32_t kinds, struct spot_list *out)
{
	vec_clear(out);
	spots_find(c->flow, c->t->cfg, c->t->forest, kinds, LOOP_NONE, out);
}

static bool is_landing(const struct cfg *g, uint32_t block)
{
	return g->blocks[block].flags & BLOCK_LANDING;
}

static void put_arrivals(struct coder *c)
{
	const struct cfg *g = c->t->cfg;
	for (uint32_t i = 0; i < c->t->site_count; i++) {
		const struct tally_site *s = &c->t->sites[i];
		const struct block *b = &g->blocks[s->block];
		for (uint32_t k = 0; !s->syscall && k < b->edge_count; k++)
			if (g->edges[b->first_edge + k].kind == EDGE_CALL_RETURN &&
			    !is_landing(g, g->edges[b->first_edge + k].to))
				come_back(c, spot_on_edge(c, b->first_edge + k), i + 1);
	}
	for (uint32_t i = 0; i < c->t->net.edge_count; i++)
		if (c->t->carriers[i].kind == CARRIER_LANDING)
			land(c, c->t->carriers[i].index, c->t->carriers[i].word);
}

/* Behind system calls: the spots come in the order of their calls. */
static void put_syscalls_done(struct coder *c, struct spot_list *spots)
{
	uint32_t site = 0;
	find_spots(c, 1u << POINT_SYSCALL | 1u << POINT_SYSCALL_DONE, spots);
	vec_each (s, spots) {
		if (s->kind == POINT_SYSCALL)
			site = site_at(c, s->va);
		else
			come_back(c, *s, site);
	}
}

static void put_loops(struct coder *c, struct spot_list *spots)
{
	find_spots(c, 1u << POINT_ENTRY | 1u << POINT_LOOP_ENTRY | 1u << POINT_LOOP_EXIT, spots);
	vec_each (s, spots) {
		/* What exceptions do to loops, the runtime knows. */
		if (s->place == SPOT_EDGE && c->t->cfg->edges[s->edge].kind == EDGE_UNWIND)
			continue;
		if (s->kind == POINT_ENTRY)
			enter(c, *s);
		else if (s->kind == POINT_LOOP_ENTRY)
			enter_loop(c, *s);
		else
			leave_loop(c, *s);
	}
}

static void put_calls_and_exits(struct coder *c, struct spot_list *spots)
{
	find_spots(c, 1u << POINT_SYSCALL | 1u << POINT_CALL | 1u << POINT_EXIT, spots);
	vec_each (s, spots) {
		if (s->kind != POINT_EXIT)
			call(c, *s, site_at(c, s->va));
		else if (c->t->framed)
			leave(c, *s);
		else
			pass_back(c, *s);
	}
}

void tally_code(const struct tally *t, const struct flow *f, const struct tally_numbers *n,
		struct tally_probes *out, struct arena *a)
{
	struct coder c = {.t = t, .flow = f, .n = n, .out = out, .a = a};
	struct spot_list spots = {0};
	put_arrivals(&c);
	put_syscalls_done(&c, &spots);
	put_loops(&c, &spots);
	count_carriers(&c);
	put_calls_and_exits(&c, &spots);
	vec_free(&spots);
}

/* There is no site that control could have come back from. */
struct emit_probe tally_recover(const struct tally *t, const struct tally_numbers *n,
				struct arena *a)
{
	struct coder c = {.t = t, .n = n, .a = a};
	begin(&c);
	ask_runtime(&c, t->context != REG_NONE ? held_context(&c) : V3, n->returned,
		    site_argument(&c, 0), true);
	struct emit_probe probe = finished(&c);
	probe.held = tally_held(t);
	return probe;
}
