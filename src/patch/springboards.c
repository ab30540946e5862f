/* The patches that lead into relocated code.
 *
 * Where an instruction is as large as a jump, each takes one instruction's place. On x86-64 a jump
 * has five bytes, and blocks may have less. After relocation the original code is dead, but for
 * calls, traps and system calls executed in place, the landing instructions before a springboard,
 * and the springboards. So one of them may
 *
 *	stay within its block, or run over padding behind it     PHASE_PLAIN
 *	run over the beginning of other blocks                   PHASE_DEAD
 *	be two bytes, a short jump to an island: a jump in padding or dead code nearby
 *
 * All this happens to a program that may be let go on after each single write. As long as one
 * springboard is missing, control that arrives there goes on in the original code, and may get to
 * whatever that leads to. So each block is labelled with the arrivals that still lead to it. Its
 * bytes may be overwritten if there is none; by the springboard of an arrival also if that is the
 * only one, for control is sent away there from then on. Each springboard that is placed takes its
 * label away, which makes room for others; rounds of this go on until all are in, or none can be.
 */
#include "patch/plan.h"

#include <string.h>

enum { NOBODY = UINT32_MAX, SEVERAL = UINT32_MAX - 1, PADDING_MAX = 32, ROUNDS_MAX = 64 };

enum byte_use { BYTE_FREE, BYTE_KEPT, BYTE_TAKEN };

struct ground {
	struct plan *p;
	const struct arrival *arrivals;
	uint32_t count;
	bool *made;
	bool *placed;       /* of each arrival */
	bool *sends_away;   /* of each block: a springboard stands at its beginning */
	uint32_t *leads_to; /* of each block: an arrival, NOBODY or SEVERAL */
	uint32_t *work;
	/* Of each block, where its bytes are in `use`, and the padding behind it. */
	uint32_t *first_byte;
	uint8_t *padding;
	uint8_t *use; /* enum byte_use */
};

static uint32_t extent(const struct ground *s, uint32_t block)
{
	return s->p->g->blocks[block].size + s->padding[block];
}

/* The byte at va; *block has it. NULL if it belongs to no block and no padding of one. */
static uint8_t *byte_at(const struct ground *s, uint64_t va, uint32_t *block)
{
	const struct cfg *g = s->p->g;
	uint32_t low = 0, high = g->block_count;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (g->blocks[mid].start <= va)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || va - g->blocks[low - 1].start >= extent(s, low - 1))
		return NULL;
	*block = low - 1;
	return &s->use[s->first_byte[low - 1] + (va - g->blocks[low - 1].start)];
}

static bool in_padding(const struct ground *s, uint32_t block, uint64_t va)
{
	return va - s->p->g->blocks[block].start >= s->p->g->blocks[block].size;
}

static void mark(const struct ground *s, uint64_t va, uint32_t size, enum byte_use use)
{
	uint32_t block;
	for (uint32_t i = 0; i < size; i++) {
		uint8_t *byte = byte_at(s, va + i, &block);
		if (byte)
			*byte = (uint8_t)use;
	}
}

/* What is kept stays so: a call may begin right behind the first byte of its procedure. */
static void reserve(const struct ground *s, uint64_t va, uint32_t size)
{
	uint32_t block;
	for (uint32_t i = 0; i < size; i++) {
		uint8_t *byte = byte_at(s, va + i, &block);
		if (byte && *byte == BYTE_FREE)
			*byte = BYTE_TAKEN;
	}
}

static void keep_instructions(struct ground *s, uint32_t block)
{
	const struct body *b = body_of(s->p, block);
	for (uint32_t i = 0; i < b->count; i++) {
		const struct insn *in = &b->insns[i];
		if (in->kind == INSN_SYSCALL || (stays_in_place(in) && !s->made[block]))
			mark(s, in->pc - s->p->r->bias, in->length, BYTE_KEPT);
	}
}

/* A landing instruction before a springboard, and the least that each springboard needs. */
static void keep_arrivals(struct ground *s)
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

