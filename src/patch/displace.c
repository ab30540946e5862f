/* Replaces probed instructions by jumps, one by one.
 *
 * A window is a run of instructions of one block that is replaced by one jump. On x86-64 it needs
 * five bytes, so neighbours are moved along: those after the probed instruction or, where a call is
 * in the way, those before it. Calls stay where they are, since their return addresses must be
 * original and the CPU predicts returns by pairing them with calls. System calls stay wherever a
 * jump is longer than one instruction: a thread that waits in the kernel returns right after the
 * system call, which would be inside the jump.
 *
 * In a function with an unresolved jump, that jump may lead to any instruction. There, and in
 * blocks that other functions jump into, a window is a single instruction, which must be large
 * enough. */
#include "base/order.h"
#include "patch/plan.h"

struct window {
	uint64_t pc; /* run-time address of its first byte */
	uint32_t block, first, last;
	uint32_t label;
	bool trap;
};

struct displacing_state {
	struct plan *p;
	enum displacing how;
	struct window *windows;
	uint32_t count;
	bool single; /* in the current block, windows are single instructions */
	bool calls;  /* calls may be moved */
};

static void set_block(struct displacing_state *s, uint32_t block)
{
	const struct block *b = &s->p->g->blocks[block];
	s->single = s->p->uncertain || is_intruded(s->p, b->start + 1, b->start + b->size);
}

static bool may_move(const struct displacing_state *s, const struct body *b, uint32_t i)
{
	const struct insn *in = &b->insns[i];
	if (i < b->landing)
		return false;
	switch (in->kind) {
	case INSN_CALL:
	case INSN_CALL_INDIRECT: return s->calls;
	case INSN_SYSCALL: return s->p->ops->jump_size <= in->length;
	case INSN_TRAP: return false;
	default: return true;
	}
}

static bool may_move_all(const struct displacing_state *s, const struct body *b, uint32_t first,
			 uint32_t last)
{
	for (uint32_t i = first; i < last; i++)
		if (!may_move(s, b, i))
			return false;
	return first < last;
}

/* Whether a jump fits in place of instructions [first, last), and the padding after the block if
 * they end it. */
static bool has_room(const struct displacing_state *s, uint32_t block, const struct body *b,
		     uint32_t first, uint32_t last)
{
	const struct plan *p = s->p;
	const struct block *bl = &p->g->blocks[block];
	uint64_t start = body_va(p, bl, b, first), end = body_va(p, bl, b, last);
	uint32_t need = p->ops->jump_size;
	if (end - start < need && last == b->count && !block_falls(bl, b) && !s->single)
		end += padding_after(p, end, need);
	return end - start >= need;
}

/* Whether a jump can be written there at once, and no other code jumps into its middle. */
static bool is_replaceable(const struct plan *p, uint64_t start, uint64_t end)
{
	return in_one_page(p, start, p->ops->jump_size) && !is_intruded(p, start + 1, end);
}

static void add_window(struct displacing_state *s, uint32_t block, const struct body *b,
		       uint32_t first, uint32_t last, bool trap)
{
	s->windows[s->count++] = (struct window){b->insns[first].pc, block, first, last, 0, trap};
}

/* Adds the smallest window that contains the gap or ends at it, and also contains the last
 * instruction if `whole`. Windows with a later start are tried first; none begins before `low`. */
static bool find_window(struct displacing_state *s, uint32_t block, const struct body *b,
			uint32_t gap, bool whole, uint32_t low)
{
	enum { MAX_WINDOW = 16 }; /* instructions: far more than a jump can need */
	const struct plan *p = s->p;
	uint32_t first = gap < b->count ? gap : b->count - 1;
	for (uint32_t a = first + 1; a-- > low;) {
		uint32_t last = whole || gap > a ? (whole ? b->count : gap) : a + 1;
		if (s->single && (a != first || last != a + 1))
			return false;
		while (last < b->count && !s->single && !has_room(s, block, b, a, last))
			last++;
		if (may_move_all(s, b, a, last) && has_room(s, block, b, a, last) &&
		    is_replaceable(p, body_va(p, &p->g->blocks[block], b, a),
				   body_va(p, &p->g->blocks[block], b, last))) {
			add_window(s, block, b, a, last, false);
			return true;
		}
		if (last > a + MAX_WINDOW)
			return false;
	}
	return false;
}

