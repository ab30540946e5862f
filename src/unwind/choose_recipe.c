#include "unwind/choose_recipe.h"

unsigned callee_saved_list(const struct arch *arch, uint8_t out[CALLEE_SAVED_MAX])
{
	unsigned n = 0;
	uint64_t left = arch->callee_saved.core & UINT32_MAX & ~(UINT64_C(1) << arch->sp);
	if (arch->link != REG_NONE)
		left &= ~(UINT64_C(1) << arch->link);
	for (; left && n < CALLEE_SAVED_MAX; left &= left - 1)
		out[n++] = (uint8_t)__builtin_ctzll(left);
	return n;
}

static bool is_frame_address(const struct value *v)
{
	return v->kind == VALUE_STACK && v->base == BASE_CFA;
}

/* A register at a known distance from the base: preferably the stack pointer, then the frame
 * pointer, then registers that calls preserve, then any. */
static uint8_t register_near(const struct state *s, const struct arch *arch, uint16_t base)
{
	uint8_t found = REG_NONE;
	for (unsigned i = REGISTERS; i-- > 0;) {
		const struct value *v = &s->reg[i];
		bool preserved = regset_has(&arch->callee_saved, i);
		if (v->kind == VALUE_STACK && v->base == base &&
		    (preserved || found == REG_NONE || !regset_has(&arch->callee_saved, found)))
			found = (uint8_t)i;
	}
	if (s->reg[arch->fp].kind == VALUE_STACK && s->reg[arch->fp].base == base)
		found = arch->fp;
	if (s->reg[arch->sp].kind == VALUE_STACK && s->reg[arch->sp].base == base)
		found = arch->sp;
	return found;
}

/* Finds the CFA in memory: an address in the frame that was stored at a place which some register
 * leads to. */
static bool cfa_from_memory(const struct state *s, const struct arch *arch, struct recipe *r)
{
	for (unsigned i = 0; i < s->slot_count; i++) {
		const struct slot *slot = &s->slots[i];
		if (!is_frame_address(&slot->value) || slot->base == BASE_CFA)
			continue;
		uint8_t reg = register_near(s, arch, slot->base);
		if (reg == REG_NONE)
			continue;
		r->cfa = CFA_MEMORY;
		r->cfa_reg = reg;
		r->cfa_offset = slot->offset - s->reg[reg].offset;
		r->cfa_add = -slot->value.offset;
		return true;
	}
	return false;
}

static const struct slot *slot_with(const struct state *s, uint16_t base, unsigned reg)
{
	const struct slot *found = NULL;
	for (unsigned i = 0; i < s->slot_count; i++) {
		const struct slot *slot = &s->slots[i];
		bool holds = slot->value.kind == VALUE_ENTRY && slot->value.reg == reg &&
			     slot->base == base;
		if (holds && (!found || slot->offset > found->offset))
			found = slot;
	}
	return found;
}

static bool holds_entry(const struct state *s, unsigned reg, unsigned entry)
{
	return s->reg[reg].kind == VALUE_ENTRY && s->reg[reg].reg == entry;
}

/* Whether the slot is below the stack pointer. There it is neither safe from signal handlers nor
 * part of stack copies. */
static bool is_below_stack(const struct state *s, const struct arch *arch, const struct slot *slot)
{
	const struct value *sp = &s->reg[arch->sp];
	return sp->kind == VALUE_STACK && sp->base == slot->base && slot->offset < sp->offset;
}

/* Memory is preferred to a register: it still holds the return address while a callee is active. */
static void choose_return(const struct state *s, const struct arch *arch, struct recipe *r)
{
	if (arch->link == REG_NONE) {
		r->ret = RETURN_SAVED;
		r->ret_offset = -8;
		return;
	}
	const struct slot *slot = slot_with(s, BASE_CFA, arch->link);
	if (slot && !(is_below_stack(s, arch, slot) && holds_entry(s, arch->link, arch->link))) {
		r->ret = RETURN_SAVED;
		r->ret_offset = slot->offset;
		return;
	}
	for (unsigned i = 0; i < REGISTERS; i++) {
		const struct value *v = &s->reg[i];
		if (v->kind == VALUE_ENTRY && v->reg == arch->link &&
		    (r->ret == RETURN_UNKNOWN || i == arch->link)) {
			r->ret = RETURN_REGISTER;
			r->ret_reg = (uint8_t)i;
		}
	}
}

