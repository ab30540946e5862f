#include "flow/value.h"

#include <string.h>

#include "base/hashmap.h"
#include "base/vec.h"

/* Limits that real code does not reach. They bound the time that one unknown value takes in hostile
 * code. */
enum {
	MAX_DEPTH = 80,           /* of the recursion */
	MAX_PREDECESSORS = 64,    /* edges into a block that are compared */
	MAX_STORE_BLOCKS = 50000, /* of a function that is searched as a whole */
	ADDRESS_BUDGET = 4000,    /* of slicer.budget, for the address of one load */
	SHIFT_LIMIT = 16,         /* address arithmetic shifts by less */
};

/* The only instruction that stores into a stack slot; meaningless if there are `several`. */
struct slot_store {
	uint32_t block, index;
	bool several;
};

/* The one address that all blocks which set the register to an address agree on. */
struct only_value {
	const struct expr *x; /* NULL if there is none */
	bool known;
};

/* An assumption about a loop. While value `origin` was being computed, value `reader` was asked
 * for, and one edge led back to `origin`. That edge was skipped: on it, `reader` is whatever
 * `origin` turns out to be. So the result for `reader` is right only if the two are equal, which is
 * checked when `origin` is known (is_contradicted()). */
struct skip {
	uint32_t reader, origin;
	bool indirect; /* the skipped edge belongs to another value that equals `reader` */
};

/* When the value was computed as `own`, it turned out to be the same as `other`, which was being
 * computed. It need not be computed again while `other` still is: a loop full of branches has very
 * many paths that lead to no definition. */
struct alias {
	const struct expr *own, *other;
};

/* Values at the start of blocks. EXPR_PENDING marks a value that is being computed; NULL one that
 * has to be computed, perhaps again. */
struct value_memo {
	struct hashmap index;
	VEC(const struct expr *) values;
	VEC(struct alias) aliases; /* one for each value */
	VEC(uint32_t) filled; /* numbers of the values, in the order in which they were computed */
	VEC(struct skip) skips;
	unsigned depth;
	struct hashmap slots; /* slot_key -> index in stores */
	VEC(struct slot_store) stores;
	bool stores_listed;
	struct only_value only[32]; /* for each general register */
};

void slicer_init(struct slicer *s)
{
	s->decoded = ARENA_ARRAY(s->tmp, const struct insn *, s->g->block_count);
	s->memo = xcalloc(1, sizeof(*s->memo));
}

void slicer_release(struct slicer *s)
{
	hashmap_release(&s->memo->index);
	hashmap_release(&s->memo->slots);
	vec_free(&s->memo->values);
	vec_free(&s->memo->aliases);
	vec_free(&s->memo->filled);
	vec_free(&s->memo->skips);
	vec_free(&s->memo->stores);
	free(s->memo);
}

const struct insn *slicer_insns(struct slicer *s, uint32_t block)
{
	if (s->decoded[block])
		return s->decoded[block];
	const struct block *b = &s->g->blocks[block];
	const uint8_t *bytes = s->bytes_at(s->ctx, b->start, b->size);
	struct insn *insns = ARENA_ARRAY(s->tmp, struct insn, b->insn_count);
	uint64_t at = 0;
	for (uint32_t i = 0; i < b->insn_count && at < b->size; i++)
		at += s->arch->decode(bytes + at, b->size - at, b->start + at, DECODE_FULL,
				      &insns[i]);
	s->decoded[block] = insns;
	s->budget -= s->budget < b->insn_count ? s->budget : b->insn_count;
	return insns;
}

static const struct expr *make(struct slicer *s, struct expr e)
{
	return memcpy(ARENA_NEW(s->tmp, struct expr), &e, sizeof(e));
}

static const struct expr *constant(struct slicer *s, int64_t k)
{
	return make(s, (struct expr){.kind = EXPR_CONST, .k = k});
}

static const struct expr *unknown(struct slicer *s, uint64_t site, unsigned reg)
{
	return make(s, (struct expr){.kind = EXPR_UNKNOWN, .site = site, .reg = (uint8_t)reg});
}

static int64_t extended(int64_t v, unsigned extend)
{
	switch (extend) {
	case EXTEND_U8: return (uint8_t)v;
	case EXTEND_U16: return (uint16_t)v;
	case EXTEND_U32: return (uint32_t)v;
	case EXTEND_S8: return (int8_t)v;
	case EXTEND_S16: return (int16_t)v;
	case EXTEND_S32: return (int32_t)v;
	default: return v;
	}
}