/* Whether a trap may be placed here: not between a load-exclusive and its store-exclusive, because
 * the store would always fail. */
static bool may_trap(const struct plan *p, uint32_t block, uint64_t pc)
{
	return p->r->allow_traps && !liveness_in_exclusive(p->r->live, block, pc - p->r->bias);
}

/* Replaces one instruction, of any size, by a trap. */
static bool set_trap(struct displacing_state *s, uint32_t block, const struct body *b, uint32_t gap,
		     uint32_t low)
{
	uint32_t i = gap < b->count ? gap : b->count - 1;
	const struct insn *in = &b->insns[i];
	bool call = in->kind == INSN_CALL || in->kind == INSN_CALL_INDIRECT;
	if (s->how != DISPLACE_ANYHOW || !may_trap(s->p, block, in->pc) || i < low ||
	    i < b->landing || in->kind == INSN_TRAP || (call && s->p->r->shadow_stack))
		return false;
	add_window(s, block, b, i, i + 1, true);
	return true;
}

static bool place_probe(struct displacing_state *s, const struct attachment *a)
{
	const struct body *b = body_of(s->p, a->block);
	struct window *w = s->count ? &s->windows[s->count - 1] : NULL;
	bool whole = a->where == AT_TAKEN || a->gap == b->count;
	uint32_t gap = a->where == AT_TAKEN ? b->count - 1 : a->gap;
	uint32_t need = whole ? b->count : gap; /* the least end of a window */
	if (a->where == AT_SWITCH || (a->where == AT_ARRIVAL && !a->in_place))
		return false;
	if (w && w->block != a->block)
		w = NULL;
	set_block(s, a->block);
	if (w && (need < w->last || (need == w->last && (!s->single || whole))))
		return true;
	s->calls = false;
	if (find_window(s, a->block, b, gap, whole, w ? w->last : 0))
		return true;
	s->calls = s->how != DISPLACE_CLEANLY && !s->p->r->shadow_stack;
	if (s->calls && find_window(s, a->block, b, gap, whole, w ? w->last : 0))
		return true;
	if (w && !w->trap && !s->single && may_move_all(s, b, w->last, need)) {
		w->last = need;
		return true;
	}
	return set_trap(s, a->block, b, gap, w ? w->last : 0);
}

static bool place_all(struct displacing_state *s, enum refusal why)
{
	struct plan *p = s->p;
	for (uint32_t i = 0; i < p->attachment_count; i++) {
		const struct attachment *a = &p->attachments[i];
		if (place_probe(s, a))
			continue;
		if (s->how != DISPLACE_ANYHOW)
			return false;
		p->r->probes[a->probe].refused = (uint8_t)why;
	}
	order_attachments(p);
	return true;
}

/* The target for control that goes to pc: directly into the moved code if a window begins there. */
static struct emit_target target_at(const struct displacing_state *s, uint64_t pc)
{
	uint32_t n = ORDER_UP_TO(s->windows, s->count, pc, pc);
	if (n && s->windows[n - 1].pc == pc)
		return (struct emit_target){.label = s->windows[n - 1].label};
	return (struct emit_target){LABEL_NONE, pc};
}

static void emit_gap(struct displacing_state *s, uint32_t block, const struct body *b, uint32_t gap)
{
	if (gap == b->landing)
		emit_probes(s->p, block, AT_ARRIVAL, gap);
	emit_probes(s->p, block, AT_GAP, gap);
}

/* If a branch has probes on its taken edge, that edge is written after the window. */
static void emit_branch(struct displacing_state *s, const struct window *w, const struct insn *in,
			const uint8_t *bytes, uint32_t *taken)
{
	struct plan *p = s->p;
	struct emit_target to = target_at(s, in->target);
	if (has_probes(p, w->block, AT_TAKEN, 0)) {
		*taken = emit_label(&p->e);
		to = (struct emit_target){.label = *taken};
	}
	p->ops->branch(&p->e, in, bytes, to);
}