static void survey(struct ground *s)
{
	const struct cfg *g = s->p->g;
	struct arena *tmp = s->p->tmp;
	uint64_t bytes = 0;
	s->first_byte = ARENA_ARRAY(tmp, uint32_t, g->block_count);
	s->padding = ARENA_ARRAY(tmp, uint8_t, g->block_count);
	s->placed = ARENA_ARRAY(tmp, bool, s->count);
	s->sends_away = ARENA_ARRAY(tmp, bool, g->block_count);
	s->leads_to = ARENA_ARRAY(tmp, uint32_t, g->block_count);
	s->work = ARENA_ARRAY(tmp, uint32_t, 2 * (size_t)g->block_count);
	for (uint32_t i = 0; i < g->block_count; i++) {
		uint64_t end = g->blocks[i].start + g->blocks[i].size;
		if (i + 1 == g->block_count || g->blocks[i + 1].start != end)
			s->padding[i] = (uint8_t)padding_behind(s->p, end, PADDING_MAX);
		s->first_byte[i] = (uint32_t)bytes;
		bytes += extent(s, i);
	}
	s->use = ARENA_ARRAY(tmp, uint8_t, bytes);
	for (uint32_t i = 0; i < g->block_count; i++)
		keep_instructions(s, i);
	keep_arrivals(s);
}

static bool add_label(const struct ground *s, uint32_t block, uint32_t label)
{
	uint32_t *at = &s->leads_to[block];
	if (*at == label || *at == SEVERAL || label == NOBODY)
		return false;
	*at = *at == NOBODY ? label : (uint32_t)SEVERAL;
	return true;
}

/* Which arrivals without springboards lead to each block, in the original code. */
static void find_leads(struct ground *s)
{
	const struct cfg *g = s->p->g;
	uint32_t pending = 0;
	for (uint32_t i = 0; i < g->block_count; i++)
		s->leads_to[i] = NOBODY;
	for (uint32_t i = 0; i < s->count; i++)
		if (!s->placed[i])
			add_label(s, s->arrivals[i].host, i);
	for (uint32_t i = 0; i < g->block_count; i++)
		if (s->leads_to[i] != NOBODY)
			s->work[pending++] = i;
	while (pending) {
		uint32_t from = s->work[--pending];
		const struct block *b = &g->blocks[from];
		for (uint32_t i = b->first_edge; i < b->first_edge + b->edge_count; i++) {
			const struct edge *e = &g->edges[i];
			if (!is_external(e) && !s->sends_away[e->to] &&
			    add_label(s, e->to, s->leads_to[from]))
				s->work[pending++] = e->to;
		}
	}
}

enum jump_kind { JUMP_DIRECT, JUMP_TO_ISLAND, JUMP_ISLAND };

static bool add_jump(struct ground *s, uint64_t va, uint64_t to, enum jump_kind kind,
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

static uint64_t destination(const struct ground *s, const struct arrival *a)
{
	return s->p->r->address + s->p->e.labels.data[a->label];
}

static void set_placed(struct ground *s, uint32_t i)
{
	const struct arrival *a = &s->arrivals[i];
	const struct block *host = &s->p->g->blocks[a->host];
	s->placed[i] = true;
	s->sends_away[a->host] |=
		a->va == host->start ||
		(a->host == a->block && a->gap == body_of(s->p, a->host)->landing);
}

/* What a springboard of full size at the arrival would overwrite. */
enum fit {
	FIT_NOT,   /* what has to stay */
	FIT_PLAIN, /* its own block only */
	FIT_DEAD,  /* dead blocks */
	FIT_LATER, /* blocks that are not dead yet */
};

static enum fit fit_at(const struct ground *s, uint32_t i)
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
		bool dead = s->leads_to[block] == NOBODY || s->leads_to[block] == i;
		fit = dead ? FIT_DEAD : FIT_LATER;
	}
	return fit;
}

static bool place_direct(struct ground *s, uint32_t i, enum fit fit)
{
	const struct arrival *a = &s->arrivals[i];
	enum patch_phase phase = fit == FIT_PLAIN ? PHASE_PLAIN : PHASE_DEAD;
	if (!add_jump(s, a->va, destination(s, a), JUMP_DIRECT, phase))
		return false;
	mark(s, a->va, s->p->ops->jump_size, BYTE_TAKEN);
	set_placed(s, i);
	return true;
}

/* Whether a byte may become a part of an island now. */
static bool is_ground(const struct ground *s, uint64_t va)
{
	uint32_t block;
	const uint8_t *byte = byte_at(s, va, &block);
	return byte && *byte == BYTE_FREE &&
	       (in_padding(s, block, va) || s->leads_to[block] == NOBODY);
}