static const struct expr *extend(struct slicer *s, const struct expr *x, unsigned how)
{
	if (how == EXTEND_NONE || (x->kind == EXPR_EXTEND && x->extend == how))
		return x;
	if (x->kind == EXPR_CONST)
		return constant(s, extended(x->k, how));
	return make(s, (struct expr){.kind = EXPR_EXTEND, .x = x, .extend = (uint8_t)how});
}

static const struct expr *shift_left(struct slicer *s, const struct expr *x, int64_t k)
{
	if (!k)
		return x;
	if (x->kind == EXPR_CONST)
		return constant(s, (int64_t)((uint64_t)x->k << (k & 63)));
	return make(s, (struct expr){.kind = EXPR_SHL, .x = x, .k = k});
}

static const struct expr *add(struct slicer *s, const struct expr *x, const struct expr *y)
{
	if (x->kind == EXPR_CONST && y->kind == EXPR_CONST)
		return constant(s, (int64_t)((uint64_t)x->k + (uint64_t)y->k));
	if (x->kind == EXPR_CONST && !x->k)
		return y;
	if (y->kind == EXPR_CONST && !y->k)
		return x;
	return make(s, (struct expr){.kind = EXPR_ADD, .x = x, .y = y});
}

static const struct expr *value_of_insn(struct slicer *s, uint32_t block, uint32_t i, unsigned reg);
static const struct expr *value_at_start(struct slicer *s, uint32_t block, unsigned reg,
					 const struct expr *slot);

const struct expr *value_of_register(struct slicer *s, uint32_t block, uint32_t before,
				     unsigned reg)
{
	if (reg == REG_NONE)
		return constant(s, 0);
	const struct insn *insns = slicer_insns(s, block);
	while (before-- > 0)
		if (regset_has(&insns[before].writes, reg))
			return value_of_insn(s, block, before, reg);
	return value_at_start(s, block, reg, NULL);
}

/* The address that a load, store, or jump or call through memory accesses. */
static const struct expr *value_of_address(struct slicer *s, uint32_t block, uint32_t index)
{
	const struct insn *in = &slicer_insns(s, block)[index];
	const struct expr *base = value_of_register(s, block, index, in->a), *x = constant(s, 0);
	if (in->b != REG_NONE)
		x = shift_left(s, extend(s, value_of_register(s, block, index, in->b), in->extend),
			       in->shift);
	return add(s, add(s, base, x), constant(s, in->writeback == WRITEBACK_POST ? 0 : in->imm));
}

/* Whether the memory operand is a plain stack slot, as those are that registers are spilled to. */
static bool is_slot(const struct slicer *s, const struct insn *in)
{
	return in->b == REG_NONE && in->writeback == WRITEBACK_NONE &&
	       (in->a == s->arch->sp || in->a == s->arch->fp);
}

/* The register that `in` stores into the whole slot; REG_NONE if it stores none. */
static unsigned stored_in_slot(const struct insn *in, const struct expr *slot)
{
	if (in->a != slot->reg || in->b != REG_NONE || in->width < slot->width ||
	    in->writeback != WRITEBACK_NONE)
		return REG_NONE;
	if (in->op == OP_STORE && in->imm == slot->k)
		return in->dst;
	if (in->op == OP_STORE_PAIR && in->imm == slot->k)
		return in->dst;
	if (in->op == OP_STORE_PAIR && in->imm + in->width == slot->k)
		return in->dst2;
	return REG_NONE;
}

static uint64_t slot_key(unsigned reg, int64_t k)
{
	return (uint64_t)k << 8 ^ reg;
}

static void list_store(struct value_memo *m, unsigned reg, int64_t k, uint32_t block,
		       uint32_t index)
{
	uint32_t at = hashmap_add(&m->slots, slot_key(reg, k), m->stores.len);
	if (at == m->stores.len)
		vec_push(&m->stores, (struct slot_store){.block = block, .index = index});
	else
		m->stores.data[at].several = true;
}

/* Whether storing `reg` only saves it for the caller. Prologues do this before the frame has its
 * final size, so the same offset means another slot later. */
static bool is_save(const struct slicer *s, unsigned reg, uint64_t written)
{
	return reg < 32 && regset_has(&s->arch->callee_saved, reg) && !(written >> reg & 1);
}

