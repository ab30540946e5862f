#include "unwind/links.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hashmap.h"
#include "base/vec.h"
#include "flow/far_jumps.h"

/* See links_returns(). */
struct callers_of {
	uint32_t first, count; /* in links.returns */
	bool alone;
};

struct links {
	struct flow *flow;
	struct hashmap may_tail_call; /* function's start -> bool */
	struct hashmap callers_at;    /* function's start -> callers */
	VEC(struct callers_of) callers;
	VEC(uint64_t) returns;
	struct arena tmp;
};

struct links *links_new(struct flow *f)
{
	struct links *l = xcalloc(1, sizeof(*l));
	l->flow = f;
	return l;
}

void links_free(struct links *l)
{
	if (!l)
		return;
	hashmap_release(&l->may_tail_call);
	hashmap_release(&l->callers_at);
	vec_free(&l->callers);
	vec_free(&l->returns);
	arena_release(&l->tmp);
	free(l);
}

struct call_site links_call_before(const struct flow *f, uint64_t va)
{
	const struct arch *arch = flow_arch(f);
	struct call_site call = {0};
	for (unsigned n = arch->insn_align; n <= arch->insn_max; n += arch->insn_align) {
		struct insn in;
		size_t readable;
		const uint8_t *p = n <= va ? module_at(flow_module(f), va - n, n, &readable) : NULL;
		if (!p || readable < n || arch->decode(p, n, va - n, DECODE_FLOW, &in) != n)
			continue;
		call.indirect |= in.kind == INSN_CALL_INDIRECT;
		/* The shortest decoding has no prefixes; all longer ones have the same target. */
		if (in.kind == INSN_CALL && !call.direct &&
		    module_is_code(flow_module(f), in.target)) {
			call.direct = true;
			call.target = in.target;
		}
	}
	return call;
}

/* Whether the function's start is certain. All other sources may split a function that is whole, or
 * take a split-off part for a function. */
static bool has_certain_start(const struct function *p)
{
	return p->found_by & (FOUND_SYMBOL | FOUND_DYNAMIC | FOUND_DEBUG | FOUND_PLT | FOUND_CALL);
}

static bool is_inside(const struct function *p, uint64_t va)
{
	return va > p->start && va < p->end;
}

/* Whether a block may leave the function other than by returning, or was not fully understood. A
 * call into the function itself, but not to its start, is how retpolines jump. */
static bool block_may_tail_call(const struct function *p, const struct block *b)
{
	bool stuck = !b->edge_count && !(b->flags & BLOCK_NORETURN);
	switch (b->end) {
	case END_TAIL_CALL:
	case END_UNRESOLVED:
	case END_BAD: return true;
	case END_RETURN:
	case END_TRAP: return false;
	case END_CALL: return stuck || is_inside(p, b->target);
	default: return stuck;
	}
}

static bool graph_may_tail_call(struct links *l, uint32_t function)
{
	uint32_t count;
	const struct function *p = &flow_functions(l->flow, &count)[function];
	const struct cfg *g = flow_cfg(l->flow, function, &l->tmp, &l->tmp);
	bool yes = g->escape_count != 0 || g->block_count == 0;
	/* A jump table without a compare that bounds it may have more entries than were read. */
	for (uint32_t i = 0; i < g->table_count; i++)
		yes |= g->tables[i].bound != BOUND_COMPARE;
	for (uint32_t i = 0; i < g->block_count && !yes; i++)
		yes = block_may_tail_call(p, &g->blocks[i]);
	arena_clear(&l->tmp);
	return yes;
}

static bool may_tail_call(struct links *l, uint32_t function)
{
	uint32_t count;
	const struct function *p = &flow_functions(l->flow, &count)[function];
	if (p->flags & (FUNCTION_PLT | FUNCTION_IFUNC))
		return true;
	uint32_t known = hashmap_get(&l->may_tail_call, p->start);
	if (known == HASHMAP_NONE) {
		known = graph_may_tail_call(l, function);
		hashmap_put(&l->may_tail_call, p->start, known);
	}
	return known;
}

