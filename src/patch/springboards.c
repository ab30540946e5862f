/* The patches that lead into relocated code.
 *
 * If an instruction is as large as a jump, each springboard replaces one instruction. On x86-64 a
 * jump has five bytes, and blocks may be shorter. After relocation the original code is dead,
 * except for calls, traps and system calls executed in place, the landing instructions before a
 * springboard, and the springboards. So a springboard may
 *
 *	stay within its block, or extend into padding after it   PHASE_PLAIN
 *	extend into the beginning of other blocks                PHASE_DEAD
 *	be two bytes, a short jump to an island: a jump in padding or dead code nearby
 *
 * The program may be resumed after each single write. As long as one springboard is missing,
 * control that arrives there continues in the original code, and may reach whatever that leads to.
 * So each block is labelled with the arrivals that still lead to it. Its bytes may be overwritten
 * if there is none. The springboard of an arrival may also overwrite it if that arrival is the only
 * one, because from then on control is redirected there. Each springboard that is placed removes
 * its label, which makes room for others. This is repeated until all are placed, or none can be. */
#include "base/order.h"
#include "patch/plan.h"

#include <string.h>

enum {
	NO_ARRIVAL = UINT32_MAX,
	SEVERAL_ARRIVALS = UINT32_MAX - 1,
	MAX_PADDING = 32, /* bytes of padding after a block that are considered */
	MAX_ROUNDS = 64,  /* limits the time in large functions */
};

enum byte_use { BYTE_FREE, BYTE_KEPT, BYTE_TAKEN };

struct springboard_plan {
	struct plan *p;
	const struct arrival *arrivals;
	uint32_t count;
	bool *call_moved;
	bool *placed;           /* for each arrival */
	bool *end_reached;      /* for each block: see find_ends() */
	bool *redirects;        /* for each block: a springboard at its start redirects control */
	uint64_t *last;         /* for each block: the last springboard in it; 0: there is none */
	uint32_t *reached_from; /* for each block: the arrival that leads to it, NO_ARRIVAL or
				   SEVERAL_ARRIVALS */
	uint32_t *work;
	/* For each block, the index of its first byte in `use`, and the size of the padding after
	 * it. */
	uint32_t *first_byte;
	uint8_t *padding;
	uint8_t *use; /* enum byte_use */
};

static uint32_t size_with_padding(const struct springboard_plan *s, uint32_t block)
{
	return s->p->g->blocks[block].size + s->padding[block];
}

/* The use of the byte at va, which is in *block or its padding. NULL if it is in none. */
static uint8_t *byte_at(const struct springboard_plan *s, uint64_t va, uint32_t *block)
{
	const struct cfg *g = s->p->g;
	uint32_t n = ORDER_UP_TO(g->blocks, g->block_count, start, va);
	if (!n || va - g->blocks[n - 1].start >= size_with_padding(s, n - 1))
		return NULL;
	*block = n - 1;
	return &s->use[s->first_byte[n - 1] + (va - g->blocks[n - 1].start)];
}

static bool in_padding(const struct springboard_plan *s, uint32_t block, uint64_t va)
{
	return va - s->p->g->blocks[block].start >= s->p->g->blocks[block].size;
}

static void mark(const struct springboard_plan *s, uint64_t va, uint32_t size, enum byte_use use)
{
	uint32_t block;
	for (uint32_t i = 0; i < size; i++) {
		uint8_t *byte = byte_at(s, va + i, &block);
		if (byte)
			*byte = (uint8_t)use;
	}
}

/* Reserves bytes that are free. Bytes that are kept stay kept: a call may begin right after the
 * first byte of its function. */
static void reserve(const struct springboard_plan *s, uint64_t va, uint32_t size)
{
	uint32_t block;
	for (uint32_t i = 0; i < size; i++) {
		uint8_t *byte = byte_at(s, va + i, &block);
		if (byte && *byte == BYTE_FREE)
			*byte = BYTE_TAKEN;
	}
}

