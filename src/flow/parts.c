/* Finds out which code was split off a function, by the jumps that lead there. */
#include "base/log.h"
#include "base/order.h"
#include "flow/entry.h"
#include "flow/far_jumps.h"
#include "flow/internal.h"

struct detached_part *fragment_at(const struct flow *f, uint64_t va)
{
	uint32_t n = ORDER_UP_TO(f->fragments.data, f->fragments.len, start, va);
	return n && va < f->fragments.data[n - 1].end ? &f->fragments.data[n - 1] : NULL;
}

bool take_fragment(struct flow *f, struct func *p, uint64_t va)
{
	struct detached_part *x = fragment_at(f, va);
	if (!x || x->taken)
		return false;
	x->taken = true;
	add_part(f, p, x->start, x->end);
	debug(LOG_FLOW, 2, "part %#lx-%#lx belongs to %#lx", (unsigned long)x->start,
	      (unsigned long)x->end, (unsigned long)p->start);
	return true;
}

void take_landings(struct flow *f)
{
	uint32_t count;
	const struct landing *all = f->fragments.len ? module_landings(f->module, &count) : NULL;
	for (uint32_t i = 0; all && i < count; i++) {
		const struct landing *l = &all[i];
		uint32_t owner = func_at(f, l->start);
		if (owner != UINT32_MAX)
			take_fragment(f, &f->funcs.data[owner], l->pad);
	}
}

/* The end of the code without an owner that begins at va. */
static uint64_t end_of_unowned(const struct flow *f, uint64_t va)
{
	const struct section *s = module_section_at(f->module, va);
	uint64_t end = s->va + s->size;
	uint32_t n = ORDER_UP_TO(f->funcs.data, f->funcs.len, start, va);
	return n < f->funcs.len && f->funcs.data[n].start < end ? f->funcs.data[n].start : end;
}

/* Whether the jump leads to an instruction that the linker moved, followed by a jump back. Linkers
 * do this for CPUs that must not have the instruction at its old place (Cortex-A53, erratum
 * 843419). */
static bool is_erratum_veneer(const struct flow *f, const struct block *b, struct part *out)
{
	struct insn moved, back;
	uint64_t to = b->target;
	size_t n = decode_at(f->module, f->arch, to, DECODE_FLOW, &moved);
	if (!n || moved.kind != INSN_PLAIN ||
	    !decode_at(f->module, f->arch, to + n, DECODE_FLOW, &back) || back.kind != INSN_JUMP ||
	    back.target != b->start + b->size)
		return false;
	*out = (struct part){to, to + n + back.length};
	return true;
}

bool part_of_jump(const struct flow *f, const struct block *b, struct part *out)
{
	uint64_t to = b->target;
	const struct detached_part *x = fragment_at(f, to);
	if (is_erratum_veneer(f, b, out))
		return true;
	if (x) {
		*out = (struct part){x->start, x->end};
		return !x->taken;
	}
	if (func_at(f, to) != UINT32_MAX || !module_is_code(f->module, to))
		return false;
	*out = (struct part){to, end_of_unowned(f, to)};
	return b->flags & (BLOCK_OPEN_FRAME | BLOCK_CONDITIONAL) ||
	       !looks_like_entry(f->module, f->arch, to);
}

static bool has_part(const struct func *p, uint64_t va)
{
	for (uint32_t i = 0; i < p->part_count; i++)
		if (va >= p->parts[i].start && va < p->parts[i].end)
			return true;
	return false;
}

/* The fragment that holds va, if p could own it. */
static bool open_fragment(const struct flow *f, const struct func *p, uint64_t va, struct part *out)
{
	const struct detached_part *x = fragment_at(f, va);
	if (!x || x->taken || has_part(p, va))
		return false;
	*out = (struct part){x->start, x->end};
	return true;
}

/* Whether a landing pad of p lies in a fragment that p could own. */
static bool find_pad_part(const struct flow *f, const struct func *p, struct part *out)
{
	struct arena tmp = {0};
	uint32_t count;
	const struct landing *all = module_landings_in(f->module, p->start, p->end, &tmp, &count);
	bool found = false;
	for (uint32_t i = 0; i < count && !found; i++)
		found = open_fragment(f, p, all[i].pad, out);
	arena_release(&tmp);
	return found;
}

bool find_part(const struct flow *f, const struct func *p, const struct cfg *g, struct part *out)
{
	for (uint32_t i = 0; i < g->block_count; i++) {
		const struct block *b = &g->blocks[i];
		if (b->end == END_TAIL_CALL && b->target && !has_part(p, b->target) &&
		    part_of_jump(f, b, out))
			return true;
	}
	for (uint32_t i = 0; i < g->escape_count; i++)
		if (open_fragment(f, p, g->escapes[i], out))
			return true;
	return f->fragments.len && find_pad_part(f, p, out);
}

/* ---- all parts of a module, without graphs ---- */

struct part_join {
	struct flow *flow;
	uint64_t low, high; /* all fragments lie in this range */
	VEC(struct far_jump) jumps;
};

static void add_called(struct flow *f, uint64_t va)
{
	struct detached_part *x = fragment_at(f, va);
	if (!x || x->taken || x->start != va)
		return;
	x->taken = true;
	add_start(f, x->start, x->end, NULL, FOUND_FRAME | FOUND_CALL, 0);
}

/* Collects jumps to fragments. Fragments that are called become functions. */
static void collect_jump(void *ctx, const struct far_jump *j)
{
	struct part_join *to = ctx;
	if (j->target < to->low || j->target >= to->high)
		return;
	if (j->call)
		add_called(to->flow, j->target);
	else
		vec_push(&to->jumps, *j);
}

static bool join_by_jump(struct flow *f, const struct far_jump *j)
{
	uint32_t owner = flow_function_at(f, j->from);
	return owner != UINT32_MAX && take_fragment(f, &f->funcs.data[owner], j->target);
}

void flow_join_parts(struct flow *f)
{
	enum { MAX_PART_LEVELS = 3 }; /* levels of parts that are only reached from other parts */
	need_starts(f);
	bool more = f->fragments.len && !f->joined;
	f->joined = true;
	if (!more)
		return;
	struct part_join to = {f, f->fragments.data[0].start, vec_last(&f->fragments).end, {0}};
	far_jumps(f->module, f->arch, collect_jump, &to);
	merge_starts(f);
	take_landings(f);
	publish(f);
	for (uint32_t round = 0; round < MAX_PART_LEVELS && more; round++) {
		more = false;
		vec_each (j, &to.jumps)
			more |= join_by_jump(f, j);
		publish(f);
	}
	vec_free(&to.jumps);
}

bool flow_join_part(struct flow *f, uint64_t va)
{
	need_starts(f);
	if (!fragment_at(f, va))
		return false;
	flow_join_parts(f);
	return flow_function_at(f, va) != UINT32_MAX;
}
