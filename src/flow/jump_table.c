#include "flow/jump_table.h"

#include <string.h>

#include "base/log.h"

enum { MAX_ENTRIES = 1 << 17, MAX_GUARD_BLOCKS = 200 };

/* The parts of base + (extend(load(table + index * size)) << shift). */
struct form {
	uint64_t base, table;
	const struct expr *index, *entry; /* entry: the load, with the extensions around it */
	uint8_t size, shift;
};

/* The load inside an entry, through its extensions; NULL if there is none. */
static const struct expr *load_in(const struct expr *entry)
{
	entry = expr_strip(entry);
	return entry->kind == EXPR_LOAD ? entry : NULL;
}

static bool match_form(const struct expr *target, struct form *f)
{
	struct sum sum, at;
	if (!expr_sum(target, &sum) || sum.count != 1)
		return false;
	const struct expr *load = load_in(sum.terms[0].x);
	if (!load || !expr_sum(load->x, &at) || at.count != 1 || !at.constant)
		return false;
	if (1u << at.terms[0].shift != load->width)
		return false;
	*f = (struct form){
		.base = (uint64_t)sum.constant,
		.table = (uint64_t)at.constant,
		.index = at.terms[0].x,
		.entry = sum.terms[0].x,
		.size = load->width,
		.shift = sum.terms[0].shift,
	};
	return true;
}

static uint64_t apply_extends(const struct expr *entry, uint64_t raw)
{
	if (entry->kind == EXPR_EXTEND)
		raw = apply_extends(entry->x, raw);
	switch (entry->extend) {
	case EXTEND_U8: return (uint8_t)raw;
	case EXTEND_U16: return (uint16_t)raw;
	case EXTEND_U32: return (uint32_t)raw;
	case EXTEND_S8: return (uint64_t)(int8_t)raw;
	case EXTEND_S16: return (uint64_t)(int16_t)raw;
	case EXTEND_S32: return (uint64_t)(int32_t)raw;
	default: return raw;
	}
}

/* Target number i of the table; false if the image has no such entry. */
static bool read_target(const struct image *im, const struct form *f, uint32_t i, uint64_t *target)
{
	uint64_t va = f->table + (uint64_t)i * f->size, raw = 0;
	if (f->size == 8) {
		if (!image_word(im, va, &raw))
			return false;
	} else {
		size_t n;
		const uint8_t *p = image_at(im, va, &n);
		if (!p || n < f->size)
			return false;
		memcpy(&raw, p, f->size);
	}
	*target = f->base + (apply_extends(f->entry, raw) << f->shift);
	return true;
}

static bool in_ranges(const struct build_env *env, uint64_t va)
{
	for (uint32_t i = 0; i < env->range_count; i++)
		if (va >= env->ranges[i].start && va < env->ranges[i].end)
			return true;
	return false;
}

static bool is_target(const struct build_env *env, uint64_t va)
{
	return va % env->arch->insn_align == 0 && image_is_code(env->im, va);
}

/* How many values the index can have, by its own making; 0 if that does not limit it. */
static uint64_t bound_by_type(const struct expr *x)
{
	uint64_t inner;
	switch (x->kind) {
	case EXPR_CONST: return (uint64_t)x->k + 1;
	case EXPR_AND: return x->k > 0 && !(x->k & (x->k + 1)) ? (uint64_t)x->k + 1 : 0;
	case EXPR_SHR:
		return x->width * 8 - (unsigned)x->k <= 16 ? 1ull << (x->width * 8 - (unsigned)x->k) : 0;
	case EXPR_LOAD: return x->extend == EXTEND_U8 ? 256 : 0;
	case EXPR_EXTEND:
		inner = bound_by_type(x->x);
		return inner ? inner : x->extend == EXTEND_U8 ? 256 : 0;
	default: return 0;
	}
}

/* The instruction that set the flags the block's last branch tests, or that branch itself if it tests a
 * register; UINT32_MAX if it is not in this block. */
static uint32_t compare_in(struct slicer *s, uint32_t block)
{
	const struct insn *insns = slicer_insns(s, block);
	uint32_t i = s->g->blocks[block].insn_count - 1;
	if (insns[i].op == OP_COMPARE)
		return i;
	while (i-- > 0)
		if (regset_has(&insns[i].writes, REG_FLAGS))
			return i;
	return UINT32_MAX;
}

