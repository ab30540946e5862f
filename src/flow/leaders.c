#include "flow/leaders.h"

#include "flow/entry.h"

struct place_set places_none(const struct build_env *env, struct arena *a)
{
	struct place_set p = {env->ranges[0].start, env->ranges[0].end, env->arch->insn_align,
			      NULL};
	p.bits = ARENA_ARRAY(a, uint8_t, (p.end - p.start) / p.align / 8 + 1);
	return p;
}

bool places_has(const struct place_set *p, uint64_t va)
{
	uint64_t i = (va - p->start) / p->align;
	return va >= p->start && va < p->end && p->bits[i / 8] >> i % 8 & 1;
}

bool places_add(const struct place_set *p, uint64_t va)
{
	uint64_t i = (va - p->start) / p->align;
	if (va < p->start || va >= p->end || places_has(p, va))
		return false;
	p->bits[i / 8] |= (uint8_t)(1 << i % 8);
	return true;
}

static bool falls_through(const struct build_env *env, const struct insn *in)
{
	switch (in->kind) {
	case INSN_JUMP:
	case INSN_JUMP_INDIRECT:
	case INSN_RETURN:
	case INSN_TRAP: return false;
	case INSN_CALL: return env->call_returns(env->ctx, in->target);
	default: return true;
	}
}

struct place_set leaders_find(const struct build_env *env, struct arena *a)
{
	struct place_set p = places_none(env, a);
	for (uint64_t va = p.start; va < p.end;) {
		struct insn in;
		if (!decode_at(env->module, env->arch, va, DECODE_FLOW, &in)) {
			va += p.align;
			continue;
		}
		va += in.length;
		if (in.kind == INSN_JUMP || in.kind == INSN_BRANCH)
			places_add(&p, in.target);
		if (in.flags & INSN_LANDING)
			places_add(&p, in.pc);
		if (!falls_through(env, &in))
			places_add(&p, va);
	}
	return p;
}