static void keep_instructions(struct springboard_plan *s, uint32_t block)
{
	const struct body *b = body_of(s->p, block);
	for (uint32_t i = 0; i < b->count; i++) {
		const struct insn *in = &b->insns[i];
		if (in->kind == INSN_SYSCALL || (stays_in_place(in) && !s->call_moved[block]))
			mark(s, in->pc - s->p->r->bias, in->length, BYTE_KEPT);
	}
}

/* Keeps the landing instructions before each springboard, and reserves the least that each
 * springboard needs. */
static void keep_arrivals(struct springboard_plan *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct arrival *a = &s->arrivals[i];
		const struct block *block = &s->p->g->blocks[a->block];
		if (a->gap == body_of(s->p, a->block)->landing)
			mark(s, block->start, (uint32_t)(a->va - block->start), BYTE_KEPT);
	}
	for (uint32_t i = 0; i < s->count; i++)
		reserve(s, s->arrivals[i].va, s->p->ops->short_jump_size);
}

static void map_bytes(struct springboard_plan *s)
{
	const struct cfg *g = s->p->g;
	struct arena *tmp = s->p->tmp;
	uint64_t bytes = 0;
	s->first_byte = ARENA_ARRAY(tmp, uint32_t, g->block_count);
	s->padding = ARENA_ARRAY(tmp, uint8_t, g->block_count);
	s->placed = ARENA_ARRAY(tmp, bool, s->count);
	s->end_reached = ARENA_ARRAY(tmp, bool, g->block_count);
	s->redirects = ARENA_ARRAY(tmp, bool, g->block_count);
	s->last = ARENA_ARRAY(tmp, uint64_t, g->block_count);
	s->reached_from = ARENA_ARRAY(tmp, uint32_t, g->block_count);
	s->work = ARENA_ARRAY(tmp, uint32_t, 2 * (size_t)g->block_count);
	for (uint32_t i = 0; i < g->block_count; i++) {
		uint64_t end = g->blocks[i].start + g->blocks[i].size;
		if (i + 1 == g->block_count || g->blocks[i + 1].start != end)
			s->padding[i] = (uint8_t)padding_after(s->p, end, MAX_PADDING);
		s->first_byte[i] = (uint32_t)bytes;
		bytes += size_with_padding(s, i);
	}
	s->use = ARENA_ARRAY(tmp, uint8_t, bytes);
	for (uint32_t i = 0; i < g->block_count; i++)
		keep_instructions(s, i);
	keep_arrivals(s);
}

static bool add_label(const struct springboard_plan *s, uint32_t block, uint32_t label)
{
	uint32_t *at = &s->reached_from[block];
	if (*at == label || *at == SEVERAL_ARRIVALS || label == NO_ARRIVAL)
		return false;
	*at = *at == NO_ARRIVAL ? label : (uint32_t)SEVERAL_ARRIVALS;
	return true;
}

/* Finds the blocks at whose end control may arrive: not where it passes a springboard before. */
static void find_ends(struct springboard_plan *s)
{
	for (uint32_t i = 0; i < s->p->g->block_count; i++)
		s->end_reached[i] = !s->last[i];
	for (uint32_t i = 0; i < s->count; i++) {
		const struct arrival *a = &s->arrivals[i];
		s->end_reached[a->host] |= !s->placed[i] && a->va > s->last[a->host];
	}
}