/* The number of the caller's registers that are saved relative to the base. */
static unsigned saved_at(const struct state *s, const struct arch *arch, uint16_t base)
{
	uint64_t saved = 0;
	for (unsigned i = 0; i < s->slot_count; i++) {
		const struct slot *slot = &s->slots[i];
		if (slot->value.kind == VALUE_ENTRY && slot->value.reg < REGISTERS &&
		    slot->base == base)
			saved |= UINT64_C(1) << slot->value.reg;
	}
	return (unsigned)__builtin_popcountll(saved & arch->callee_saved.core);
}

/* Among the bases that a register leads to, the one relative to which most registers are saved. */
static uint16_t base_of_slots(const struct state *s, const struct arch *arch)
{
	uint16_t best = BASE_CFA;
	unsigned most = saved_at(s, arch, BASE_CFA);
	for (unsigned i = 0; i < s->slot_count; i++) {
		uint16_t base = s->slots[i].base;
		if (base == best || register_near(s, arch, base) == REG_NONE)
			continue;
		unsigned n = saved_at(s, arch, base);
		if (n > most) {
			best = base;
			most = n;
		}
	}
	return best;
}

/* For each register, finds where its value at entry is saved, relative to the base; the highest
 * place if there are several, SLOT_LOST if there is none. */
static void find_saved(const struct state *s, uint16_t base, int32_t offset[REGISTERS])
{
	for (unsigned r = 0; r < REGISTERS; r++)
		offset[r] = SLOT_LOST;
	for (unsigned i = 0; i < s->slot_count; i++) {
		const struct slot *slot = &s->slots[i];
		uint8_t reg = slot->value.reg;
		if (slot->value.kind == VALUE_ENTRY && slot->base == base && reg < REGISTERS &&
		    slot->offset > offset[reg])
			offset[reg] = slot->offset;
	}
}

static void choose_slots(const struct state *s, const struct arch *arch, struct recipe *r)
{
	uint8_t list[CALLEE_SAVED_MAX];
	unsigned count = callee_saved_list(arch, list);
	uint16_t base = base_of_slots(s, arch);
	r->slot_reg = base == BASE_CFA ? REG_NONE : register_near(s, arch, base);
	int32_t origin = base == BASE_CFA ? 0 : s->reg[r->slot_reg].offset;
	int32_t saved[REGISTERS];
	find_saved(s, base, saved);
	for (unsigned i = 0; i < count; i++) {
		r->slot[i] = saved[list[i]];
		if (holds_entry(s, list[i], list[i]))
			r->slot[i] = SLOT_SAME;
		else if (r->slot[i] != SLOT_LOST)
			r->slot[i] -= origin;
	}
}

static bool slot_holds(const struct state *s, uint16_t base, int32_t offset, unsigned reg)
{
	for (unsigned i = 0; i < s->slot_count; i++) {
		const struct slot *slot = &s->slots[i];
		if (slot->base == base && slot->offset == offset)
			return slot->value.kind == VALUE_ENTRY && slot->value.reg == reg;
	}
	return false;
}

static bool has_frame_record(const struct state *s, const struct arch *arch)
{
	const struct value *fp = &s->reg[arch->fp];
	if (fp->kind != VALUE_STACK || !slot_holds(s, fp->base, fp->offset, arch->fp))
		return false;
	if (arch->link == REG_NONE)
		return is_frame_address(fp) && fp->offset == -16;
	return slot_holds(s, fp->base, fp->offset + 8, arch->link);
}

struct recipe choose_recipe(const struct state *s, const struct arch *arch)
{
	struct recipe r = {.source = RECIPE_ANALYSIS, .slot_reg = REG_NONE};
	uint8_t reg = register_near(s, arch, BASE_CFA);
	if (reg != REG_NONE) {
		r.cfa = CFA_REGISTER;
		r.cfa_reg = reg;
		r.cfa_offset = -s->reg[reg].offset;
	} else if (!cfa_from_memory(s, arch, &r)) {
		return r;
	}
	choose_return(s, arch, &r);
	choose_slots(s, arch, &r);
	r.record = has_frame_record(s, arch);
	return r;
}