static void list_block_stores(struct slicer *s, uint32_t block)
{
	const struct insn *insns = slicer_insns(s, block);
	uint64_t written = 0;
	for (uint32_t i = 0; i < s->g->blocks[block].insn_count; i++) {
		const struct insn *in = &insns[i];
		bool pair = in->op == OP_STORE_PAIR;
		if ((pair || in->op == OP_STORE) && is_slot(s, in)) {
			if (!is_save(s, in->dst, written))
				list_store(s->memo, in->a, in->imm, block, i);
			if (pair && !is_save(s, in->dst2, written))
				list_store(s->memo, in->a, in->imm + in->width, block, i);
		}
		written |= in->writes.core;
	}
}

/* Notes for every stack slot of the function which instruction stores into it. */
static void list_stores(struct slicer *s)
{
	s->memo->stores_listed = true;
	for (uint32_t b = 0; b < s->g->block_count; b++)
		list_block_stores(s, b);
}

/* The contents of a slot that only one instruction of the whole function stores into: a value that
 * the compiler spilled, such as the address of a jump table. NULL if there is no such instruction.
 */
static const struct expr *value_of_only_store(struct slicer *s, const struct expr *slot)
{
	if (s->g->block_count > MAX_STORE_BLOCKS || s->memo->depth >= MAX_DEPTH)
		return NULL;
	if (!s->memo->stores_listed)
		list_stores(s);
	uint32_t at = hashmap_get(&s->memo->slots, slot_key(slot->reg, slot->k));
	if (at == HASHMAP_NONE || s->memo->stores.data[at].several)
		return NULL;
	const struct slot_store *store = &s->memo->stores.data[at];
	unsigned reg = stored_in_slot(&slicer_insns(s, store->block)[store->index], slot);
	if (reg == REG_NONE)
		return NULL;
	s->memo->depth++;
	const struct expr *x = value_of_register(s, store->block, store->index, reg);
	s->memo->depth--;
	return x;
}

/* The contents of the slot before instruction `before`: what was last stored there. */
static const struct expr *value_of_slot(struct slicer *s, uint32_t block, uint32_t before,
					const struct expr *slot)
{
	const struct insn *insns = slicer_insns(s, block);
	while (before-- > 0) {
		unsigned reg = stored_in_slot(&insns[before], slot);
		if (reg != REG_NONE)
			return value_of_register(s, block, before, reg);
		if (regset_has(&insns[before].writes, slot->reg)) {
			struct expr left = *slot;
			left.site = insns[before].pc;
			return make(s, left);
		}
	}
	const struct expr *only = value_of_only_store(s, slot);
	return only ? only : value_at_start(s, block, slot->reg, slot);
}

static unsigned load_extend(const struct insn *in)
{
	bool is_signed = in->flags & INSN_SIGNED;
	switch (in->width) {
	case 1: return is_signed ? EXTEND_S8 : EXTEND_U8;
	case 2: return is_signed ? EXTEND_S16 : EXTEND_U16;
	case 4: return is_signed ? EXTEND_S32 : EXTEND_U32;
	default: return EXTEND_NONE;
	}
}

const struct expr *value_of_memory(struct slicer *s, uint32_t block, uint32_t index)
{
	const struct insn *in = &slicer_insns(s, block)[index];
	unsigned how = load_extend(in);
	if (is_slot(s, in)) {
		struct expr slot = {
			.kind = EXPR_SLOT, .reg = in->a, .width = in->width, .k = in->imm};
		return extend(s, value_of_slot(s, block, index, make(s, slot)), how);
	}
	/* Few loads are from jump tables, so not the whole budget is spent on one address. */
	uint32_t before = s->budget, most = before < ADDRESS_BUDGET ? before : ADDRESS_BUDGET;
	s->budget = most;
	const struct expr *at = value_of_address(s, block, index);
	s->budget = before - (most - s->budget);
	return make(s, (struct expr){.kind = EXPR_LOAD,
				     .x = at,
				     .width = in->width,
				     .extend = (uint8_t)how,
				     .site = in->pc});
}

/* A 32-bit operation clears the upper half of its register. */
static const struct expr *narrowed(struct slicer *s, const struct expr *x, const struct insn *in)
{
	return in->width == 4 ? extend(s, x, EXTEND_U32) : x;
}

/* The constant that `in` adds to `reg` as a side effect, as a push or a load with write-back does;
 * 0 if none. */