static bool find_island(const struct ground *s, uint64_t from, uint64_t *island)
{
	const struct emit_ops *ops = s->p->ops;
	uint64_t reach = ops->short_reach, best = UINT64_MAX;
	uint64_t low = from > reach ? from - reach : 0, run = 0;
	for (uint64_t va = low; va < from + reach + ops->jump_size; va++) {
		run = is_ground(s, va) ? run + 1 : 0;
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

/* Whether even a short jump has room at the arrival. */
static bool has_short_room(const struct ground *s, uint32_t i)
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

static bool place_by_island(struct ground *s, uint32_t i)
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

/* Those that stay in their own blocks need nothing but that. */
static void place_plain(struct ground *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (fit_at(s, i) == FIT_PLAIN)
			place_direct(s, i, FIT_PLAIN);
}

/* One round over the others; islands only for those that have no other way, unless `desperate`. */
static bool place_round(struct ground *s, bool desperate)
{
	bool progress = false;
	find_leads(s);
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

/* A call in the way of an arrival is made by moved code, if that is allowed. */
static bool remove_call(struct ground *s, const struct arrival *a)
{
	uint32_t block;
	for (uint32_t k = 0; k < s->p->ops->jump_size; k++) {
		const uint8_t *byte = byte_at(s, a->va + k, &block);
		if (!byte || *byte != BYTE_KEPT || s->made[block] || s->p->r->shadow_stack)
			continue;
		const struct body *b = body_of(s->p, block);
		const struct insn *last = &b->insns[b->count - 1];
		if (stays_in_place(last) && a->va + k >= last->pc - s->p->r->bias)
			return s->made[block] = true;
	}
	return false;
}

static bool add_trap(struct ground *s, const struct arrival *a)
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

/* Not on what has to stay: moved code would come back to the trap. */
static bool place_trap(struct ground *s, uint32_t i)
{
	const struct arrival *a = &s->arrivals[i];
	uint32_t block;
	const uint8_t *byte = byte_at(s, a->va, &block);
	if (!s->p->r->allow_traps || !byte || *byte == BYTE_KEPT || !add_trap(s, a))
		return false;
	set_placed(s, i);
	return true;
}

static void place_by_rounds(struct ground *s)
{
	for (uint32_t round = 0; round < ROUNDS_MAX; round++)
		if (!place_round(s, false) && !place_round(s, true))
			break;
}

/* One that has no hope of a jump, if there is one; the entry last. */
static uint32_t choose_for_trap(const struct ground *s)
{
	uint32_t chosen = NOBODY;
	for (uint32_t i = s->count; i-- > 0;) {
		if (s->placed[i])
			continue;
		if (fit_at(s, i) == FIT_NOT && !has_short_room(s, i))
			return i;
		chosen = chosen == NOBODY ? i : chosen;
	}
	return chosen;
}

/* Each trap may make room for jumps. */
static enum refusal place_rest(struct ground *s, bool *again)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (!s->placed[i])
			*again |= remove_call(s, &s->arrivals[i]);
	if (*again)
		return REFUSED_NO_ROOM;
	for (uint32_t i; (i = choose_for_trap(s)) != NOBODY;) {
		if (!place_trap(s, i))
			return REFUSED_NO_ROOM;
		if (!s->p->r->trap_all)
			place_by_rounds(s);
	}
	return REFUSED_NONE;
}

/* Where each takes the place of one instruction; or for tests, with traps only. */
static enum refusal place_each(struct ground *s)
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

static bool all_in_reach(const struct ground *s)
{
	uint8_t bytes[16];
	for (uint32_t i = 0; i < s->count; i++)
		if (!s->p->ops->jump(bytes, s->arrivals[i].va + s->p->r->bias,
				     destination(s, &s->arrivals[i])))
			return false;
	return true;
}

enum refusal place_springboards(struct plan *p, const struct arrival *arrivals, uint32_t count,
				bool *made, bool *again)
{
	struct ground s = {.p = p, .arrivals = arrivals, .count = count, .made = made};
	if (!all_in_reach(&s))
		return REFUSED_OUT_OF_REACH;
	if (p->ops->jump_size <= p->arch->insn_align)
		return place_each(&s);
	survey(&s);
	if (!p->r->trap_all) {
		place_plain(&s);
		place_by_rounds(&s);
	}
	return place_rest(&s, again);
}
