#include "unwind/prologue.h"

#include "flow/entry.h"
#include "unwind/choose_recipe.h"

enum { MAX_INSNS = 32 };

/* Executes the function up to its first branch or call. */
static void execute_prologue(struct state *s, const struct module *m, const struct arch *arch,
			     uint64_t va)
{
	struct insn in;
	state_at_entry(s, arch, arch->link == REG_NONE ? 8 : 0);
	for (unsigned i = 0; i < MAX_INSNS; i++, va += in.length) {
		if (!decode_at(m, arch, va, DECODE_FULL, &in) || in.kind != INSN_PLAIN)
			return;
		state_execute(s, arch, &in, BASE_CFA + 1);
	}
}

/* The stack pointer may move before a call, and registers that are still the caller's may be saved
 * later. */
bool prologue_describes(const struct module *m, const struct arch *arch, uint64_t start,
			struct recipe *out)
{
	struct state s;
	execute_prologue(&s, m, arch, start);
	const struct value *fp = &s.reg[arch->fp];
	state_forget_saved(&s, arch);
	*out = choose_recipe(&s, arch);
	if (!out->record || out->ret != RETURN_SAVED || out->slot_reg != REG_NONE ||
	    fp->kind != VALUE_STACK || fp->base != BASE_CFA)
		return false;
	out->cfa = CFA_REGISTER;
	out->cfa_reg = arch->fp;
	out->cfa_offset = -fp->offset;
	for (unsigned i = 0; i < CALLEE_SAVED_MAX; i++)
		if (out->slot[i] == SLOT_SAME)
			out->slot[i] = SLOT_LOST;
	return true;
}
