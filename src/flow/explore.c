/* Follows control flow from the entry. A run of instructions is decoded up to where control leaves
 * it, and its targets are put on a work list. Bytes that control does not reach (literal pools,
 * jump tables, padding) are never decoded. */
#include "base/order.h"
#include "flow/builder.h"
#include "flow/entry.h"

static const struct code_range *code_at(const struct builder *b, uint64_t va)
{
	for (uint32_t i = 0; i < b->env->range_count; i++)
		if (va >= b->code[i].start && va < b->code[i].end)
			return &b->code[i];
	return NULL;
}

static uint32_t *mark_in(const struct builder *b, const struct code_range *c, uint64_t va)
{
	return &c->marks[(va - c->start) / b->env->arch->insn_align];
}

uint32_t *place_of(const struct builder *b, uint64_t va)
{
	const struct code_range *c = code_at(b, va);
	return c ? mark_in(b, c, va) : NULL;
}

bool reach(struct builder *b, uint64_t va)
{
	uint32_t *place = place_of(b, va);
	if (!place || va % b->env->arch->insn_align)
		return false;
	*place |= LEADER;
	if (!(*place & SEEN))
		vec_push(&b->work, va);
	return true;
}

/* Whether there is code at va for a call to return to. There is none after a call at the very end
 * of a function, or before the prologue of another function: those calls do not return. */
static bool has_return_place(const struct builder *b, uint64_t va)
{
	const struct build_env *env = b->env;
	for (uint32_t i = 0; i < env->range_count; i++) {
		const struct part *r = &env->ranges[i];
		if (va < r->start || va >= r->end)
			continue;
		uint64_t next = va + padding_at(env->module, env->arch, va, r->end);
		if (next == r->end)
			return false;
		return env->bounded || !looks_like_prologue(env->module, env->arch, next);
	}
	return false;
}

static bool call_returns(const struct builder *b, const struct insn *in, const uint8_t *bytes)
{
	const struct build_env *env = b->env;
	if (in->kind == INSN_CALL && !env->call_returns(env->ctx, in->target))
		return false;
	if (in->kind == INSN_CALL_INDIRECT) {
		struct insn full;
		env->arch->decode(bytes, in->length, in->pc, DECODE_FULL, &full);
		if (full.op == OP_LOAD && full.a == REG_NONE && full.b == REG_NONE &&
		    !env->slot_returns(env->ctx, (uint64_t)full.imm))
			return false;
	}
	return has_return_place(b, in->pc + in->length);
}

static void end_with_call(struct builder *b, struct run *r, const struct insn *in,
			  const uint8_t *bytes)
{
	r->ends = in->kind == INSN_CALL ? END_CALL : END_CALL_INDIRECT;
	r->target = in->target;
	if (b->deferring) {
		vec_push(&b->deferred, (struct deferred_call){*in, bytes});
		return;
	}
	if (!call_returns(b, in, bytes) || !reach(b, in->pc + in->length))
		r->flags |= BLOCK_NORETURN;
}

static void end_with_jump(struct builder *b, struct run *r, const struct insn *in)
{
	r->target = in->target;
	if (in->kind == INSN_JUMP) {
		r->ends = reach(b, in->target) ? END_JUMP : END_TAIL_CALL;
		return;
	}
	r->ends = END_BRANCH;
	if (!reach(b, in->target)) {
		r->ends = END_TAIL_CALL;
		r->flags |= BLOCK_CONDITIONAL;
	}
	reach(b, in->pc + in->length);
}

static void end_run(struct builder *b, struct run *r, const struct insn *in, const uint8_t *bytes)
{
	switch (in->kind) {
	case INSN_JUMP:
	case INSN_BRANCH: end_with_jump(b, r, in); break;
	case INSN_CALL:
	case INSN_CALL_INDIRECT: end_with_call(b, r, in, bytes); break;
	case INSN_JUMP_INDIRECT: r->ends = END_UNRESOLVED; break;
	case INSN_RETURN: r->ends = END_RETURN; break;
	default: r->ends = END_TRAP;
	}
}

