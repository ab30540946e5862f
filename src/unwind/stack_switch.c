#include "unwind/stack_switch.h"

#include <string.h>

/* Whether all values that the caller needs are lost. */
static bool has_lost_caller(const struct state *s, const struct arch *arch)
{
	for (unsigned r = 0; r < REGISTERS; r++)
		if ((regset_has(&arch->callee_saved, r) || r == arch->sp) &&
		    s->reg[r].kind != VALUE_UNKNOWN)
			return false;
	return true;
}

/* Whether the instruction moves the stack pointer to another stack: it sets it from memory, or from
 * a register other than the frame pointer, which epilogues use. */
static bool loads_stack_pointer(const struct insn *in, const struct arch *arch)
{
	if (in->dst != arch->sp || in->width != 8 || in->a == arch->sp || in->a == arch->fp)
		return false;
	return in->op == OP_LOAD || in->op == OP_MOVE ||
	       (in->op == OP_ADD && in->b == REG_NONE && in->imm == 0);
}

/* Distinguishes a switch from an epilogue that was not fully understood: that restores all
 * registers too, and may end in a tail call, but does not leave its stack. */
static bool leaves_stack(const struct insn *insns, uint32_t count, const struct arch *arch)
{
	for (uint32_t i = 0; i < count; i++)
		if (loads_stack_pointer(&insns[i], arch))
			return true;
	return false;
}

/* Whether the target of the jump is on the stack or in a register. */
static bool goes_to_value(const struct insn *last, const struct arch *arch)
{
	if (last->kind == INSN_RETURN && arch->link == REG_NONE)
		return true;
	return (last->kind == INSN_RETURN || last->kind == INSN_JUMP_INDIRECT) &&
	       last->op == OP_MOVE && last->a < REGISTERS;
}

static struct recipe at_jump(const struct insn *last, const struct arch *arch)
{
	struct recipe r = {.source = RECIPE_ANALYSIS, .slot_reg = REG_NONE, .switches = true};
	uint8_t list[CALLEE_SAVED_MAX];
	unsigned count = callee_saved_list(arch, list);
	bool pops = last->kind == INSN_RETURN && arch->link == REG_NONE;
	r.cfa = CFA_REGISTER;
	r.cfa_reg = arch->sp;
	r.cfa_offset = pops ? 8 + last->stack : 0;
	r.ret = pops ? RETURN_SAVED : RETURN_REGISTER;
	r.ret_reg = pops ? 0 : last->a;
	r.ret_offset = -r.cfa_offset;
	for (unsigned i = 0; i < count; i++)
		r.slot[i] = SLOT_SAME;
	return r;
}

static bool is_whole_copy(const struct insn *in)
{
	bool moves = in->op == OP_MOVE && in->extend == EXTEND_NONE;
	bool adds = in->op == OP_ADD && in->b == REG_NONE;
	return (moves || adds) && in->width == 8 && in->a < REGISTERS;
}

static bool is_on_stack(const struct recipe *r, const struct arch *arch)
{
	return r->cfa == CFA_REGISTER && r->cfa_reg == arch->sp;
}

static bool is_near(int64_t offset)
{
	enum { MAX_FRAME = 1 << 20 };
	return offset >= -MAX_FRAME && offset <= MAX_FRAME;
}

/* Updates the recipe's CFA to before the instruction. */
static void cfa_before(struct recipe *r, const struct insn *in, const struct arch *arch)
{
	bool moves = r->cfa_reg == arch->sp && in->stack_known;
	bool copies = is_whole_copy(in) && in->dst == r->cfa_reg;
	int64_t by = moves ? in->stack : in->op == OP_ADD ? in->imm : 0;
	if (r->cfa != CFA_REGISTER || !regset_has(&in->writes, r->cfa_reg))
		return;
	if ((moves || copies) && is_near(by) && is_near(r->cfa_offset + by)) {
		r->cfa_reg = moves ? r->cfa_reg : in->a;
		r->cfa_offset += (int32_t)by;
	} else {
		r->cfa = CFA_UNKNOWN;
		r->cfa_reg = 0;
		r->cfa_offset = 0;
	}
}

/* The word of the new stack, as an offset from the CFA, from which the instruction loads `reg`;
 * SLOT_LOST if it loads it from elsewhere. `r` is the recipe before the instruction. */
static int32_t loaded_from(const struct recipe *r, const struct insn *in, const struct arch *arch,
			   unsigned reg)
{
	bool second = in->op == OP_LOAD_PAIR && in->dst2 == reg;
	if (!is_on_stack(r, arch) || in->a != arch->sp || in->width != 8 ||
	    !(in->dst == reg || second))
		return SLOT_LOST;
	if (in->op == OP_POP)
		return -r->cfa_offset;
	if ((in->op != OP_LOAD && in->op != OP_LOAD_PAIR) || in->b != REG_NONE)
		return SLOT_LOST;
	int64_t at = in->writeback == WRITEBACK_POST ? 0 : in->imm;
	return is_near(at) ? (int32_t)at + (second ? 8 : 0) - r->cfa_offset : SLOT_LOST;
}