static void emit_one(struct displacing_state *s, const struct window *w, const struct insn *in,
		     const uint8_t *bytes, uint32_t *taken)
{
	struct plan *p = s->p;
	switch (in->kind) {
	case INSN_JUMP: p->ops->go(&p->e, target_at(s, in->target)); break;
	case INSN_BRANCH: emit_branch(s, w, in, bytes, taken); break;
	case INSN_CALL:
	case INSN_CALL_INDIRECT: p->ops->call(&p->e, in, bytes, in->pc + in->length); break;
	default: p->ops->move(&p->e, in, bytes);
	}
}

/* After a window that does not reach the block's end: writes the probes before the next
 * instruction, which is executed in place, and the jump back to it. */
static void emit_jump_back(struct displacing_state *s, const struct window *w, const struct body *b)
{
	struct plan *p = s->p;
	uint32_t arrival = p->e.bytes.len;
	emit_gap(s, w->block, b, w->last);
	uint32_t offset = p->e.bytes.len;
	p->ops->go(&p->e, (struct emit_target){LABEL_NONE, b->insns[w->last].pc});
	note_moved(p, &b->insns[w->last], arrival, offset, true);
}

/* `joined`: the next window begins where this one ends, in the same block, and is written right
 * after it. */
static void emit_window(struct displacing_state *s, const struct window *w, bool joined)
{
	struct plan *p = s->p;
	const struct block *block = &p->g->blocks[w->block];
	const struct body *b = body_of(p, w->block);
	uint32_t taken = LABEL_NONE;
	emit_place(&p->e, w->label);
	for (uint32_t i = w->first; i < w->last; i++) {
		const struct insn *in = &b->insns[i];
		uint32_t arrival = p->e.bytes.len;
		emit_gap(s, w->block, b, i);
		if (in->kind == INSN_JUMP)
			emit_probes(p, w->block, AT_TAKEN, 0);
		uint32_t offset = p->e.bytes.len;
		emit_one(s, w, in, b->bytes + (in->pc - b->insns[0].pc), &taken);
		note_moved(p, in, arrival, offset, false);
	}
	if (w->last < b->count && !joined) {
		emit_jump_back(s, w, b);
	} else if (w->last == b->count && block_falls(block, b)) {
		emit_gap(s, w->block, b, w->last);
		p->ops->go(&p->e, target_at(s, body_va(p, block, b, w->last) + p->r->bias));
	}
	if (taken != LABEL_NONE) {
		emit_place(&p->e, taken);
		emit_probes(p, w->block, AT_TAKEN, 0);
		p->ops->go(&p->e, target_at(s, b->insns[b->count - 1].target));
	}
}

static bool patch_window(struct displacing_state *s, const struct window *w)
{
	struct plan *p = s->p;
	bool instead = p->r->trap_all && may_trap(p, w->block, w->pc);
	struct patch patch = {.va = w->pc - p->r->bias, .trap = w->trap || instead};
	patch.to = p->r->address + p->e.labels.data[w->label];
	if (patch.trap) {
		patch.size = p->ops->trap_size;
		for (uint32_t i = 0; i < patch.size; i++)
			patch.bytes[i] = p->ops->trap[i];
	} else {
		patch.size = (uint8_t)p->ops->jump(patch.bytes, w->pc, patch.to);
	}
	if (!patch.size || !original_bytes(p, patch.va, patch.original, patch.size))
		return false;
	add_patch(p, &patch);
	if (p->out->mechanism < (patch.trap ? MECHANISM_TRAP : MECHANISM_DISPLACED))
		p->out->mechanism = patch.trap ? MECHANISM_TRAP : MECHANISM_DISPLACED;
	return true;
}

bool displace(struct plan *p, enum displacing how, enum refusal why)
{
	struct displacing_state s = {
		.p = p,
		.how = how,
		.windows = ARENA_ARRAY(p->tmp, struct window, p->attachment_count),
	};
	if (!place_all(&s, why))
		return false;
	for (uint32_t i = 0; i < s.count; i++)
		s.windows[i].label = emit_label(&p->e);
	for (uint32_t i = 0; i < s.count; i++) {
		const struct window *w = &s.windows[i];
		emit_window(&s, w,
			    i + 1 < s.count && w[1].block == w->block && w[1].first == w->last);
	}
	bool reached = emit_finish(&p->e);
	for (uint32_t i = 0; i < s.count && reached; i++)
		reached = patch_window(&s, &s.windows[i]);
	if (!reached)
		refuse_all(p, REFUSED_OUT_OF_REACH);
	return true;
}
