#include "truth.h"

/* Farther from each other, two stack pointers are not of the same stack. */
enum { STACK_MAX = 1 << 24 };

void truth_init(struct truth *t, const struct arch *arch)
{
	*t = (struct truth){.arch = arch};
}

void truth_release(struct truth *t)
{
	vec_free(&t->calls);
	hashmap_release(&t->returned);
}

void truth_push(struct truth *t, uint64_t ret, uint64_t sp)
{
	vec_push(&t->calls, (struct true_call){.ret = ret, .sp = sp});
}

static bool same_stack(uint64_t a, uint64_t b)
{
	return a - b < STACK_MAX || b - a < STACK_MAX;
}

/* Is the call still going on when the stack pointer is `sp` after a jump out? */
static bool is_left(const struct true_call *c, uint64_t sp)
{
	return !same_stack(c->sp, sp) || c->sp <= sp;
}

bool truth_in_transit(const struct truth *t, uint64_t sp)
{
	const struct true_call *top = t->calls.len ? &vec_last(&t->calls) : NULL;
	return top && !top->signal && is_left(top, sp) && sp != top->sp;
}

static enum truth_change jump_out(struct truth *t, uint64_t sp)
{
	while (t->calls.len && is_left(&vec_last(&t->calls), sp))
		t->calls.len--;
	t->jump_count++;
	return TRUTH_JUMPED_OUT;
}

/* A return, or an indirect jump that may be one. */
static enum truth_change leave(struct truth *t, const struct insn *in, uint64_t sp_before,
			       uint64_t pc, uint64_t sp)
{
	const struct true_call *top = t->calls.len ? &vec_last(&t->calls) : NULL;
	if (!top || top->signal)
		return TRUTH_SAME;
	if (truth_in_transit(t, sp_before))
		return jump_out(t, sp);
	if (sp < top->sp)
		return TRUTH_SAME; /* within the function */
	if (pc == top->ret) {
		t->calls.len--;
		t->return_count++;
		hashmap_add(&t->returned, pc, 0);
		return TRUTH_RETURN;
	}
	/* Without a frame to leave, a jump out differs from a tail call in where it goes: to where
	 * setjmp has returned before. */
	if (hashmap_get(&t->returned, pc) != HASHMAP_NONE)
		return jump_out(t, sp);
	/* On x86-64 a return has taken the address off the stack, so it was no tail call. */
	if (in->kind == INSN_RETURN && t->arch->link == REG_NONE) {
		t->calls.len--;
		t->odd_count++;
	}
	return TRUTH_SAME;
}

static enum truth_change signal_return(struct truth *t)
{
	if (!t->calls.len || !vec_last(&t->calls).signal)
		return TRUTH_SAME;
	t->calls.len--;
	return TRUTH_SIGNAL_RETURN;
}

enum truth_change truth_step(struct truth *t, const struct insn *in, uint64_t sp_before,
			     uint64_t pc, uint64_t sp)
{
	uint64_t next = in->pc + in->length;
	switch (in->kind) {
	case INSN_CALL:
	case INSN_CALL_INDIRECT:
		truth_push(t, next, sp_before);
		t->call_count++;
		return TRUTH_CALL;
	case INSN_RETURN:
	case INSN_JUMP_INDIRECT: return leave(t, in, sp_before, pc, sp);
	case INSN_SYSCALL: return pc == next ? TRUTH_SAME : signal_return(t);
	default: return TRUTH_SAME;
	}
}

void truth_signal(struct truth *t, uint64_t interrupted_pc, uint64_t interrupted_sp,
		  uint64_t trampoline, uint64_t sp)
{
	vec_push(&t->calls,
		 (struct true_call){.ret = interrupted_pc, .sp = interrupted_sp, .signal = true});
	/* As if the handler had been called from in front of the trampoline. */
	truth_push(t, trampoline, t->arch->link == REG_NONE ? sp + 8 : sp);
}