/* Whether the instruction stores to the word at CFA + offset, and which register. Before the code
 * is on the new stack, a store through another register may also hit that word, so any store
 * counts. */
static bool stores_at(const struct recipe *r, const struct insn *in, const struct arch *arch,
		      int32_t offset, uint8_t *reg)
{
	int64_t at = in->op == OP_PUSH ? -8 : in->writeback == WRITEBACK_POST ? 0 : in->imm;
	bool pair = in->op == OP_STORE_PAIR;
	bool by_cfa =
		in->op == OP_PUSH ? is_on_stack(r, arch) : in->a == r->cfa_reg && in->b == REG_NONE;
	*reg = REG_NONE;
	if (r->cfa != CFA_REGISTER || in->class != CLASS_STORE)
		return false;
	if (!by_cfa || in->width != 8)
		return !is_on_stack(r, arch);
	if (at - r->cfa_offset == offset)
		*reg = in->dst;
	else if (pair && at + 8 - r->cfa_offset == offset)
		*reg = in->dst2;
	else
		return false;
	return true;
}

static void set_return(struct recipe *r, enum return_kind kind, uint8_t reg, int32_t offset)
{
	r->ret = (uint8_t)kind;
	r->ret_reg = reg;
	r->ret_offset = offset;
}

static void return_before(struct recipe *r, const struct insn *in, const struct arch *arch)
{
	/* A signed return address counts as the address itself: the walk strips the signature. */
	const unsigned signing = INSN_SIGNS_LINK | INSN_CHECKS_LINK;
	uint8_t reg;
	if (r->ret == RETURN_SAVED) {
		if (stores_at(r, in, arch, r->ret_offset, &reg))
			set_return(r, reg == REG_NONE ? RETURN_UNKNOWN : RETURN_REGISTER,
				   reg == REG_NONE ? 0 : reg, 0);
	} else if (regset_has(&in->writes, r->ret_reg) && !(in->flags & signing)) {
		int32_t at = loaded_from(r, in, arch, r->ret_reg);
		if (at != SLOT_LOST)
			set_return(r, RETURN_SAVED, 0, at);
		else if (is_whole_copy(in) && in->imm == 0 && in->dst == r->ret_reg)
			set_return(r, RETURN_REGISTER, in->a, 0);
		else
			set_return(r, RETURN_UNKNOWN, 0, 0);
	}
}

static void slots_before(struct recipe *r, const struct insn *in, const struct arch *arch)
{
	uint8_t list[CALLEE_SAVED_MAX], reg;
	unsigned count = callee_saved_list(arch, list);
	for (unsigned i = 0; i < count; i++) {
		int32_t *slot = &r->slot[i];
		if (*slot == SLOT_SAME && regset_has(&in->writes, list[i]))
			*slot = loaded_from(r, in, arch, list[i]);
		else if (*slot != SLOT_SAME && *slot != SLOT_LOST &&
			 (r->cfa == CFA_UNKNOWN || stores_at(r, in, arch, *slot, &reg)))
			*slot = SLOT_LOST;
	}
}

static void step_back(struct recipe *r, const struct insn *in, const struct arch *arch)
{
	cfa_before(r, in, arch);
	return_before(r, in, arch);
	slots_before(r, in, arch);
}

/* Whether the recipe still leads to the new frame: by the stack pointer, or else by the frame
 * pointer. */
static bool reaches_frame(const struct recipe *r, const struct arch *arch)
{
	uint8_t list[CALLEE_SAVED_MAX];
	unsigned count = callee_saved_list(arch, list);
	bool has_fp = false;
	for (unsigned i = 0; i < count; i++)
		has_fp |= list[i] == arch->fp && r->slot[i] == SLOT_SAME;
	if (r->cfa == CFA_UNKNOWN)
		return r->ret == RETURN_REGISTER && has_fp;
	return r->ret != RETURN_UNKNOWN;
}

bool is_stack_switch(const struct insn *insns, uint32_t count, const struct arch *arch,
		     const struct state *s)
{
	return count && has_lost_caller(s, arch) && goes_to_value(&insns[count - 1], arch) &&
	       leaves_stack(insns, count, arch);
}

void stack_switch_recipes(const struct insn *insns, uint32_t count, const struct arch *arch,
			  struct recipe *out)
{
	struct recipe r = at_jump(&insns[count - 1], arch);
	uint32_t i = count - 1;
	memset(out, 0, count * sizeof(*out));
	for (out[i] = r; i > 0; out[--i] = r) {
		step_back(&r, &insns[i - 1], arch);
		if (!reaches_frame(&r, arch))
			return;
	}
}
