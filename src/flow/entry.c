#include "flow/entry.h"

/* How many instructions are looked at. A prologue sets up the frame at once; to see what other code
 * relies on takes more of it. */
enum { ENTRY_LOOK = 24, PROLOGUE_LOOK = 6 };

size_t decode_at(const struct module *m, const struct arch *arch, uint64_t va,
		 enum insn_detail detail, struct insn *out)
{
	size_t n;
	const uint8_t *p = module_is_code(m, va) ? module_at(m, va, arch->insn_max, &n) : NULL;
	return p ? arch->decode(p, n, va, detail, out) : 0;
}

static bool is_zero_filled(const struct module *m, uint64_t va)
{
	size_t n;
	const uint8_t *p = module_at(m, va, 4, &n);
	return p && n >= 4 && !p[0] && !p[1] && !p[2] && !p[3];
}

uint64_t padding_at(const struct module *m, const struct arch *arch, uint64_t va, uint64_t end)
{
	uint64_t at = va;
	while (at < end) {
		struct insn in;
		size_t length = decode_at(m, arch, at, DECODE_FLOW, &in);
		bool filling = length && (in.flags & INSN_NOP ||
					  (in.kind == INSN_TRAP && length == arch->insn_align));
		if (!filling && is_zero_filled(m, at))
			length = arch->insn_align;
		else if (!filling)
			break;
		at += length;
	}
	return at > end ? end - va : at - va;
}

bool call_asks_for_address(const struct module *m, const struct arch *arch, uint64_t end,
			   uint64_t target)
{
	struct insn in;
	return target == end && arch->link == REG_NONE &&
	       decode_at(m, arch, target, DECODE_FULL, &in) && in.kind == INSN_PLAIN &&
	       in.stack_known && in.stack == 8;
}

/* The state of registers in the first instructions of a function. */
struct entry_state {
	const struct arch *arch;
	uint64_t kept;  /* callee-saved registers and the link register: to be preserved */
	uint64_t saved; /* registers in `kept` that were stored */
	uint64_t written;
	bool frame; /* the stack pointer was lowered */
};

static const uint64_t general_registers = (UINT64_C(1) << REGISTERS) - 1;

static void entry_state_init(struct entry_state *e, const struct arch *arch)
{
	*e = (struct entry_state){.arch = arch,
				  .kept = arch->callee_saved.core & general_registers};
	if (arch->link != REG_NONE)
		e->kept |= 1ull << arch->link;
	e->kept &= ~(1ull << arch->sp);
}

static bool is_store(const struct insn *in)
{
	return in->op == OP_STORE || in->op == OP_STORE_PAIR || in->op == OP_PUSH;
}

/* The registers that lose their values by the instruction. A signed return address is still one. */
static uint64_t overwritten(const struct entry_state *e, const struct insn *in)
{
	return in->flags & INSN_SIGNS_LINK ? in->writes.core & ~(1ull << e->arch->link)
					   : in->writes.core;
}

static void note_saved(struct entry_state *e, const struct insn *in)
{
	if (in->dst < 32)
		e->saved |= 1ull << in->dst;
	if (in->op == OP_STORE_PAIR && in->dst2 < 32)
		e->saved |= 1ull << in->dst2;
}