/* Finds the arrivals without springboards that lead to each block, in the original code. */
static void label_blocks(struct springboard_plan *s)
{
	const struct cfg *g = s->p->g;
	uint32_t pending = 0;
	find_ends(s);
	for (uint32_t i = 0; i < g->block_count; i++)
		s->reached_from[i] = NO_ARRIVAL;
	for (uint32_t i = 0; i < s->count; i++)
		if (!s->placed[i])
			add_label(s, s->arrivals[i].host, i);
	for (uint32_t i = 0; i < g->block_count; i++)
		if (s->reached_from[i] != NO_ARRIVAL && s->end_reached[i])
			s->work[pending++] = i;
	while (pending) {
		uint32_t from = s->work[--pending];
		const struct block *b = &g->blocks[from];
		for (uint32_t i = b->first_edge; i < b->first_edge + b->edge_count; i++) {
			const struct edge *e = &g->edges[i];
			if (!is_external(e) && !s->redirects[e->to] &&
			    add_label(s, e->to, s->reached_from[from]) && s->end_reached[e->to])
				s->work[pending++] = e->to;
		}
	}
}

enum jump_kind { JUMP_DIRECT, JUMP_TO_ISLAND, JUMP_ISLAND };

static bool add_jump(struct springboard_plan *s, uint64_t va, uint64_t to, enum jump_kind kind,
		     enum patch_phase phase)
{
	struct plan *p = s->p;
	struct patch patch = {
		.va = va, .phase = (uint8_t)phase, .to = to, .island = kind == JUMP_ISLAND};
	uint64_t pc = va + p->r->bias;
	patch.size = (uint8_t)(kind == JUMP_TO_ISLAND ? p->ops->short_jump(patch.bytes, pc, to)
						      : p->ops->jump(patch.bytes, pc, to));
	if (!patch.size || !original_bytes(p, va, patch.original, patch.size))
		return false;
	add_patch(p, &patch);
	return true;
}

static uint64_t destination(const struct springboard_plan *s, const struct arrival *a)
{
	return s->p->r->address + s->p->e.labels.data[a->label];
}

static void set_placed(struct springboard_plan *s, uint32_t i)
{
	const struct arrival *a = &s->arrivals[i];
	const struct block *host = &s->p->g->blocks[a->host];
	s->placed[i] = true;
	s->last[a->host] = a->va > s->last[a->host] ? a->va : s->last[a->host];
	s->redirects[a->host] |= a->va == host->start ||
				 (a->host == a->block && a->gap == body_of(s->p, a->host)->landing);
}

/* What a full-size springboard at the arrival would overwrite. */
enum fit {
	FIT_NOT,   /* bytes that have to stay */
	FIT_PLAIN, /* its own block only */
	FIT_DEAD,  /* dead blocks */
	FIT_LATER, /* blocks that are not dead yet */
};

static enum fit fit_at(const struct springboard_plan *s, uint32_t i)
{
	const struct arrival *a = &s->arrivals[i];
	uint32_t size = s->p->ops->jump_size, block;
	enum fit fit = FIT_PLAIN;
	if (!in_one_page(s->p, a->va, size))
		return FIT_NOT;
	for (uint32_t k = 0; k < size; k++) {
		const uint8_t *byte = byte_at(s, a->va + k, &block);
		bool own = k < s->p->ops->short_jump_size;
		if (!byte || *byte == BYTE_KEPT || (*byte == BYTE_TAKEN && !own))
			return FIT_NOT;
		if (own && i + 1 < s->count && s->arrivals[i + 1].va <= a->va + k)
			return FIT_NOT;
		if (block == a->host || in_padding(s, block, a->va + k) || fit == FIT_LATER)
			continue;
		bool dead = s->reached_from[block] == NO_ARRIVAL || s->reached_from[block] == i;
		fit = dead ? FIT_DEAD : FIT_LATER;
	}
	return fit;
}

static bool place_direct(struct springboard_plan *s, uint32_t i, enum fit fit)
{
	const struct arrival *a = &s->arrivals[i];
	enum patch_phase phase = fit == FIT_PLAIN ? PHASE_PLAIN : PHASE_DEAD;
	if (!add_jump(s, a->va, destination(s, a), JUMP_DIRECT, phase))
		return false;
	mark(s, a->va, s->p->ops->jump_size, BYTE_TAKEN);
	set_placed(s, i);
	return true;
}