/* What instruction i compares: x with the constant *k. */
static const struct expr *compared(struct slicer *s, uint32_t block, uint32_t i, int64_t *k)
{
	const struct insn *in = &slicer_insns(s, block)[i];
	if (in->op == OP_COMPARE_MEM) {
		*k = in->value;
		return value_of_memory(s, block, i);
	}
	if (in->op != OP_COMPARE && !(in->flags & INSN_COMPARES))
		return NULL;
	*k = in->op == OP_COMPARE ? in->imm : -in->imm;
	if (in->b != REG_NONE) {
		const struct expr *y = expr_strip(value_of_register(s, block, i, in->b));
		if (y->kind != EXPR_CONST)
			return NULL;
		*k = y->k;
	}
	return value_of_register(s, block, i, in->a);
}

static enum insn_cond negated(unsigned cond)
{
	static const enum insn_cond opposite[] = {
		[COND_EQ] = COND_NE,   [COND_NE] = COND_EQ,   [COND_ULT] = COND_UGE,
		[COND_ULE] = COND_UGT, [COND_UGT] = COND_ULE, [COND_UGE] = COND_ULT,
		[COND_SLT] = COND_SGE, [COND_SLE] = COND_SGT, [COND_SGT] = COND_SLE,
		[COND_SGE] = COND_SLT,
	};
	return cond < ARRAY_SIZE(opposite) ? opposite[cond] : COND_OTHER;
}

/* If taking this edge means that the index is below some constant, that constant; else 0. */
static uint64_t bound_on_edge(struct slicer *s, const struct edge *e, const struct expr *index)
{
	const struct block *b = &s->g->blocks[e->from];
	if ((e->kind != EDGE_TAKEN && e->kind != EDGE_FALL) ||
	    (b->end != END_BRANCH && !(b->flags & BLOCK_CONDITIONAL)))
		return 0;
	uint32_t at = compare_in(s, e->from);
	int64_t k = 0;
	const struct expr *x = at == UINT32_MAX ? NULL : compared(s, e->from, at, &k);
	if (!x)
		return 0;
	const struct insn *branch = &slicer_insns(s, e->from)[b->insn_count - 1];
	unsigned width = slicer_insns(s, e->from)[at].width;
	enum insn_cond cond = e->kind == EDGE_TAKEN ? branch->cond : negated(branch->cond);
	if (k < 0 && width < 8) /* the constant of an unsigned compare, which is given sign-extended */
		k &= (INT64_C(1) << width * 8) - 1;
	switch (cond) {
	case COND_EQ:
	case COND_ULE:
	case COND_SLE: k++; break;
	case COND_ULT:
	case COND_SLT: break;
	default: return 0;
	}
	/* The compare may be of the index before a constant was added to it. */
	struct sum sx, si;
	if (!expr_sum(expr_strip(x), &sx) || !expr_sum(expr_strip(index), &si) || sx.count != 1 ||
	    si.count != 1 || sx.terms[0].shift != si.terms[0].shift ||
	    !expr_equal(expr_strip(sx.terms[0].x), expr_strip(si.terms[0].x)))
		return 0;
	k += si.constant - sx.constant;
	return k > 0 && k <= MAX_ENTRIES ? (uint64_t)k : 0;
}

struct guard_search {
	struct slicer *s;
	bool *seen;
	uint32_t visited;
};

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The bound that holds on every way into the block; 0 if some way has none. Ways that were looked at
 * already, loops among them, add nothing. `found` keeps what was seen so far. */
static bool bound_before(struct guard_search *q, uint32_t block, const struct expr *index, uint64_t *found)
{
	const struct cfg *g = q->s->g;
	uint32_t first = g->first_pred[block], last = g->first_pred[block + 1];
	if (q->seen[block])
		return true;
	q->seen[block] = true;
	if (first == last || ++q->visited > MAX_GUARD_BLOCKS || !q->s->budget)
		return false;
	for (uint32_t i = first; i < last; i++) {
		const struct edge *e = &g->edges[g->pred_edges[i]];
		const struct expr *here = index, *bare = expr_strip(index);
		if (bare->kind == EXPR_PHI && bare->k == (int64_t)block)
			here = value_of_register(q->s, e->from, g->blocks[e->from].insn_count, bare->reg);
		uint64_t bound = bound_on_edge(q->s, e, here);
		if (!bound && here != index)
			bound = bound_by_type(here);
		if (bound)
			*found = max(*found, bound);
		else if (!bound_before(q, e->from, here, found))
			return false;
	}
	return true;
}

