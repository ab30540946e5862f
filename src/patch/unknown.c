/* Code of a function that no known path leads to, and the places where control enters.
 *
 * Unknown code may be dead: an unused variant of a hand-written function, or the code after a call
 * that never returns. Or there are jumps to it that were not understood; these may then lead to
 * other places, too. But if a function's indirect jumps all use tables of certain size, it has no
 * such jumps. Then, whatever brings control to its unknown code, that code itself shows where
 * control continues. It is treated like another function that jumps to the known blocks. */
#include "base/order.h"
#include "flow/entry.h"
#include "patch/plan.h"

static bool is_table(const struct cfg *g, uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < g->table_count; i++)
		if (g->tables[i].va >= start && g->tables[i].va < end)
			return true;
	return false;
}

/* Whether [start, end) may contain code. */
static bool may_be_code(const struct plan *p, uint64_t start, uint64_t end)
{
	struct insn in;
	start += padding_at(p->module, p->arch, start, end);
	return start < end && !is_table(p->g, start, end) &&
	       decode_at(p->module, p->arch, start, DECODE_FLOW, &in);
}

static void add_gap(struct plan *p, uint64_t start, uint64_t end)
{
	if (start < end && may_be_code(p, start, end))
		vec_push(&p->unknown, (struct part){start, end});
}

/* Finds the code in a part of the function that is in no block. */
static void find_gaps(struct plan *p, uint64_t at, uint64_t end)
{
	const struct cfg *g = p->g;
	for (uint32_t i = ORDER_UP_TO(g->blocks, g->block_count, start, at - 1);
	     i < g->block_count && g->blocks[i].start < end; i++) {
		const struct block *b = &g->blocks[i];
		add_gap(p, at, b->start);
		at = b->start + b->size > at ? b->start + b->size : at;
	}
	add_gap(p, at, end);
}

/* Whether the block ends in an indirect jump that may have more targets than were found. */
static bool is_doubtful(struct plan *p, uint32_t block)
{
	const struct cfg *g = p->g;
	const struct body *b = body_of(p, block);
	bool certain = false;
	if (!b || b->insns[b->count - 1].kind != INSN_JUMP_INDIRECT)
		return !b;
	for (uint32_t i = 0; i < g->table_count; i++) {
		if (g->tables[i].block != block)
			continue;
		if (!g->tables[i].closed)
			return true;
		certain = true;
	}
	return !certain;
}

static bool has_doubtful_jump(struct plan *p)
{
	for (uint32_t i = 0; i < p->g->block_count; i++)
		if (is_doubtful(p, i))
			return true;
	return false;
}

static bool has_target(const struct insn *in)
{
	return in->kind == INSN_JUMP || in->kind == INSN_BRANCH || in->kind == INSN_CALL;
}

static bool falls_through(const struct insn *in)
{
	return !insn_ends_block(in) || in->kind == INSN_BRANCH || in->kind == INSN_CALL ||
	       in->kind == INSN_CALL_INDIRECT;
}

/* Adds a place, unless it is the function's start, which is an entry in any case. False if a jump
 * there would skip the compare that limits a table's index. */
static bool add_intruded(struct plan *p, uint64_t va)
{
	uint32_t block = cfg_block_at(p->g, va);
	if (block != p->g->entry || va != p->g->blocks[block].start)
		vec_push(&p->intruded, va);
	return block == BLOCK_NONE || p->g->blocks[block].end != END_SWITCH;
}

/* Adds the places that unknown code leads to. False if not all of them are known. */
static bool add_targets(struct plan *p, const struct part *gap)
{
	struct insn in = {0};
	for (uint64_t at = gap->start; at < gap->end; at += in.length) {
		if (!decode_at(p->module, p->arch, at, DECODE_FLOW, &in) ||
		    in.kind == INSN_JUMP_INDIRECT || at + in.length > gap->end)
			return false;
		if (has_target(&in) && !add_intruded(p, in.target))
			return false;
	}
	return !falls_through(&in) || add_intruded(p, gap->end);
}

static void order_intruded(struct plan *p)
{
	uint32_t kept = 0;
	order_by_address(p->intruded.data, p->intruded.len, sizeof(uint64_t), 0);
	vec_each (va, &p->intruded)
		if (!kept || p->intruded.data[kept - 1] != *va)
			p->intruded.data[kept++] = *va;
	p->intruded.len = kept;
}

void find_unknown(struct plan *p)
{
	uint32_t count;
	const struct function *func = &flow_functions(p->r->flow, &count)[p->r->function];
	const struct part *parts = flow_parts(p->r->flow) + func->first_part;
	find_gaps(p, func->start, func->end);
	for (uint32_t i = 0; i < func->part_count; i++)
		find_gaps(p, parts[i].start, parts[i].end);
	order_by_address(p->unknown.data, p->unknown.len, sizeof(struct part),
			 offsetof(struct part, start));
	p->uncertain = p->g->unresolved || (p->unknown.len && has_doubtful_jump(p));
	for (uint32_t i = 0; i < p->unknown.len && !p->uncertain; i++)
		p->uncertain = !add_targets(p, &p->unknown.data[i]);
	if (p->r->intrusions)
		intrusions_into(p->r->intrusions, p->r->function, p->g, &p->intruded);
	order_intruded(p);
}

void release_unknown(struct plan *p)
{
	vec_free(&p->intruded);
	vec_free(&p->unknown);
}

bool is_unknown_code(const struct plan *p, uint64_t va)
{
	uint32_t i = ORDER_UP_TO(p->unknown.data, p->unknown.len, start, va);
	return i && va < p->unknown.data[i - 1].end;
}

uint32_t intruded_from(const struct plan *p, uint64_t va)
{
	return va ? order_up_to(p->intruded.data, p->intruded.len, sizeof(uint64_t), 0, va - 1) : 0;
}

bool is_intruded(const struct plan *p, uint64_t start, uint64_t end)
{
	return intruded_from(p, start) < intruded_from(p, end);
}