static int64_t moves_by(const struct slicer *s, const struct insn *in, unsigned reg)
{
	if (reg == s->arch->sp && in->stack_known)
		return in->stack;
	return in->writeback != WRITEBACK_NONE && in->a == reg ? in->imm : 0;
}

static const struct expr *value_computed(struct slicer *s, uint32_t block, uint32_t i)
{
	const struct insn *in = &slicer_insns(s, block)[i];
	const struct expr *x;
	switch (in->op) {
	case OP_SET: return constant(s, in->imm);
	case OP_MOVE: return extend(s, value_of_register(s, block, i, in->a), in->extend);
	case OP_ADD: return narrowed(s, value_of_address(s, block, i), in);
	case OP_AND:
		x = value_of_register(s, block, i, in->a);
		return make(s, (struct expr){.kind = EXPR_AND, .x = x, .k = in->imm});
	case OP_SHIFT_LEFT:
		x = value_of_register(s, block, i, in->a);
		return narrowed(s, shift_left(s, x, in->imm), in);
	case OP_SHIFT_RIGHT:
		x = value_of_register(s, block, i, in->a);
		return make(s, (struct expr){
				       .kind = EXPR_SHR, .x = x, .k = in->imm, .width = in->width});
	case OP_LOAD: return value_of_memory(s, block, i);
	default: return unknown(s, in->pc, in->dst);
	}
}

/* The value that instruction i of the block leaves in `reg`, which it writes. */
static const struct expr *value_of_insn(struct slicer *s, uint32_t block, uint32_t i, unsigned reg)
{
	const struct insn *in = &slicer_insns(s, block)[i];
	const struct expr *x;
	int64_t moved = moves_by(s, in, reg);
	if (s->memo->depth >= MAX_DEPTH || (!moved && in->dst != reg))
		return unknown(s, in->pc, reg);
	s->memo->depth++;
	if (moved)
		x = add(s, value_of_register(s, block, i, reg), constant(s, moved));
	else
		x = value_computed(s, block, i);
	s->memo->depth--;
	return x;
}

/* Whether a register keeps its value over the call that ends this block. */
static bool survives(const struct slicer *s, const struct block *b, unsigned reg)
{
	if (b->end != END_CALL && b->end != END_CALL_INDIRECT)
		return true;
	return reg == s->arch->sp || regset_has(&s->arch->callee_saved, reg);
}

static const struct expr *value_at_end(struct slicer *s, uint32_t block, unsigned reg,
				       const struct expr *slot)
{
	const struct block *b = &s->g->blocks[block];
	if (slot)
		return value_of_slot(s, block, b->insn_count, slot);
	if (!survives(s, b, reg))
		return unknown(s, b->start + b->size, reg);
	return value_of_register(s, block, b->insn_count, reg);
}

/* Whether the instruction only restores the caller's register, as epilogues do. */
static bool is_restore(const struct slicer *s, const struct insn *in)
{
	return in->op == OP_POP ||
	       ((in->op == OP_LOAD || in->op == OP_LOAD_PAIR) && in->a == s->arch->sp);
}

/* The last instruction of the block that sets `reg`; UINT32_MAX if there is none, or if it only
 * restores the caller's value. */
static uint32_t last_definition(struct slicer *s, uint32_t block, unsigned reg)
{
	const struct insn *insns = slicer_insns(s, block);
	for (uint32_t i = s->g->blocks[block].insn_count; i-- > 0;)
		if (regset_has(&insns[i].writes, reg))
			return is_restore(s, &insns[i]) ? UINT32_MAX : i;
	return UINT32_MAX;
}

/* The one address that blocks leave in `reg`, whatever else they do with it. Where a function has
 * too many paths to follow, this is likely the address of a jump table, or of the code that its
 * entries are relative to, kept in a register. If the guess is wrong, the table read with it will
 * not make sense. */
static const struct expr *find_only_value(struct slicer *s, unsigned reg)
{
	const struct expr *only = NULL;
	for (uint32_t b = 0; b < s->g->block_count; b++) {
		uint32_t i = last_definition(s, b, reg);
		if (i == UINT32_MAX)
			continue;
		const struct expr *x = value_of_insn(s, b, i, reg);
		if (x->kind != EXPR_CONST || !s->is_address(s->ctx, (uint64_t)x->k))
			continue;
		if (only && only->k != x->k)
			return NULL;
		only = x;
	}
	return only;
}

