#include "unwind/state.h"

#include <string.h>

static const struct value unknown;

_Static_assert(sizeof(struct value) == 8, "values are compared as bytes: there must be no gaps");

static bool same_value(struct value a, struct value b)
{
	return !memcmp(&a, &b, sizeof(a));
}

static struct value entry_of(unsigned reg)
{
	return (struct value){.kind = VALUE_ENTRY, .reg = (uint8_t)reg};
}

static struct value stack_at(uint16_t base, int64_t offset)
{
	if (offset < INT32_MIN || offset > INT32_MAX)
		return unknown;
	return (struct value){.kind = VALUE_STACK, .base = base, .offset = (int32_t)offset};
}

static struct value constant(int64_t c)
{
	if (c < INT32_MIN || c > INT32_MAX)
		return unknown;
	return (struct value){.kind = VALUE_CONSTANT, .offset = (int32_t)c};
}

void state_at_entry(struct state *s, const struct arch *arch, int32_t pushed)
{
	memset(s, 0, sizeof(*s));
	for (unsigned r = 0; r < REGISTERS; r++)
		if (regset_has(&arch->callee_saved, r) || r == arch->link)
			s->reg[r] = entry_of(r);
	s->reg[arch->sp] = stack_at(BASE_CFA, -pushed);
	s->compared_a = s->compared_b = REG_NONE;
	if (pushed)
		s->slots[s->slot_count++] = (struct slot){
			BASE_CFA, -8, entry_of(arch->link == REG_NONE ? ENTRY_RETURN : arch->link)};
}

static struct value value_of(const struct state *s, uint8_t reg)
{
	return reg < REGISTERS ? s->reg[reg] : unknown;
}

static struct value plus(struct value v, int64_t by)
{
	if (v.kind == VALUE_STACK)
		return stack_at(v.base, v.offset + by);
	if (v.kind == VALUE_CONSTANT)
		return constant(v.offset + by);
	return v.kind == VALUE_ENTRY && by == 0 ? v : unknown;
}

/* a + b, or a - b if `sign` is negative. */
static struct value sum(struct value a, struct value b, int sign)
{
	if (b.kind == VALUE_CONSTANT)
		return plus(a, sign * (int64_t)b.offset);
	if (a.kind == VALUE_CONSTANT && sign > 0)
		return plus(b, a.offset);
	return unknown;
}

/* The address of the instruction's memory operand. */
static struct value address_of(const struct state *s, const struct insn *in)
{
	struct value a = value_of(s, in->a);
	if (in->b != REG_NONE || a.kind != VALUE_STACK)
		return unknown;
	return plus(a, in->writeback == WRITEBACK_POST ? 0 : in->imm);
}

static struct value load(const struct state *s, struct value at)
{
	for (unsigned i = 0; at.kind == VALUE_STACK && i < s->slot_count; i++)
		if (s->slots[i].base == at.base && s->slots[i].offset == at.offset)
			return s->slots[i].value;
	return unknown;
}

static void remove_slot(struct state *s, unsigned i)
{
	s->slots[i] = s->slots[--s->slot_count];
	memset(&s->slots[s->slot_count], 0, sizeof(s->slots[0]));
}

/* Whether the value leads to a register of the caller: it is the register's value at entry, or an
 * address in the frame. */
static bool worth_keeping(struct value v)
{
	return v.kind == VALUE_ENTRY || v.kind == VALUE_STACK;
}

/* Stores `width` bytes. It is assumed that stores to unknown addresses do not overwrite saved
 * registers. */
static bool store(struct state *s, struct value at, unsigned width, struct value v)
{
	bool changed = false;
	if (at.kind != VALUE_STACK)
		return false;
	for (unsigned i = s->slot_count; i-- > 0;) {
		const struct slot *old = &s->slots[i];
		if (old->base != at.base || old->offset >= at.offset + (int32_t)width ||
		    old->offset + 8 <= at.offset)
			continue;
		if (width == 8 && old->offset == at.offset && same_value(old->value, v))
			return changed;
		remove_slot(s, i);
		changed = true;
	}
	if (width != 8 || !worth_keeping(v) || s->slot_count == STATE_SLOTS)
		return changed;
	s->slots[s->slot_count++] = (struct slot){.base = at.base, .offset = at.offset, .value = v};
	return true;
}

/* Drops slots that are more than `zone` bytes below the stack pointer: signal handlers or callees
 * may overwrite them at any time. */
static bool drop_below(struct state *s, struct value sp, int32_t zone)
{
	bool changed = false;
	for (unsigned i = s->slot_count; i-- > 0 && sp.kind == VALUE_STACK;) {
		if (s->slots[i].base == sp.base && s->slots[i].offset < sp.offset - zone) {
			remove_slot(s, i);
			changed = true;
		}
	}
	return changed;
}