/* Decodes the instruction at va, in range c, and returns its bytes; NULL if there is none. */
static const uint8_t *decode_in(const struct builder *b, const struct code_range *c, uint64_t va,
				struct insn *in)
{
	uint64_t at = va - c->start;
	const uint8_t *p = c->bytes + at;
	return at < c->size && b->env->arch->decode(p, c->size - at, va, DECODE_FLOW, in) ? p
											  : NULL;
}

/* Decodes the run that starts at va. */
static void follow(struct builder *b, uint64_t va)
{
	const struct code_range *c = code_at(b, va);
	struct run r = {.start = va, .ends = END_BAD, .jump = NONE};
	struct insn in;
	for (;;) {
		if (va >= c->end)
			c = code_at(b, va);
		if (!c) { /* falls out of the function */
			if (b->env->is_start(b->env->ctx, va)) {
				r.ends = END_TAIL_CALL;
				r.target = va;
			}
			break;
		}
		uint32_t *mark = mark_in(b, c, va);
		if (*mark & SEEN || (*mark & LEADER && va != r.start)) {
			*mark |= LEADER;
			r.ends = END_FALL;
			break;
		}
		const uint8_t *bytes = decode_in(b, c, va, &in);
		if (!bytes)
			break;
		*mark |= (uint32_t)in.length << LENGTH_SHIFT;
		va += in.length;
		if (insn_ends_block(&in)) {
			end_run(b, &r, &in, bytes);
			break;
		}
	}
	r.end = va;
	if (r.end > r.start)
		vec_push(&b->runs, r);
}

bool follow_next(struct builder *b)
{
	while (b->work.len) {
		uint64_t va = vec_pop(&b->work);
		if (*place_of(b, va) & SEEN)
			continue;
		follow(b, va);
		return true;
	}
	return false;
}

bool follow_deferred(struct builder *b)
{
	while (b->deferred.len) {
		struct deferred_call c = vec_pop(&b->deferred);
		if (call_returns(b, &c.insn, c.bytes) && reach(b, c.insn.pc + c.insn.length))
			return true;
	}
	return false;
}

void follow_all(struct builder *b)
{
	while (follow_next(b))
		;
}

static void map_code(struct builder *b)
{
	const struct build_env *env = b->env;
	b->code = ARENA_ARRAY(b->tmp, struct code_range, env->range_count);
	for (uint32_t i = 0; i < env->range_count; i++) {
		struct code_range *c = &b->code[i];
		size_t n = 0;
		c->start = env->ranges[i].start;
		c->end = env->ranges[i].end;
		c->bytes = module_is_code(env->module, c->start)
				   ? module_at(env->module, c->start, c->end - c->start, &n)
				   : NULL;
		c->size = c->bytes ? n : 0;
		c->marks = ARENA_ARRAY(b->tmp, uint32_t,
				       (c->end - c->start) / env->arch->insn_align + 1);
	}
}

static void find_landings(struct builder *b)
{
	const struct module *m = b->env->module;
	VEC(struct landing) found = {0};
	for (uint32_t r = 0; r < b->env->range_count; r++) {
		const struct part *range = &b->env->ranges[r];
		uint32_t count;
		const struct landing *more =
			module_landings_in(m, range->start, range->end, b->tmp, &count);
		vec_append(&found, more, count);
	}
	order_by_address(found.data, found.len, sizeof(struct landing),
			 offsetof(struct landing, start));
	b->landings = ARENA_DUP(b->tmp, found.data, found.len);
	b->landing_count = found.len;
	vec_free(&found);
}

void explore_init(struct builder *b, const struct build_env *env, struct arena *tmp)
{
	*b = (struct builder){.env = env, .tmp = tmp};
	map_code(b);
	find_landings(b);
	reach(b, env->ranges[0].start);
	for (uint32_t i = 0; i < b->landing_count; i++)
		reach(b, b->landings[i].pad);
}