static const struct expr *only_value_of(struct slicer *s, unsigned reg)
{
	if (reg >= 32 || s->g->block_count > MAX_STORE_BLOCKS)
		return NULL;
	struct only_value *only = &s->memo->only[reg];
	if (!only->known) {
		unsigned depth = s->memo->depth;
		only->known = true;
		s->memo->depth = 0; /* the answer must not depend on the caller */
		only->x = find_only_value(s, reg);
		s->memo->depth = depth;
	}
	return only->x;
}

/* The value if the edges into a block disagree, or are too many to look at. */
static const struct expr *disagreement(struct slicer *s, uint32_t block, unsigned reg,
				       const struct expr *slot)
{
	if (slot) {
		struct expr here = *slot;
		here.site = s->g->blocks[block].start;
		return make(s, here);
	}
	const struct expr *only = s->assume_addresses ? only_value_of(s, reg) : NULL;
	return only ? only
		    : make(s, (struct expr){.kind = EXPR_PHI, .reg = (uint8_t)reg, .k = block});
}

/* Looks at value number `at` on all edges into the block. *common is the value that they agree on;
 * NULL if all of them lead back to values that are being computed, of which *origin is one other
 * than `at`. False if they disagree. */
static bool agree_on_edges(struct slicer *s, uint32_t block, unsigned reg, const struct expr *slot,
			   uint32_t at, const struct expr **common, const struct expr **origin)
{
	const struct cfg *g = s->g;
	for (uint32_t i = g->first_pred[block]; i < g->first_pred[block + 1]; i++) {
		const struct expr *x = value_at_end(s, g->edges[g->pred_edges[i]].from, reg, slot);
		if (x->kind != EXPR_PENDING) {
			if (*common && !expr_equal(*common, x))
				return false;
			*common = x;
		} else if (x->k != at) {
			vec_push(&s->memo->skips, (struct skip){at, (uint32_t)x->k, false});
			*origin = x;
		}
	}
	return true;
}

/* Drops the assumptions of a value that turned out to depend on the path: it is right, whatever the
 * value is on the skipped edges. */
static void drop_skips(struct value_memo *m, uint32_t from, uint32_t reader)
{
	uint32_t kept = from;
	for (uint32_t i = from; i < m->skips.len; i++)
		if (m->skips.data[i].reader != reader || m->skips.data[i].indirect)
			m->skips.data[kept++] = m->skips.data[i];
	m->skips.len = kept;
}

/* The value that all edges into the block agree on. An edge that leads around a loop back to here
 * adds nothing. */
static const struct expr *join(struct slicer *s, uint32_t block, unsigned reg,
			       const struct expr *slot, uint32_t at)
{
	const struct expr *common = NULL, *origin = s->memo->values.data[at];
	uint32_t edges = s->g->first_pred[block + 1] - s->g->first_pred[block];
	uint32_t skips = s->memo->skips.len;
	if (!edges && !slot)
		return make(s, (struct expr){.kind = EXPR_PHI, .reg = (uint8_t)reg, .k = block});
	if (!edges || edges > MAX_PREDECESSORS || s->memo->depth >= MAX_DEPTH || !s->budget)
		return disagreement(s, block, reg, slot);
	s->budget--;
	s->memo->depth++;
	bool agree = agree_on_edges(s, block, reg, slot, at, &common, &origin);
	s->memo->depth--;
	if (agree)
		return common ? common : origin;
	drop_skips(s->memo, skips, at);
	return disagreement(s, block, reg, slot);
}

/* Value number `at` turned out to be the same as x, which is being computed: assumptions about `at`
 * become assumptions about x. */
static void rename_skips(struct value_memo *m, uint32_t from, uint32_t at, const struct expr *x)
{
	uint32_t kept = from;
	for (uint32_t i = from; i < m->skips.len; i++) {
		struct skip k = m->skips.data[i];
		k.indirect |= k.reader == at;
		k.reader = k.reader == at ? (uint32_t)x->k : k.reader;
		k.origin = k.origin == at ? (uint32_t)x->k : k.origin;
		if (k.reader != k.origin)
			m->skips.data[kept++] = k;
	}
	m->skips.len = kept;
}

/* Value number `at` is now known to be x. Whether one of the values that were assumed to equal it
 * is different. */
