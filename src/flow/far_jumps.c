#include "flow/far_jumps.h"

static void scan_section(const struct module *m, const struct section *s, const struct arch *arch,
			 far_jump_visitor visit, void *ctx)
{
	const uint8_t *bytes = module_section_bytes(m, s);
	struct found_jump to;
	for (uint64_t at = 0;; at += arch->insn_align) {
		at += arch->find_jump(bytes + at, s->size - at, s->va + at, &to);
		if (at >= s->size)
			return;
		visit(ctx, &(struct far_jump){s->va + at, to.target, to.call});
	}
}

void far_jumps(const struct module *m, const struct arch *arch, far_jump_visitor visit, void *ctx)
{
	for (uint32_t i = 0; i < m->section_count; i++)
		if (m->sections[i].execute && m->sections[i].in_file)
			scan_section(m, &m->sections[i], arch, visit, ctx);
}