static bool set_register(struct state *s, unsigned reg, struct value v)
{
	if (reg >= REGISTERS || same_value(s->reg[reg], v))
		return false;
	s->reg[reg] = v;
	if (s->compared_a == reg || s->compared_b == reg)
		s->compared_a = s->compared_b = REG_NONE;
	return true;
}

/* Forgets everything relative to a base, because the base is created again. */
static void forget_base(struct state *s, uint16_t base)
{
	for (unsigned r = 0; r < REGISTERS; r++)
		if (s->reg[r].kind == VALUE_STACK && s->reg[r].base == base)
			s->reg[r] = unknown;
	for (unsigned i = s->slot_count; i-- > 0;) {
		const struct slot *old = &s->slots[i];
		if (old->base == base ||
		    (old->value.kind == VALUE_STACK && old->value.base == base))
			remove_slot(s, i);
	}
}

/* The value that the instruction computes into in->dst, or unknown. */
static struct value computed(const struct state *s, const struct insn *in)
{
	struct value a = value_of(s, in->a), b = value_of(s, in->b);
	bool whole = in->width == 8 && in->extend == EXTEND_NONE;
	switch (in->op) {
	case OP_SET: return constant(in->imm);
	case OP_MOVE: return whole ? a : unknown;
	case OP_ADD:
		if (!whole)
			return unknown;
		if (in->b == REG_NONE)
			return plus(a, in->imm);
		return in->shift ? unknown : plus(sum(a, b, 1), in->imm);
	case OP_SUB: return whole && !in->shift ? sum(a, b, -1) : unknown;
	case OP_LOAD: return in->width == 8 ? load(s, address_of(s, in)) : unknown;
	case OP_LOAD_PAIR: return in->width == 8 ? load(s, address_of(s, in)) : unknown;
	/* a is the stack pointer, or the frame pointer in x86-64's leave */
	case OP_POP: return load(s, value_of(s, in->a));
	default: return unknown;
	}
}

static bool execute_store(struct state *s, const struct arch *arch, const struct insn *in)
{
	struct value at = address_of(s, in), v = value_of(s, in->dst);
	switch (in->op) {
	case OP_PUSH: return store(s, plus(s->reg[arch->sp], -8), 8, v);
	case OP_STORE: return store(s, at, in->width, v);
	case OP_STORE_PAIR: {
		bool first = store(s, at, in->width, v);
		return store(s, plus(at, in->width), in->width, value_of(s, in->dst2)) || first;
	}
	default: return false;
	}
}

static struct value moved_stack(const struct state *s, const struct arch *arch,
				const struct insn *in, struct value result, uint16_t base)
{
	if (in->op == OP_POP)
		return plus(value_of(s, in->a), 8);
	if (in->stack_known)
		return plus(s->reg[arch->sp], in->stack);
	if (in->op == OP_AND)
		return stack_at(base, 0);
	return in->dst == arch->sp ? result : unknown;
}

/* Updates the registers that the instruction writes. */
static bool write_registers(struct state *s, const struct arch *arch, const struct insn *in,
			    uint16_t base)
{
	struct value result = computed(s, in), second = unknown, sp = unknown, moved = unknown;
	bool changed = false;
	/* A signed return address counts as the address itself: the walk strips the signature. */
	const unsigned signing = INSN_SIGNS_LINK | INSN_CHECKS_LINK;
	if (in->op == OP_LOAD_PAIR && in->width == 8)
		second = load(s, plus(address_of(s, in), 8));
	if (regset_has(&in->writes, arch->sp)) {
		if (in->op == OP_AND)
			forget_base(s, base);
		sp = moved_stack(s, arch, in, result, base);
	}
	if (in->writeback)
		moved = plus(value_of(s, in->a), in->imm);
	for (uint64_t left = in->writes.core & UINT32_MAX; left; left &= left - 1) {
		unsigned r = (unsigned)__builtin_ctzll(left);
		if (r == arch->link && in->flags & signing)
			continue;
		struct value v = r == arch->sp                             ? sp
				 : in->writeback && r == in->a             ? moved
				 : in->dst2 == r && in->op == OP_LOAD_PAIR ? second
				 : in->dst == r                            ? result
									   : unknown;
		bool matters = worth_keeping(s->reg[r]) || worth_keeping(v);
		changed |= set_register(s, r, v) && matters;
	}
	return changed;
}

static bool is_store(const struct insn *in)
{
	return in->op == OP_PUSH || in->op == OP_STORE || in->op == OP_STORE_PAIR;
}

bool state_execute(struct state *s, const struct arch *arch, const struct insn *in, uint16_t base)
{
	bool changed = is_store(in) && execute_store(s, arch, in);
	if (in->writes.core & UINT32_MAX)
		changed |= write_registers(s, arch, in, base);
	if (regset_has(&in->writes, arch->sp))
		changed |= drop_below(s, s->reg[arch->sp], arch->red_zone);
	if (regset_has(&in->writes, REG_FLAGS)) {
		bool compares = in->op == OP_COMPARE && in->b != REG_NONE && in->width == 8;
		s->compared_a = compares ? in->a : REG_NONE;
		s->compared_b = compares ? in->b : REG_NONE;
	}
	return changed;
}