static bool is_contradicted(struct value_memo *m, uint32_t from, uint32_t at, const struct expr *x)
{
	bool wrong = false;
	uint32_t kept = from;
	for (uint32_t i = from; i < m->skips.len; i++) {
		struct skip k = m->skips.data[i];
		bool mine = k.reader == at || k.origin == at;
		const struct expr *y = m->values.data[k.reader == at ? k.origin : k.reader];
		if (mine && y && y->kind != EXPR_PENDING)
			wrong |= !expr_equal(x, y);
		else
			m->skips.data[kept++] = k;
	}
	m->skips.len = kept;
	return wrong;
}

/* Drops all values that were computed since then, and their assumptions. */
static void forget(struct value_memo *m, uint32_t filled, uint32_t skips)
{
	while (m->filled.len > filled) {
		uint32_t at = vec_pop(&m->filled);
		m->values.data[at] = NULL;
		m->aliases.data[at] = (struct alias){0};
	}
	m->skips.len = skips;
}

/* What is known of value number `at`: the value, or one that is being computed and equals it; NULL
 * if it has to be computed. */
static const struct expr *recall(const struct value_memo *m, uint32_t at)
{
	const struct expr *x = m->values.data[at];
	if (x)
		return x;
	x = m->aliases.data[at].other;
	while (x && m->values.data[x->k] != x) {
		const struct alias *next = &m->aliases.data[x->k];
		x = next->own == x ? next->other : NULL;
	}
	return x;
}

static const struct expr *value_at_start(struct slicer *s, uint32_t block, unsigned reg,
					 const struct expr *slot)
{
	struct value_memo *m = s->memo;
	uint64_t key = (uint64_t)block << 8 | reg;
	if (slot)
		key = hash_bytes(&slot->k, sizeof(slot->k), key << 8 | slot->width | 1u << 7);
	uint32_t at = hashmap_add(&m->index, key, m->values.len);
	uint32_t filled = m->filled.len, skips = m->skips.len;
	if (at == m->values.len) {
		vec_push(&m->values, NULL);
		vec_push(&m->aliases, (struct alias){0});
	}
	const struct expr *x = recall(m, at), *own;
	if (x)
		return x;
	m->values.data[at] = own = make(s, (struct expr){.kind = EXPR_PENDING, .k = at});
	x = join(s, block, reg, slot, at);
	if (x->kind == EXPR_PENDING) {
		rename_skips(m, skips, at, x);
		m->aliases.data[at] = (struct alias){own, x == own ? NULL : x};
	} else if (is_contradicted(m, skips, at, x)) {
		forget(m, filled, skips);
		x = disagreement(s, block, reg, slot);
	}
	/* An answer found without budget is not kept: not all of the code was looked at. */
	m->values.data[at] = x->kind == EXPR_PENDING || !s->budget ? NULL : x;
	vec_push(&m->filled, at);
	return x;
}

bool expr_equal(const struct expr *x, const struct expr *y)
{
	if (x == y)
		return !x || x->kind != EXPR_PENDING;
	if (!x || !y || x->kind != y->kind || x->k != y->k || x->extend != y->extend ||
	    x->width != y->width)
		return false;
	switch (x->kind) {
	case EXPR_CONST: return true;
	case EXPR_UNKNOWN:
	case EXPR_SLOT: return x->site == y->site && x->reg == y->reg;
	case EXPR_PHI: return x->reg == y->reg;
	case EXPR_PENDING: return false;
	case EXPR_LOAD: return x->site == y->site || expr_equal(x->x, y->x);
	default: return expr_equal(x->x, y->x) && expr_equal(x->y, y->y);
	}
}

const struct expr *expr_strip(const struct expr *x)
{
	while (x->kind == EXPR_EXTEND)
		x = x->x;
	return x;
}

static bool add_terms(const struct expr *x, unsigned shift, struct sum *out)
{
	if (x->kind == EXPR_CONST) {
		out->constant += (int64_t)((uint64_t)x->k << shift);
		return true;
	}
	if (x->kind == EXPR_ADD)
		return add_terms(x->x, shift, out) && add_terms(x->y, shift, out);
	if (x->kind == EXPR_SHL && shift + (uint64_t)x->k < SHIFT_LIMIT)
		return add_terms(x->x, shift + (unsigned)x->k, out);
	if (out->count == SUM_TERMS)
		return false;
	out->terms[out->count].x = x;
	out->terms[out->count++].shift = (uint8_t)shift;
	return true;
}

bool expr_sum(const struct expr *x, struct sum *out)
{
	*out = (struct sum){0};
	return add_terms(x, 0, out);
}