/* Whether a byte may become part of an island now. */
static bool is_free_for_island(const struct springboard_plan *s, uint64_t va)
{
	uint32_t block;
	const uint8_t *byte = byte_at(s, va, &block);
	return byte && *byte == BYTE_FREE &&
	       (in_padding(s, block, va) || s->reached_from[block] == NO_ARRIVAL);
}

static bool find_island(const struct springboard_plan *s, uint64_t from, uint64_t *island)
{
	const struct emit_ops *ops = s->p->ops;
	uint64_t reach = ops->short_reach, best = UINT64_MAX;
	uint64_t low = from > reach ? from - reach : 0, run = 0;
	for (uint64_t va = low; va < from + reach + ops->jump_size; va++) {
		run = is_free_for_island(s, va) ? run + 1 : 0;
		uint64_t start = va + 1 - ops->jump_size;
		uint64_t distance = start > from ? start - from : from - start;
		uint8_t bytes[16];
		if (run >= ops->jump_size && distance < best &&
		    in_one_page(s->p, start, ops->jump_size) &&
		    ops->short_jump(bytes, from + s->p->r->bias, start + s->p->r->bias)) {
			best = distance;
			*island = start;
		}
	}
	return best != UINT64_MAX;
}

/* Whether a short jump has room at the arrival. */
static bool has_short_room(const struct springboard_plan *s, uint32_t i)
{
	const struct arrival *a = &s->arrivals[i];
	uint32_t size = s->p->ops->short_jump_size, block;
	if (!size || !in_one_page(s->p, a->va, size) ||
	    (i + 1 < s->count && s->arrivals[i + 1].va < a->va + size))
		return false;
	for (uint32_t k = 0; k < size; k++) {
		const uint8_t *byte = byte_at(s, a->va + k, &block);
		if (!byte || *byte == BYTE_KEPT ||
		    (block != a->host && !in_padding(s, block, a->va + k)))
			return false;
	}
	return true;
}

static bool place_by_island(struct springboard_plan *s, uint32_t i)
{
	const struct arrival *a = &s->arrivals[i];
	uint64_t island;
	if (!has_short_room(s, i) || !find_island(s, a->va, &island))
		return false;
	if (!add_jump(s, island, destination(s, a), JUMP_ISLAND, PHASE_DEAD) ||
	    !add_jump(s, a->va, island + s->p->r->bias, JUMP_TO_ISLAND, PHASE_DEAD))
		return false;
	mark(s, island, s->p->ops->jump_size, BYTE_TAKEN);
	set_placed(s, i);
	return true;
}

/* Places the springboards that stay in their own blocks, which do not depend on others. */
static void place_plain(struct springboard_plan *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (fit_at(s, i) == FIT_PLAIN)
			place_direct(s, i, FIT_PLAIN);
}

/* One round over the remaining arrivals. Islands are used only where a direct jump is impossible,
 * unless `desperate`. */
static bool place_round(struct springboard_plan *s, bool desperate)
{
	bool progress = false;
	label_blocks(s);
	for (uint32_t i = 0; i < s->count; i++) {
		if (s->placed[i])
			continue;
		enum fit fit = fit_at(s, i);
		if (fit == FIT_PLAIN || fit == FIT_DEAD)
			progress |= place_direct(s, i, fit);
		else if (fit == FIT_NOT || desperate)
			progress |= place_by_island(s, i);
	}
	return progress;
}

/* If a call is in the way of an arrival, lets moved code make that call, if that is allowed. */
static bool remove_call(struct springboard_plan *s, const struct arrival *a)
{
	uint32_t block;
	for (uint32_t k = 0; k < s->p->ops->jump_size; k++) {
		const uint8_t *byte = byte_at(s, a->va + k, &block);
		if (!byte || *byte != BYTE_KEPT || s->call_moved[block] || s->p->r->shadow_stack)
			continue;
		const struct body *b = body_of(s->p, block);
		const struct insn *last = &b->insns[b->count - 1];
		if (stays_in_place(last) && a->va + k >= last->pc - s->p->r->bias)
			return s->call_moved[block] = true;
	}
	return false;
}