static uint64_t bound_by_guard(struct slicer *s, uint32_t block, const struct expr *index)
{
	struct guard_search q = {.s = s, .seen = ARENA_ARRAY(s->tmp, bool, s->g->block_count)};
	uint64_t found = 0;
	return bound_before(&q, block, index, &found) ? found : 0;
}

/* Takes up to `count` targets; stops early at one that cannot be. */
static uint32_t take_targets(const struct build_env *env, const struct form *f, uint64_t count,
			     bool inside_only, struct jump *out)
{
	uint32_t i = 0;
	uint64_t target;
	for (; i < count && read_target(env->im, f, i, &target); i++) {
		if (!is_target(env, target) || (inside_only && !in_ranges(env, target)))
			break;
		vec_push(&out->targets, target);
	}
	return i;
}

/* A table of pointers whose entries lead out of the procedure: calls of the functions in it. */
static bool leads_outside(const struct build_env *env, const struct jump *j)
{
	uint32_t outside = 0;
	for (uint32_t i = 0; i < j->targets.len; i++)
		outside += !in_ranges(env, j->targets.data[i]);
	return outside * 2 > j->targets.len;
}

static void read_table(struct slicer *s, const struct build_env *env, uint32_t block, const struct form *f,
		       uint32_t limit, struct jump *out)
{
	out->table = f->table;
	out->entry_size = f->size;
	uint64_t bound = bound_by_guard(s, block, f->index);
	out->bound = BOUND_COMPARE;
	if (!bound) {
		bound = bound_by_type(f->index);
		out->bound = BOUND_TYPE;
	}
	if (bound && bound <= MAX_ENTRIES) {
		out->count = take_targets(env, f, bound, out->bound == BOUND_TYPE, out);
		bool whole = out->count == bound || (out->bound == BOUND_TYPE && out->count);

		if (whole && f->size == 8 && leads_outside(env, out))
			out->verdict = JUMP_TAIL_CALL;
		else if (whole)
			out->verdict = JUMP_TABLE;
		if (whole)
			return;
		vec_clear(&out->targets);
	}
	uint64_t first;
	if (f->size == 8 && read_target(env->im, f, 0, &first) && image_is_code(env->im, first) &&
	    !in_ranges(env, first)) {
		out->verdict = JUMP_TAIL_CALL;
		return;
	}
	out->verdict = JUMP_UNBOUNDED;
	out->bound = BOUND_CONTENTS;
	if (!limit)
		return;
	out->count = take_targets(env, f, limit, true, out);
	out->verdict = out->count ? JUMP_TABLE : JUMP_UNKNOWN;
}

void jump_resolve(struct slicer *s, const struct build_env *env, uint32_t block, uint32_t limit,
		  struct jump *out)
{
	uint32_t last = s->g->blocks[block].insn_count - 1;
	const struct insn *in = &slicer_insns(s, block)[last];
	const struct expr *target = in->op == OP_LOAD ? value_of_memory(s, block, last)
						      : value_of_register(s, block, last, in->a);
	struct form f;
	*out = (struct jump){.verdict = JUMP_UNKNOWN};
	if (match_form(target, &f)) {
		read_table(s, env, block, &f, limit, out);
		return;
	}
	const struct expr *load = load_in(target);
	struct sum at;
	if (in->op == OP_MOVE && in->a == s->arch->link) {
		out->verdict = JUMP_TAIL_CALL; /* a return in disguise, as in longjmp */
	} else if (target->kind == EXPR_CONST) {
		out->target = (uint64_t)target->k;
		out->verdict = JUMP_TAIL_CALL;
	} else if (load && load->width == 8 && expr_sum(load->x, &at) && at.count <= 1 &&
		   (!at.count || !at.terms[0].shift)) {
		/* A pointer from memory that no index selects: a function pointer. */
		out->verdict = JUMP_TAIL_CALL;
	}
	debug(LOG_JUMP, 2, "jump at %#lx: target kind %d", (unsigned long)in->pc, target->kind);
}
