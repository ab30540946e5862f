#include "diagnose/condition.h"

#include <string.h>

/* In nptl/pthread_cond_common.c: __wrefs, which __g_signals follows, with and without __g_refs. */
enum { WAITERS_OLD = 36, WAITERS_NEW = 28, WORD = 4 };
/* Instructions before the first branch. */
enum { LOOKED_AT = 24 };

/* Which registers hold the argument, and how far behind it they point. */
struct argument {
	bool is[32];
	int64_t offset[32];
};

static bool leads_on(const struct insn *in, const struct argument *x)
{
	bool sum = in->op == OP_ADD && in->b == REG_NONE;
	bool copy = in->op == OP_MOVE && in->width == 8;
	return (sum || copy) && in->dst < 32 && in->a < 32 && x->is[in->a];
}

static void track(struct argument *x, const struct insn *in)
{
	bool is = leads_on(in, x);
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
	for (int i = 0; i < LOOKED_AT && at < size; i++, at += in.length) {
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

/* Compatible symbols of old have the same name: they lead to the others. */
static uint64_t signals_of(const struct code *code)
{
	const struct image *im = code->image;
	uint64_t found = 0;
	for (uint32_t i = 0; im && !found && i < im->symbol_count; i++) {
		const struct symbol *s = &im->symbols[i];
		if (strcmp(s->name + strspn(s->name, "_"), "pthread_cond_signal") != 0)
			continue;
		size_t n;
		const uint8_t *p = image_is_code(im, s->va) ? image_at(im, s->va, &n) : NULL;
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