static bool add_trap(struct springboard_plan *s, const struct arrival *a)
{
	const struct emit_ops *ops = s->p->ops;
	struct patch patch = {.va = a->va, .size = ops->trap_size, .trap = true};
	if (!original_bytes(s->p, a->va, patch.original, patch.size))
		return false;
	memcpy(patch.bytes, ops->trap, ops->trap_size);
	patch.to = destination(s, a);
	add_patch(s->p, &patch);
	return true;
}

/* Bytes that have to stay cannot hold the trap: moved code would return to it. */
static bool place_trap(struct springboard_plan *s, uint32_t i)
{
	const struct arrival *a = &s->arrivals[i];
	uint32_t block;
	const uint8_t *byte = byte_at(s, a->va, &block);
	if (!s->p->r->allow_traps || !byte || *byte == BYTE_KEPT || !add_trap(s, a))
		return false;
	set_placed(s, i);
	return true;
}

static void place_by_rounds(struct springboard_plan *s)
{
	for (uint32_t round = 0; round < MAX_ROUNDS; round++)
		if (!place_round(s, false) && !place_round(s, true))
			break;
}

/* An arrival for which a jump is impossible, if there is one, else any. The entry is taken last. */
static uint32_t choose_for_trap(const struct springboard_plan *s)
{
	uint32_t chosen = NO_ARRIVAL;
	for (uint32_t i = s->count; i-- > 0;) {
		if (s->placed[i])
			continue;
		if (fit_at(s, i) == FIT_NOT && !has_short_room(s, i))
			return i;
		chosen = chosen == NO_ARRIVAL ? i : chosen;
	}
	return chosen;
}

/* Places the remaining ones as traps. Each trap may make room for jumps. */
static enum refusal place_rest(struct springboard_plan *s, bool *retry)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (!s->placed[i])
			*retry |= remove_call(s, &s->arrivals[i]);
	if (*retry)
		return REFUSED_NO_ROOM;
	for (uint32_t i; (i = choose_for_trap(s)) != NO_ARRIVAL;) {
		if (!place_trap(s, i))
			return REFUSED_NO_ROOM;
		if (!s->p->r->trap_all)
			place_by_rounds(s);
	}
	return REFUSED_NONE;
}

/* For architectures where each springboard replaces one instruction; and for tests with traps
 * only. */
static enum refusal place_each(struct springboard_plan *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct arrival *a = &s->arrivals[i];
		if (s->p->r->trap_all
			    ? !add_trap(s, a)
			    : !add_jump(s, a->va, destination(s, a), JUMP_DIRECT, PHASE_PLAIN))
			return REFUSED_BAD_CODE;
	}
	return REFUSED_NONE;
}

static bool all_in_reach(const struct springboard_plan *s)
{
	uint8_t bytes[16];
	for (uint32_t i = 0; i < s->count; i++)
		if (!s->p->ops->jump(bytes, s->arrivals[i].va + s->p->r->bias,
				     destination(s, &s->arrivals[i])))
			return false;
	return true;
}

enum refusal place_springboards(struct plan *p, const struct arrival *arrivals, uint32_t count,
				bool *call_moved, bool *retry)
{
	struct springboard_plan s = {
		.p = p, .arrivals = arrivals, .count = count, .call_moved = call_moved};
	if (!all_in_reach(&s))
		return REFUSED_OUT_OF_REACH;
	if (p->ops->jump_size <= p->arch->insn_align)
		return place_each(&s);
	map_bytes(&s);
	if (!p->r->trap_all) {
		place_plain(&s);
		place_by_rounds(&s);
	}
	return place_rest(&s, retry);
}
