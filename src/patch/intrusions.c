#include "patch/intrusions.h"

#include "base/order.h"

/* Bytes after which decoding is in step with the instructions, wherever it starts. */
enum { LEAD_IN = 64 };

static bool is_inside(const struct part *p, uint64_t va)
{
	return va >= p->start && va < p->end;
}

static const struct function *function_at(const struct flow *f, uint64_t va)
{
	uint32_t count, at = flow_function_at(f, va);
	return at == UINT32_MAX ? NULL : &flow_functions(f, &count)[at];
}

/* ---- far jumps of a module ---- */

struct far_jump_search {
	struct intrusions *out;
	/* The function looked at last, if its bounds are certain. */
	struct part own;
};

static void consider(void *ctx, const struct far_jump *j)
{
	struct far_jump_search *f = ctx;
	const struct flow *flow = f->out->flow;
	if (j->call)
		return;
	if (!is_inside(&f->own, j->from)) {
		const struct function *p = function_at(flow, j->from);
		f->own = p && p->bounded ? (struct part){p->start, p->end} : (struct part){0};
	}
	if ((is_inside(&f->own, j->from) && is_inside(&f->own, j->target)) ||
	    !module_is_code(flow_module(flow), j->target))
		return;
	const struct function *to = function_at(flow, j->target);
	if (!to || to->start != j->target)
		vec_push(&f->out->jumps, *j);
}

void intrusions_find(struct intrusions *out, struct flow *f)
{
	struct far_jump_search far_jump_search = {.out = out};
	*out = (struct intrusions){.flow = f};
	far_jumps(flow_module(f), flow_arch(f), consider, &far_jump_search);
	order_by_address(out->jumps.data, out->jumps.len, sizeof(struct far_jump),
			 offsetof(struct far_jump, target));
}

void intrusions_release(struct intrusions *in)
{
	vec_free(&in->jumps);
}

/* ---- jumps into one function ---- */

struct intrusion_query {
	const struct intrusions *in;
	uint32_t function;
	const struct cfg *g;
	VEC(struct part) suspects; /* code to decode */
	place_list *out;
};

static bool is_own(const struct intrusion_query *a, uint64_t va)
{
	return cfg_block_at(a->g, va) != BLOCK_NONE ||
	       flow_function_at(a->in->flow, va) == a->function;
}

static void add_place(struct intrusion_query *a, uint64_t va)
{
	if (va != a->g->blocks[a->g->entry].start && cfg_block_at(a->g, va) != BLOCK_NONE)
		vec_push(a->out, va);
}

/* The range of the function that contains va; empty if va is in none. */
static struct part range_at(const struct flow *f, uint64_t va)
{
	const struct function *p = function_at(f, va);
	struct part range = p ? (struct part){p->start, p->end} : (struct part){0};
	for (uint32_t i = 0; p && i < p->part_count && !is_inside(&range, va); i++)
		range = flow_parts(f)[p->first_part + i];
	return range;
}

/* If the starts of instructions are unknown, whatever looks like a jump counts as one. */
static void suspect_far(struct intrusion_query *a, const struct far_jump *j)
{
	struct part range = range_at(a->in->flow, j->from);
	if (is_own(a, j->from))
		return;
	if (range.end)
		vec_push(&a->suspects, range);
	else
		add_place(a, j->target);
}

/* Adds the code in [start, end), from which a short jump may reach the function. */
static void suspect_near(struct intrusion_query *a, uint64_t start, uint64_t end)
{
	const struct flow *f = a->in->flow;
	uint32_t count;
	const struct function *list = flow_functions(f, &count);
	while (start < end) {
		struct part range = range_at(f, start);
		if (!range.end) {
			uint32_t next = ORDER_UP_TO(list, count, start, start);
			uint64_t from = next ? list[next - 1].end : 0;
			range.start = from + LEAD_IN < start ? start - LEAD_IN : from;
			range.end = next < count && list[next].start < end ? list[next].start : end;
		}
		if (flow_function_at(f, start) != a->function)
			vec_push(&a->suspects, range);
		start = range.end;
	}
}

static void decode(struct intrusion_query *a, const struct part *range)
{
	const struct arch *arch = flow_arch(a->in->flow);
	size_t have;
	const uint8_t *bytes =
		module_at(flow_module(a->in->flow), range->start, range->end - range->start, &have);
	if (!bytes || !module_is_code(flow_module(a->in->flow), range->start))
		return;
	for (size_t at = 0, n; at < have; at += n) {
		struct insn in;
		n = arch->decode(bytes + at, have - at, range->start + at, DECODE_FLOW, &in);
		if (!n)
			n = arch->insn_align;
		else if ((in.kind == INSN_JUMP || in.kind == INSN_BRANCH) && !is_own(a, in.pc))
			add_place(a, in.target);
	}
}

void intrusions_into(const struct intrusions *in, uint32_t function, const struct cfg *g,
		     place_list *out)
{
	struct intrusion_query a = {.in = in, .function = function, .g = g, .out = out};
	const struct far_jump *jumps = in->jumps.data;
	uint8_t near = flow_arch(in->flow)->short_jump;
	for (uint32_t i = 0; i < g->block_count; i++) {
		uint64_t start = g->blocks[i].start, end = start + g->blocks[i].size;
		uint32_t end_jump = ORDER_UP_TO(jumps, in->jumps.len, target, end - 1);
		for (uint32_t k = ORDER_UP_TO(jumps, in->jumps.len, target, start - 1);
		     k < end_jump; k++)
			suspect_far(&a, &jumps[k]);
		if (near)
			suspect_near(&a, start > near ? start - near : 0, end + near);
	}
	order_by_address(a.suspects.data, a.suspects.len, sizeof(struct part),
			 offsetof(struct part, start));
	for (uint32_t i = 0; i < a.suspects.len; i++) {
		const struct part *range = &a.suspects.data[i];
		if (i == 0 || range->start != range[-1].start || range->end != range[-1].end)
			decode(&a, range);
	}
	vec_free(&a.suspects);
}
