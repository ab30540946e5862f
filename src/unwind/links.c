#include "unwind/links.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hashmap.h"
#include "base/vec.h"
#include "flow/far_jumps.h"

struct links {
	struct flow *flow;
	struct hashmap passes_on; /* procedure's start to bool */
	struct hashmap only_at;   /* procedure's start to its place in `only` */
	VEC(uint64_t) only;       /* see links_only_return() */
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
	hashmap_release(&l->passes_on);
	hashmap_release(&l->only_at);
	vec_free(&l->only);
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
		const uint8_t *p = n <= va ? image_at(flow_image(f), va - n, &readable) : NULL;
		if (!p || readable < n || arch->decode(p, n, va - n, DECODE_FLOW, &in) != n)
			continue;
		call.indirect |= in.kind == INSN_CALL_INDIRECT;
		/* The shortest reading is without prefixes; all others have the same target. */
		if (in.kind == INSN_CALL && !call.direct &&
		    image_is_code(flow_image(f), in.target)) {
			call.direct = true;
			call.target = in.target;
		}
	}
	return call;
}

/* How a procedure's start must have been found to be sure that it is one: all other ways may split
 * a procedure that is whole, or take a split-off part for a procedure. */
static bool is_sure(const struct procedure *p)
{
	return p->found_by & (FOUND_SYMBOL | FOUND_DYNAMIC | FOUND_DEBUG | FOUND_PLT | FOUND_CALL);
}

static bool is_inside(const struct procedure *p, uint64_t va)
{
	return va > p->start && va < p->end;
}

/* Whether a block leaves the procedure otherwise than by returning, or in a way that was not
 * understood. A call into the procedure itself, not to its start, is how retpolines jump. */
static bool block_passes_on(const struct procedure *p, const struct block *b)
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

static bool graph_passes_on(struct links *l, uint32_t procedure)
{
	uint32_t count;
	const struct procedure *p = &flow_procedures(l->flow, &count)[procedure];
	const struct cfg *g = flow_cfg(l->flow, procedure, &l->tmp, &l->tmp);
	bool yes = g->escape_count != 0 || g->block_count == 0;
	/* A table whose size no compare tells may have more entries than were read. */
	for (uint32_t i = 0; i < g->table_count; i++)
		yes |= g->tables[i].bound != BOUND_COMPARE;
	for (uint32_t i = 0; i < g->block_count && !yes; i++)
		yes = block_passes_on(p, &g->blocks[i]);
	arena_clear(&l->tmp);
	return yes;
}

static bool passes_on(struct links *l, uint32_t procedure)
{
	uint32_t count;
	const struct procedure *p = &flow_procedures(l->flow, &count)[procedure];
	if (p->flags & (PROCEDURE_PLT | PROCEDURE_IFUNC))
		return true;
	uint32_t known = hashmap_get(&l->passes_on, p->start);
	if (known == HASHMAP_NONE) {
		known = graph_passes_on(l, procedure);
		hashmap_put(&l->passes_on, p->start, known);
	}
	return known;
}

/* Is this the PLT entry of that procedure? Both have one of perhaps several names. */
static bool is_entry_of(const struct procedure *entry, const struct procedure *p)
{
	if (!(entry->flags & PROCEDURE_PLT) || !entry->name || !p->name)
		return false;
	size_t n = strlen(p->name);
	return !strncmp(entry->name, p->name, n) && !strcmp(entry->name + n, "@plt");
}

static bool in_one_unwind_range(const struct flow *f, uint64_t x, uint64_t y)
{
	const struct frame_range *r = image_frame_at(flow_image(f), x);
	return r && r == image_frame_at(flow_image(f), y);
}

static enum link_verdict check_direct(struct links *l, uint64_t target, const struct flow *callee,
				      uint64_t callee_va)
{
	uint32_t count;
	uint32_t to = flow_procedure_at(l->flow, target);
	uint32_t at = callee ? flow_procedure_at(callee, callee_va) : UINT32_MAX;
	if (to == UINT32_MAX || at == UINT32_MAX)
		return VERDICT_LIKELY;
	if (callee == l->flow && (to == at || in_one_unwind_range(callee, target, callee_va)))
		return VERDICT_VALID;
	const struct procedure *called = &flow_procedures(l->flow, &count)[to];
	const struct procedure *found = &flow_procedures(callee, &count)[at];
	if (is_entry_of(called, found))
		return VERDICT_VALID;
	/* A call into the middle of what is taken for a procedure: its graph tells nothing. */
	bool sure = is_sure(found) && is_sure(called) && target == called->start;
	return !sure || passes_on(l, to) ? VERDICT_LIKELY : VERDICT_INVALID;
}

enum link_verdict links_check(struct links *l, const struct call_site *call,
			      const struct flow *callee, uint64_t callee_va)
{
	enum link_verdict v = VERDICT_INVALID;
	if (call->direct)
		v = check_direct(l, call->target, callee, callee_va);
	return v == VERDICT_INVALID && call->indirect ? VERDICT_LIKELY : v;
}

struct callers {
	uint64_t callee, call;
	uint32_t calls, jumps;
};

static void note_caller(void *ctx, const struct far_jump *j)
{
	struct callers *c = ctx;
	if (j->target != c->callee)
		return;
	c->calls += j->call;
	c->jumps += !j->call;
	c->call = j->call ? j->from : c->call;
}

static uint64_t find_only_return(const struct links *l, uint64_t va)
{
	const struct image *im = flow_image(l->flow);
	uint32_t count, i = flow_procedure_at(l->flow, va);
	struct callers c = {.callee = va};
	struct insn in;
	size_t n;
	if (i == UINT32_MAX || flow_procedures(l->flow, &count)[i].start != va ||
	    flow_procedures(l->flow, &count)[i].found_by & (FOUND_DYNAMIC | FOUND_ENTRY))
		return 0;
	far_jumps(im, flow_arch(l->flow), note_caller, &c);
	const uint8_t *p = c.calls == 1 && !c.jumps ? image_at(im, c.call, &n) : NULL;
	return p && flow_arch(l->flow)->decode(p, n, c.call, DECODE_FLOW, &in) &&
			       in.kind == INSN_CALL
		       ? c.call + in.length
		       : 0;
}

uint64_t links_only_return(struct links *l, uint64_t va)
{
	uint32_t at = hashmap_add(&l->only_at, va, l->only.len);
	if (at == l->only.len)
		vec_push(&l->only, find_only_return(l, va));
	return l->only.data[at];
}
