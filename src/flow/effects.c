#include "flow/effects.h"

void cursor_set(struct decoder *c, const struct module *m, const struct arch *arch, uint64_t va,
		uint64_t size)
{
	size_t n = 0;
	*c = (struct decoder){.arch = arch, .va = va};
	c->bytes = module_is_code(m, va) ? module_at(m, va, size, &n) : NULL;
	c->size = n;
}

bool cursor_next(struct decoder *c, enum insn_detail detail, struct insn *in)
{
	size_t length = c->size ? c->arch->decode(c->bytes, c->size, c->va, detail, in) : 0;
	if (!length)
		return false;
	c->bytes += length;
	c->size -= length;
	c->va += length;
	return true;
}

/* Whether the instruction sets the flags besides other registers. Almost all arithmetic of x86-64
 * does, mostly without a reader of the flags: they count as read. An instruction that sets only
 * flags sets them for a reader. */
static bool sets_flags_besides(const struct insn *in)
{
	return regset_has(&in->writes, REG_FLAGS) &&
	       (in->writes.core & ~(UINT64_C(1) << REG_FLAGS) || in->writes.vec);
}

void effects_add(struct effects *e, const struct insn *in)
{
	struct regset reads = in->reads;
	uint16_t exclusive = in->flags & (INSN_EXCLUSIVE_BEGIN | INSN_EXCLUSIVE_END);
	/* clone(): the child continues with every register that the instruction itself does not
	 * destroy. */
	if (in->kind == INSN_SYSCALL)
		reads.core |= ~in->writes.core;
	e->reads = regset_or(e->reads, regset_without(reads, e->writes));
	e->writes = regset_or(e->writes, in->writes);
	e->touched = regset_or(e->touched, regset_or(in->reads, in->writes));
	e->fresh = regset_or(e->fresh, regset_without(in->writes, in->reads));
	e->spent = regset_without(regset_or(e->spent, in->reads), in->writes);
	if (sets_flags_besides(in))
		e->spent.core |= UINT64_C(1) << REG_FLAGS;
	if (exclusive) {
		e->last_exclusive = exclusive;
		if (!e->first_exclusive)
			e->first_exclusive = exclusive;
	}
}

struct effects *effects_of(const struct cfg *g, const struct module *m, const struct arch *arch,
			   struct arena *tmp)
{
	struct effects *all = ARENA_ARRAY(tmp, struct effects, g->block_count);
	for (uint32_t i = 0; i < g->block_count; i++) {
		struct decoder c;
		struct insn in;
		cursor_set(&c, m, arch, g->blocks[i].start, g->blocks[i].size);
		while (cursor_next(&c, DECODE_FULL, &in))
			effects_add(&all[i], &in);
		all[i].bad = c.va != g->blocks[i].start + g->blocks[i].size;
	}
	return all;
}