/* Whether `entry` is the PLT entry of function `p`. Each has one name of possibly several. */
static bool is_entry_of(const struct function *entry, const struct function *p)
{
	if (!(entry->flags & FUNCTION_PLT) || !entry->name || !p->name)
		return false;
	size_t n = strlen(p->name);
	return !strncmp(entry->name, p->name, n) && !strcmp(entry->name + n, "@plt");
}

static bool in_one_unwind_range(const struct flow *f, uint64_t x, uint64_t y)
{
	struct frame_range r;
	return module_frame_at(flow_module(f), x, &r) && y >= r.start && y < r.end;
}

static enum link_verdict check_direct(struct links *l, uint64_t target, const struct flow *callee,
				      uint64_t callee_va)
{
	uint32_t count;
	uint32_t to = flow_function_at(l->flow, target);
	uint32_t at = callee ? flow_function_at(callee, callee_va) : UINT32_MAX;
	if (to == UINT32_MAX || at == UINT32_MAX)
		return VERDICT_LIKELY;
	if (callee == l->flow && (to == at || in_one_unwind_range(callee, target, callee_va)))
		return VERDICT_VALID;
	const struct function *called = &flow_functions(l->flow, &count)[to];
	const struct function *found = &flow_functions(callee, &count)[at];
	if (is_entry_of(called, found))
		return VERDICT_VALID;
	/* After a call into the middle of an assumed function, its graph proves nothing. */
	bool sure =
		has_certain_start(found) && has_certain_start(called) && target == called->start;
	return !sure || may_tail_call(l, to) ? VERDICT_LIKELY : VERDICT_INVALID;
}

enum link_verdict links_check(struct links *l, const struct call_site *call,
			      const struct flow *callee, uint64_t callee_va)
{
	enum link_verdict v = VERDICT_INVALID;
	if (call->direct)
		v = check_direct(l, call->target, callee, callee_va);
	return v == VERDICT_INVALID && call->indirect ? VERDICT_LIKELY : v;
}

/* The direct calls of a function, while they are collected. */
struct direct_callers {
	struct links *links;
	uint64_t callee;
	bool jumps; /* there are jumps to it as well */
};

static void note_caller(void *ctx, const struct far_jump *j)
{
	struct direct_callers *c = ctx;
	struct insn in;
	size_t n;
	if (j->target != c->callee)
		return;
	c->jumps |= !j->call;
	const struct arch *arch = flow_arch(c->links->flow);
	const uint8_t *p =
		j->call ? module_at(flow_module(c->links->flow), j->from, arch->insn_max, &n)
			: NULL;
	if (p && arch->decode(p, n, j->from, DECODE_FLOW, &in) && in.kind == INSN_CALL)
		vec_push(&c->links->returns, j->from + in.length);
}

static struct callers_of find_callers(struct links *l, uint64_t va)
{
	uint32_t count, i = flow_function_at(l->flow, va);
	struct direct_callers c = {.links = l, .callee = va};
	struct callers_of found = {.first = l->returns.len};
	if (i == UINT32_MAX || flow_functions(l->flow, &count)[i].start != va)
		return found;
	far_jumps(flow_module(l->flow), flow_arch(l->flow), note_caller, &c);
	found.count = l->returns.len - found.first;
	found.alone = !c.jumps && !(flow_functions(l->flow, &count)[i].found_by &
				    (FOUND_DYNAMIC | FOUND_ENTRY));
	return found;
}

uint32_t links_returns(struct links *l, uint64_t va, const uint64_t **out, bool *alone)
{
	uint32_t at = hashmap_add(&l->callers_at, va, l->callers.len);
	if (at == l->callers.len)
		vec_push(&l->callers, find_callers(l, va));
	const struct callers_of *c = &l->callers.data[at];
	*out = l->returns.data + c->first;
	*alone = c->alone;
	return c->count;
}
