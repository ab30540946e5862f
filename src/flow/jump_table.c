#include "flow/jump_table.h"

#include <string.h>

#include "base/log.h"
#include "flow/leaders.h"

/* Limits of what is taken for a jump table; they also bound the time that hostile code takes. */
enum {
	MAX_ENTRIES = 1 << 17,
	MAX_GUARD_BLOCKS = 200, /* blocks that are searched for the compare that guards a jump */
	MAX_INDEX_BITS = 16,    /* a shifted value with more bits does not limit the index */
};

/* The terms of a jump's target, base + (extend(load(table + index * size)) << shift). */
struct table_form {
	uint64_t base, table;
	const struct expr *index; /* NULL: constant, as far as the graph is known */
	const struct expr *entry; /* the load, with the extensions around it */
	uint8_t size, shift;
};

/* The values that an index can have: first <= index < end. All zero if unknown. */
struct index_range {
	int64_t first, end;
};

/* The load inside an entry, through its extensions; NULL if there is none. */
static const struct expr *load_in(const struct expr *entry)
{
	entry = expr_strip(entry);
	return entry->kind == EXPR_LOAD ? entry : NULL;
}

static bool match_form(const struct expr *target, struct table_form *f)
{
	struct sum sum, at;
	if (!expr_sum(target, &sum) || sum.count != 1)
		return false;
	const struct expr *load = load_in(sum.terms[0].x);
	if (!load || !expr_sum(load->x, &at) || at.count > 1 || !at.constant)
		return false;
	if (at.count && 1u << at.terms[0].shift != load->width)
		return false;
	*f = (struct table_form){
		.base = (uint64_t)sum.constant,
		.table = (uint64_t)at.constant,
		.index = at.count ? at.terms[0].x : NULL,
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

/* The target for this value of the index; false if the module has no such entry. */
static bool read_target(const struct module *m, const struct table_form *f, int64_t i,
			uint64_t *target)
{
	uint64_t va = f->table + (uint64_t)i * f->size, raw = 0;
	if (f->size == 8) {
		if (!module_word(m, va, &raw))
			return false;
	} else {
		size_t n;
		const uint8_t *p = module_at(m, va, f->size, &n);
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
	return va % env->arch->insn_align == 0 && module_is_code(env->module, va);
}

static struct index_range below(uint64_t n)
{
	return (struct index_range){0, (int64_t)n};
}

/* The values that the index can have by how it is computed: a masked or shifted value, a byte. */
static struct index_range span_by_type(const struct expr *x)
{
	struct index_range inner;
	switch (x->kind) {
	case EXPR_CONST: return (struct index_range){x->k, x->k + 1};
	case EXPR_AND: return below(x->k > 0 && !(x->k & (x->k + 1)) ? (uint64_t)x->k + 1 : 0);
	case EXPR_SHR:
		return below(x->width * 8 - (unsigned)x->k <= MAX_INDEX_BITS
				     ? 1ull << (x->width * 8 - (unsigned)x->k)
				     : 0);
	case EXPR_LOAD: return below(x->extend == EXTEND_U8 ? 256 : 0);
	case EXPR_EXTEND:
		inner = span_by_type(x->x);
		return inner.end ? inner : below(x->extend == EXTEND_U8 ? 256 : 0);
	default: return below(0);
	}
}

/* The instruction that sets the flags which the branch at the end of the block tests, or the branch
 * itself if it tests a register; UINT32_MAX if it is not in this block. */
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

/* Returns the expression that instruction i compares with the constant *k; NULL if it is none. */
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

/* The values of x for which x `cond` k holds. */
static struct index_range span_of(enum insn_cond cond, int64_t k)
{
	switch (cond) {
	case COND_EQ: return (struct index_range){k, k + 1};
	case COND_ULE:
	case COND_SLE: return below((uint64_t)k + 1);
	case COND_ULT:
	case COND_SLT: return below((uint64_t)k);
	default: return below(0);
	}
}

/* The condition of the branch that holds on this edge. */
static enum insn_cond condition_on(struct slicer *s, const struct edge *e)
{
	const struct block *b = &s->g->blocks[e->from];
	if ((e->kind != EDGE_TAKEN && e->kind != EDGE_FALL) ||
	    (b->end != END_BRANCH && !(b->flags & BLOCK_CONDITIONAL)))
		return COND_OTHER;
	unsigned cond = slicer_insns(s, e->from)[b->insn_count - 1].cond;
	return e->kind == EDGE_TAKEN ? (enum insn_cond)cond : negated(cond);
}

/* The values that the index can have on this edge, if its branch limits them. Whether the condition
 * can limit anything is tested first, because finding the compared expression may take long. */
static struct index_range span_on_edge(struct slicer *s, const struct edge *e,
				       const struct expr *index)
{
	enum insn_cond cond = condition_on(s, e);
	struct sum sx, si;
	if (!span_of(cond, 1).end || !expr_sum(expr_strip(index), &si) || si.count != 1)
		return below(0);
	uint32_t at = compare_in(s, e->from);
	int64_t k = 0;
	const struct expr *x = at == UINT32_MAX ? NULL : compared(s, e->from, at, &k);
	if (!x)
		return below(0);
	unsigned width = slicer_insns(s, e->from)[at].width;
	if (k < 0 && width < 8) /* the immediate of an unsigned compare was sign-extended */
		k &= (INT64_C(1) << width * 8) - 1;
	struct index_range span = span_of(cond, k);

	/* The compare may be of the index before or after a constant was added to it. */
	if (!span.end || !expr_sum(expr_strip(x), &sx) || sx.count != 1 ||
	    sx.terms[0].shift != si.terms[0].shift ||
	    !expr_equal(expr_strip(sx.terms[0].x), expr_strip(si.terms[0].x)))
		return below(0);
	span.first += si.constant - sx.constant;
	span.end += si.constant - sx.constant;
	return span.end > span.first && span.end - span.first <= MAX_ENTRIES ? span : below(0);
}

struct guard_search {
	struct slicer *s;
	bool *seen;
	uint32_t visited;
};

static struct index_range union_of(struct index_range a, struct index_range b)
{
	if (a.end == a.first)
		return b;
	return (struct index_range){a.first < b.first ? a.first : b.first,
				    a.end > b.end ? a.end : b.end};
}

/* Whether the block computes the index in a way that is not understood: nothing before the block
 * can limit it. */
static bool is_made_in(const struct block *b, const struct expr *index)
{
	struct sum sum;
	if (!expr_sum(expr_strip(index), &sum) || sum.count != 1)
		return false;
	const struct expr *x = expr_strip(sum.terms[0].x);
	return x->kind == EXPR_UNKNOWN && x->site - b->start < b->size;
}

/* Widens *found by the values that the index can have on each edge into the block; false if some
 * path does not limit it. Blocks that were visited already, in loops for example, add nothing. */
static bool span_before(struct guard_search *q, uint32_t block, const struct expr *index,
			struct index_range *found)
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
			here = value_of_register(q->s, e->from, g->blocks[e->from].insn_count,
						 bare->reg);
		struct index_range span = span_on_edge(q->s, e, here);
		if (!span.end && here != index)
			span = span_by_type(here);
		if (span.end)
			*found = union_of(*found, span);
		else if (is_made_in(&g->blocks[e->from], here) ||
			 !span_before(q, e->from, here, found))
			return false;
	}
	return true;
}

static struct index_range span_by_guard(struct slicer *s, uint32_t block, const struct expr *index)
{
	struct guard_search q = {.s = s, .seen = ARENA_ARRAY(s->tmp, bool, s->g->block_count)};
	struct index_range found = {0};
	return span_before(&q, block, index, &found) ? found : below(0);
}

/* Whether the target is just after the function's last instruction. Compilers let impossible values
 * of an index lead there. Tables of pointers are different: they may lead to the next function. */
static bool is_unreachable(const struct build_env *env, const struct table_form *f, uint64_t target)
{
	return f->size < 8 && env->bounded && target == env->ranges[0].end;
}

/* Adds the targets for these values of the index, and returns for how many of them; stops at the
 * first target that is impossible. Sets out->closed if the table cannot have more entries. */
static uint32_t read_targets(const struct build_env *env, const struct table_form *f,
			     struct index_range span, bool inside_only, struct jump *out)
{
	int64_t i = span.first;
	for (uint64_t target; i < span.end && read_target(env->module, f, i, &target); i++) {
		if (is_unreachable(env, f, target))
			continue;
		if (!is_target(env, target) || (inside_only && !in_ranges(env, target)))
			break;
		vec_push(&out->targets, target);
	}
	uint64_t next;
	out->closed = !read_target(env->module, f, i, &next) || !in_ranges(env, next);
	return (uint32_t)(i - span.first);
}

static const struct place_set *leaders_of(struct slicer *s, const struct build_env *env)
{
	const struct part *r = &env->ranges[0];
	if (!s->leaders->bits || s->leaders->start != r->start || s->leaders->end != r->end)
		*s->leaders = leaders_find(env, s->tmp);
	return s->leaders;
}

/* After a table of unknown size there is other data, which seems to lead anywhere if its entries
 * are not pointers. Most targets of a table are known to begin a block; few other addresses do. So
 * every new target counts for or against the table so far, and the table ends where the score is
 * best. Repeated targets are no evidence. */
static void drop_overrun(struct slicer *s, const struct build_env *env, struct jump *out)
{
	enum { FOR = 1, AGAINST = 2 };
	const struct place_set *leaders = leaders_of(s, env);
	struct place_set seen = places_none(env, s->tmp);
	int score = 0, best = 0;
	uint32_t kept = 0, different = 0;
	for (uint32_t i = 0; i < out->targets.len; i++) {
		uint64_t target = out->targets.data[i];
		if (!places_add(&seen, target))
			continue;
		different = i + 1;
		score += places_has(leaders, target) ? FOR : -AGAINST;
		if (score > best) {
			best = score;
			kept = i + 1;
		}
	}
	if (kept) {
		out->targets.len = kept;
		out->closed &= kept == different;
	}
	out->count = out->targets.len;
}

/* Whether another function can begin at va, so that a jump there is a call: va is outside this
 * function, and not in the middle of an unwind range. */
static bool may_be_function(const struct build_env *env, uint64_t va)
{
	struct frame_range r;
	return !in_ranges(env, va) &&
	       (!module_frame_at(env->module, va, &r) || (r.start == va && !r.mid_frame));
}

/* Whether most pointers of the table lead to other functions: it is a table of functions to call.
 */
static bool leads_outside(const struct build_env *env, const struct jump *j)
{
	uint32_t outside = 0;
	for (uint32_t i = 0; i < j->targets.len; i++)
		outside += may_be_function(env, j->targets.data[i]);
	return outside * 2 > j->targets.len;
}

/* Reads a table whose size is known; false if it is not. */
static bool read_bounded(struct slicer *s, const struct build_env *env, const struct table_form *f,
			 struct index_range span, struct jump *out)
{
	if (span.end <= span.first || span.end - span.first > MAX_ENTRIES)
		return false;
	bool by_type = out->bound == BOUND_TYPE;
	out->table = f->table + (uint64_t)span.first * f->size;
	out->count = read_targets(env, f, span, by_type, out);
	bool all = out->count == (uint64_t)(span.end - span.first);
	if (!all && !(by_type && out->targets.len)) {
		vec_clear(&out->targets);
		return false;
	}
	out->closed |= all;
	if (by_type && f->size < 8)
		drop_overrun(s, env, out);
	out->verdict = f->size == 8 && leads_outside(env, out) ? JUMP_TAIL_CALL : JUMP_TABLE;
	return true;
}

static void read_table(struct slicer *s, const struct build_env *env, uint32_t block,
		       const struct table_form *f, uint32_t limit, struct jump *out)
{
	out->entry_size = f->size;
	out->bound = BOUND_COMPARE;
	if (read_bounded(s, env, f, f->index ? span_by_guard(s, block, f->index) : below(1), out))
		return;
	out->bound = BOUND_TYPE;
	if (f->index && read_bounded(s, env, f, span_by_type(f->index), out))
		return;
	uint64_t first;
	out->table = f->table;
	if (!f->index) {
		/* Either a pointer that is set at run time, or an index that looks constant only
		 * because the graph is not complete. */
		const struct section *in = module_section_at(env->module, f->table);
		out->verdict = in && in->write ? JUMP_TAIL_CALL : JUMP_UNKNOWN;
		return;
	}
	if (f->size == 8 && read_target(env->module, f, 0, &first) &&
	    module_is_code(env->module, first) && may_be_function(env, first)) {
		out->verdict = JUMP_TAIL_CALL;
		return;
	}
	out->verdict = JUMP_UNBOUNDED;
	out->bound = BOUND_CONTENTS;
	if (!limit)
		return;
	out->count = read_targets(env, f, below(limit), true, out);
	if (f->size < 8)
		drop_overrun(s, env, out);
	out->verdict = out->count ? JUMP_TABLE : JUMP_UNKNOWN;
}

/* Combines what the jump does when reached by one more edge with what it does by those before;
 * takes over one->targets. False if they do not jump through the same table. */
static bool merge_table(struct jump *one, struct jump *out)
{
	bool first = out->verdict == JUMP_UNKNOWN, closed = one->closed && (first || out->closed);
	bool same = one->verdict == JUMP_TABLE || one->verdict == JUMP_UNBOUNDED;
	same &= first || (one->verdict == out->verdict && one->table == out->table &&
			  one->entry_size == out->entry_size);
	if (!same || one->targets.len < out->targets.len) {
		vec_free(&one->targets);
	} else {
		vec_free(&out->targets);
		*out = *one;
	}
	out->closed = closed;
	return same;
}

/* Resolves a jump that several edges lead to, each with its own target from the same table. */
static bool resolve_by_edge(struct slicer *s, const struct build_env *env, uint32_t block,
			    const struct expr *target, uint32_t limit, struct jump *out)
{
	const struct cfg *g = s->g;
	bool same = target->kind == EXPR_PHI && target->k == (int64_t)block;
	for (uint32_t i = g->first_pred[block]; same && i < g->first_pred[block + 1]; i++) {
		const struct edge *e = &g->edges[g->pred_edges[i]];
		uint32_t end = g->blocks[e->from].insn_count;
		struct jump one = {.verdict = JUMP_UNKNOWN};
		struct table_form f;
		if (e->kind != EDGE_CALL_RETURN && e->kind != EDGE_UNWIND &&
		    match_form(value_of_register(s, e->from, end, target->reg), &f))
			read_table(s, env, e->from, &f, limit, &one);
		same = merge_table(&one, out);
	}
	if (!same) {
		vec_free(&out->targets);
		*out = (struct jump){.verdict = JUMP_UNKNOWN};
	}
	return out->verdict != JUMP_UNKNOWN;
}

void jump_resolve(struct slicer *s, const struct build_env *env, uint32_t block, uint32_t limit,
		  struct jump *out)
{
	uint32_t last = s->g->blocks[block].insn_count - 1;
	const struct insn *in = &slicer_insns(s, block)[last];
	const struct expr *target = in->op == OP_LOAD ? value_of_memory(s, block, last)
						      : value_of_register(s, block, last, in->a);
	struct table_form f;
	*out = (struct jump){.verdict = JUMP_UNKNOWN};
	if (match_form(target, &f)) {
		read_table(s, env, block, &f, limit, out);
		return;
	}
	if (resolve_by_edge(s, env, block, target, limit, out))
		return;
	const struct expr *load = load_in(target);
	struct sum at;
	if (in->op == OP_MOVE && in->a == s->arch->link) {
		out->verdict = JUMP_TAIL_CALL; /* a return in disguise, as in longjmp */
	} else if (target->kind == EXPR_CONST) {
		out->target = (uint64_t)target->k;
		out->verdict = in_ranges(env, out->target) ? JUMP_TABLE : JUMP_TAIL_CALL;
		out->count = 1;
		if (out->verdict == JUMP_TABLE)
			vec_push(&out->targets, out->target);
	} else if (load && load->width == 8 && expr_sum(load->x, &at) && at.count <= 1 &&
		   (!at.count || !at.terms[0].shift)) {
		/* No index selects the pointer, so it is a function pointer. Or the index is part
		 * of an expression that is not understood, as with a table on the stack. */
		out->verdict = JUMP_TAIL_CALL;
		out->likely = true;
	}
	debug(LOG_JUMP, 2, "jump at %#lx: target kind %d", (unsigned long)in->pc, target->kind);
}