void state_call(struct state *s, const struct arch *arch, const struct insn *in, uint32_t kept)
{
	/* A call of the next instruction, to load the pc: the return address stays pushed. */
	if (arch->link == REG_NONE && in->kind == INSN_CALL && in->target == in->pc + in->length) {
		set_register(s, arch->sp, plus(s->reg[arch->sp], -8));
		store(s, s->reg[arch->sp], 8, unknown);
		return;
	}
	for (unsigned r = 0; r < REGISTERS; r++)
		if (!regset_has(&arch->callee_saved, r) && !(kept >> r & 1))
			set_register(s, r, unknown);
	drop_below(s, s->reg[arch->sp], 0);
	s->compared_a = s->compared_b = REG_NONE;
}

void state_forget_saved(struct state *s, const struct arch *arch)
{
	for (unsigned i = 0; i < s->slot_count; i++) {
		const struct value *v = &s->slots[i].value;
		if (v->kind == VALUE_ENTRY && v->reg < REGISTERS && v->reg != arch->sp &&
		    same_value(s->reg[v->reg], *v))
			s->reg[v->reg] = unknown;
	}
}

void state_branch(struct state *s, const struct insn *branch, bool taken)
{
	bool equal = taken ? branch->cond == COND_EQ : branch->cond == COND_NE;
	uint8_t a = s->compared_a, b = s->compared_b;
	if (!equal || a >= REGISTERS || b >= REGISTERS || branch->op == OP_COMPARE)
		return;
	if (s->reg[a].kind == VALUE_UNKNOWN)
		s->reg[a] = s->reg[b];
	else if (s->reg[b].kind == VALUE_UNKNOWN)
		s->reg[b] = s->reg[a];
}

static bool has_slot(const struct state *s, const struct slot *slot)
{
	for (unsigned i = 0; i < s->slot_count; i++)
		if (s->slots[i].base == slot->base && s->slots[i].offset == slot->offset)
			return same_value(s->slots[i].value, slot->value);
	return false;
}

/* Whether some register other than the stack pointer leads to the CFA in both states. */
static bool both_know_frame(const struct state *s, const struct arch *arch,
			    const struct state *other)
{
	for (unsigned r = 0; r < REGISTERS; r++)
		if (r != arch->sp && s->reg[r].kind == VALUE_STACK && s->reg[r].base == BASE_CFA &&
		    same_value(s->reg[r], other->reg[r]))
			return true;
	return false;
}

bool state_meet(struct state *s, const struct arch *arch, const struct state *other, bool believe,
		bool *disagree)
{
	bool changed = false;
	struct value a = s->reg[arch->sp], b = other->reg[arch->sp];
	bool differ = a.kind == VALUE_STACK && b.kind == VALUE_STACK && !same_value(a, b);
	bool keep_sp = differ && believe && !both_know_frame(s, arch, other);
	*disagree |= differ && (keep_sp || !believe);
	for (unsigned r = 0; r < REGISTERS; r++) {
		bool keep = keep_sp && r == arch->sp;
		if (!keep && s->reg[r].kind != VALUE_UNKNOWN &&
		    !same_value(s->reg[r], other->reg[r]))
			changed |= set_register(s, r, unknown);
	}
	for (unsigned i = s->slot_count; i-- > 0;) {
		if (!has_slot(other, &s->slots[i])) {
			remove_slot(s, i);
			changed = true;
		}
	}
	if (s->compared_a != other->compared_a || s->compared_b != other->compared_b)
		s->compared_a = s->compared_b = REG_NONE;
	return changed;
}

/* Whether the instruction jumps to the return address, which was popped from the stack. */
static bool jumps_back(const struct state *s, const struct insn *last)
{
	return last->kind == INSN_JUMP_INDIRECT && last->op == OP_MOVE && last->a < REGISTERS &&
	       same_value(s->reg[last->a], entry_of(ENTRY_RETURN));
}

bool state_is_restored(const struct state *s, const struct arch *arch, const struct insn *last,
		       int32_t *off)
{
	struct value sp = s->reg[arch->sp];
	*off = 0;
	for (unsigned r = 0; r < REGISTERS; r++)
		if (regset_has(&arch->callee_saved, r) && r != arch->sp &&
		    !same_value(s->reg[r], entry_of(r)))
			return false;
	if (sp.kind != VALUE_STACK || sp.base != BASE_CFA)
		return false;
	bool on_stack = arch->link == REG_NONE && !jumps_back(s, last);
	*off = sp.offset + (on_stack ? 8 : 0);
	return *off == 0 &&
	       (arch->link == REG_NONE || same_value(s->reg[arch->link], entry_of(arch->link)));
}
