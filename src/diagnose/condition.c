#include "diagnose/condition.h"

#include <string.h>

/* Offset of __wrefs in a condition variable (struct __pthread_cond_s): in layouts that have
 * __g_refs before it, and in those that do not. __g_signals is the next word. */
enum { WAITERS_OLD = 36, WAITERS_NEW = 28, WORD = 4 };
/* The read of __wrefs is among the first instructions, before any branch. */
enum { MAX_INSNS = 24 };

/* The registers that point into the condition variable, which is the first argument, and their
 * offsets in it. */
struct argument {
	bool is[32];
	int64_t offset[32];
};

/* Returns true if the instruction copies such a pointer, or adds a constant to it. */
static bool derives_pointer(const struct insn *in, const struct argument *x)
{
	bool sum = in->op == OP_ADD && in->b == REG_NONE;
	bool copy = in->op == OP_MOVE && in->width == 8;
	return (sum || copy) && in->dst < 32 && in->a < 32 && x->is[in->a];
}

static void track(struct argument *x, const struct insn *in)
{
	bool is = derives_pointer(in, x);
	int64_t offset = is ? x->offset[in->a] + (in->op == OP_ADD ? in->imm : 0) : 0;
	for (unsigned i = 0; i < 32; i++)
		if (regset_has(&in->writes, i))
			x->is[i] = false;
	if (is) {
		x->is[in->dst] = true;
		x->offset[in->dst] = offset;
	}
}

static bool reads_word(const struct insn *in, const struct argument *x, int64_t *offset)
{
	if (in->op != OP_LOAD || in->width != WORD || in->a >= 32 || in->b != REG_NONE ||
	    !x->is[in->a])
		return false;
	*offset = x->offset[in->a] + in->imm;
	return true;
}

uint64_t condition_signals_in(const struct arch *arch, const uint8_t *code, size_t size)
{
	struct argument x = {0};
	struct insn in;
	int64_t offset;
	size_t at = 0;
	x.is[arch->first_arg] = true;
	for (int i = 0; i < MAX_INSNS && at < size; i++, at += in.length) {
		if (!arch->decode(code + at, size - at, at, DECODE_FULL, &in) ||
		    in.kind != INSN_PLAIN)
			return 0;
		if (reads_word(&in, &x, &offset))
			return offset == WAITERS_OLD || offset == WAITERS_NEW
				       ? (uint64_t)offset + WORD
				       : 0;
		track(&x, &in);
	}
	return 0;
}

/* Old versions of the symbol, kept for compatibility, have the same name. Their code only calls the
 * new function, so the search continues after them. */
static uint64_t signals_of(const struct code *code)
{
	const struct module *module = code->module;
	uint64_t found = 0;
	uint32_t count = 0;
	const struct symbol *all = module ? module_symbols(module, &count) : NULL;
	for (uint32_t i = 0; !found && i < count; i++) {
		const struct symbol *s = &all[i];
		if (strcmp(s->name + strspn(s->name, "_"), "pthread_cond_signal") != 0)
			continue;
		size_t n;
		const uint8_t *p =
			module_is_code(module, s->va)
				? module_at(module, s->va, MAX_INSNS * code->arch->insn_max, &n)
				: NULL;
		found = p ? condition_signals_in(code->arch, p, n) : 0;
	}
	return found;
}

uint64_t condition_signals(struct mapped *m, uint32_t process)
{
	uint64_t found = 0;
	if (process >= m->processes.len)
		return WAITERS_OLD + WORD;
	struct mapped_process *p = &m->processes.data[process];
	for (uint32_t i = 0; !p->condition_signals && !found && i < p->list.len; i++)
		found = signals_of(p->list.data[i].code);
	if (!p->condition_signals)
		p->condition_signals = found ? found : WAITERS_OLD + WORD;
	return p->condition_signals;
}