/* Whether everything that the instruction reads can have a meaningful value here. */
static bool reads_are_possible(const struct entry_state *e, const struct insn *in)
{
	const struct arch *arch = e->arch;
	/* Any floating-point instruction reads the modes of its unit, and writes its status. */
	uint64_t modes = arch->callee_saved.core & ~general_registers;
	uint64_t passed = arch->arguments.core | modes | 1ull << arch->sp;
	uint64_t reads = in->reads.core & ~e->written;
	/* x86-64's inc, dec and shifts leave some flags alone, which counts as reading them; and
	 * what writes 8 or 16 bits of a register leaves its other bits alone. */
	if (regset_has(&in->writes, REG_FLAGS))
		reads &= ~(1ull << REG_FLAGS);
	reads &= ~(in->writes.core & e->saved);
	if (reads & ~(passed | e->kept))
		return false;
	/* A landing pad of x86-64 finds the exception in the result register and copies it. */
	if (in->op == OP_MOVE && in->a == arch->result && reads >> in->a & 1 &&
	    arch->result != arch->first_arg)
		return false;
	/* A load from the stack is rarely of an argument; more likely it is of a local variable, in
	 * a frame that was set up before. */
	if (!e->frame && in->op == OP_LOAD && in->a == arch->sp)
		return false;
	/* Registers in `kept` have the caller's values. A function can only copy them, or return.
	 */
	return !(reads & e->kept) || is_store(in) || in->op == OP_MOVE || in->kind == INSN_RETURN ||
	       in->flags & (INSN_LANDING | INSN_SIGNS_LINK);
}

/* Updates the state by one more instruction. False if the instruction is impossible so soon after a
 * function's start. */
static bool accept_insn(struct entry_state *e, const struct insn *in)
{
	uint64_t sp = 1ull << e->arch->sp, writes = overwritten(e, in);
	if (!reads_are_possible(e, in))
		return false;
	if (is_store(in))
		note_saved(e, in);
	if (in->stack_known && in->stack > 0 && !e->frame)
		return false;
	if (in->kind == INSN_CALL || in->kind == INSN_CALL_INDIRECT)
		return e->frame;
	if (writes & e->kept & ~e->saved & ~e->written)
		return false;
	e->frame |= in->stack_known ? in->stack < 0 : (writes & sp) != 0;
	e->written |= writes;
	return true;
}

bool looks_like_entry(const struct module *m, const struct arch *arch, uint64_t va)
{
	struct entry_state e;
	entry_state_init(&e, arch);
	for (unsigned i = 0; i < ENTRY_LOOK; i++) {
		struct insn in;
		size_t length = decode_at(m, arch, va, DECODE_FULL, &in);
		if (!length || in.kind == INSN_TRAP || in.flags & INSN_LANDING_JUMP_ONLY)
			return false;
		/* This call only gets its own address, so it needs no frame. */
		if (in.kind == INSN_CALL && call_asks_for_address(m, arch, va + length, in.target))
			return true;
		if (!accept_insn(&e, &in))
			return false;
		if (insn_ends_block(&in) && in.kind != INSN_BRANCH)
			return true;
		va += length;
	}
	return true;
}

bool looks_like_prologue(const struct module *m, const struct arch *arch, uint64_t va)
{
	struct entry_state e;
	entry_state_init(&e, arch);
	for (unsigned i = 0; i < PROLOGUE_LOOK; i++) {
		struct insn in;
		size_t length = decode_at(m, arch, va, DECODE_FULL, &in);
		if (!length || insn_ends_block(&in) || in.flags & INSN_LANDING_JUMP_ONLY)
			return false;
		if (!accept_insn(&e, &in))
			return false;
		if (e.frame && e.saved & e.kept)
			return true;
		if (!i && in.flags & INSN_LANDING)
			return looks_like_entry(m, arch, va);
		va += length;
	}
	return false;
}

/* Whether the code at va returns with the stack pointer as it found it. */
static bool returns_without_frame(const struct module *m, const struct arch *arch, uint64_t va)
{
	for (unsigned i = 0; i < ENTRY_LOOK; i++) {
		struct insn in;
		size_t length = decode_at(m, arch, va, DECODE_FULL, &in);
		if (length && in.kind == INSN_RETURN)
			return true;
		if (!length || (insn_ends_block(&in) && in.kind != INSN_BRANCH) ||
		    regset_has(&in.writes, arch->sp))
			return false;
		va += length;
	}
	return false;
}

bool looks_like_label(const struct module *m, const struct arch *arch, uint64_t va)
{
	return !looks_like_prologue(m, arch, va) && !returns_without_frame(m, arch, va);
}
