#include "patch/pinned.h"

#include <linux/rseq.h>
#include <stddef.h>
#include <string.h>

#include "flow/entry.h"
#include "isa/calls.h"

enum { MOST_INSNS = 24 }; /* limit of a search; the functions of glibc and musl have up to 14 */

static bool reads_flag(const struct arch *arch, const struct insn *in)
{
	return in->kind == INSN_PLAIN && in->op == OP_LOAD && in->a == arch->first_arg &&
	       in->b == REG_NONE && !in->imm && in->width == sizeof(int);
}

/* Whether a system call whose number is the second argument follows, with one branch and no other
 * transfer of control before it. */
static bool passes_call(const struct module *m, const struct arch *arch, uint64_t va)
{
	unsigned number = calls_number_register(arch);
	bool branches = false, passes = false;
	struct insn in;
	for (uint32_t i = 0; i < MOST_INSNS && decode_at(m, arch, va, DECODE_FULL, &in); i++) {
		va += in.length;
		if (in.kind == INSN_SYSCALL)
			return branches && passes;
		if (in.kind == INSN_BRANCH ? branches : in.kind != INSN_PLAIN)
			return false;
		branches |= in.kind == INSN_BRANCH;
		if (regset_has(&in.writes, number))
			passes = in.op == OP_MOVE && in.a == arch->second_arg;
	}
	return false;
}

bool is_pinned(const struct module *m, const struct arch *arch, uint64_t va)
{
	struct insn in;
	size_t n = decode_at(m, arch, va, DECODE_FULL, &in);
	if (n && in.flags & INSN_LANDING) {
		va += n;
		n = decode_at(m, arch, va, DECODE_FULL, &in);
	}
	return n && reads_flag(arch, &in) && passes_call(m, arch, va + n);
}

static bool overlaps(const struct cfg *g, uint64_t start, uint64_t size)
{
	for (uint32_t i = 0; i < g->block_count; i++) {
		const struct block *b = &g->blocks[i];
		if (b->start - start < size || start - b->start < b->size)
			return true;
	}
	return false;
}

/* Programs gather the descriptors of all their sequences in one section. */
bool has_restartable(const struct module *m, const struct cfg *g)
{
	const struct section *s = module_section(m, "__rseq_cs");
	uint64_t end = s && s->in_file ? s->size : 0;
	const uint8_t *bytes = end ? module_section_bytes(m, s) : NULL;
	for (uint64_t at = 0; at + sizeof(struct rseq_cs) <= end; at += sizeof(struct rseq_cs)) {
		struct rseq_cs d;
		uint64_t start, handler;
		memcpy(&d, bytes + at, sizeof(d));
		if (module_word(m, s->va + at + offsetof(struct rseq_cs, start_ip), &start) &&
		    module_word(m, s->va + at + offsetof(struct rseq_cs, abort_ip), &handler) &&
		    (overlaps(g, start, d.post_commit_offset) || overlaps(g, handler, 1)))
			return true;
	}
	return false;
}
