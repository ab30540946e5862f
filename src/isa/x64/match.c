/* Telling where an indirect jump leads, before it is made: its operand is compared, in the form in
 * which the jump has it. A register is compared with a constant in memory; memory needs a register
 * to be compared with. */
#include "isa/x64/encode.h"
#include "isa/x64/x64.h"

enum {
	REX = 0x40,
	REX_W = 8,
	REX_R = 4,
	REX_B = 1,
	COMPARE_WITH = 0x3b, /* flags of reg - r/m */
	MOD = 0xc0,
	REG = 0x38,
	RM = 7,
};

/* The parts of jmp r/m64. */
struct parts {
	uint8_t rex;
	const uint8_t *modrm;
	uint8_t size; /* from modrm on */
};

static bool take_apart(const struct insn *in, const uint8_t *bytes, struct parts *out)
{
	const uint8_t *at = bytes, *end = bytes + in->length;
	*out = (struct parts){0};
	at += *at == X64_NOTRACK;
	if ((*at & 0xf0) == REX)
		out->rex = *at++ & 3;
	if (end - at < 2 || at[0] != X64_ONE || (at[1] & REG) >> 3 != X64_ONE_JUMP)
		return false;
	out->modrm = at + 1;
	out->size = (uint8_t)(end - out->modrm);
	return (*out->modrm & (MOD | RM)) != 5; /* relative to rip */
}

static bool is_register(const struct parts *p)
{
	return (*p->modrm & MOD) == MOD;
}

/* A register to compare with; REG_NONE: there is none. */
static unsigned scratch(const struct insn *in, const struct regset *free_set)
{
	uint64_t unused = free_set->core & ~in->reads.core & ~(UINT64_C(1) << X64_RSP);
	for (unsigned i = 0; i < 16; i++)
		if (unused >> i & 1)
			return i;
	return REG_NONE;
}

bool x64_can_match(const struct insn *in, const uint8_t *bytes, const struct regset *free_set)
{
	struct parts parts;
	return take_apart(in, bytes, &parts) && regset_has(free_set, REG_FLAGS) &&
	       (is_register(&parts) || scratch(in, free_set) != REG_NONE);
}

static void compare_register(struct emit *e, const struct parts *p, uint64_t pc)
{
	unsigned reg = (*p->modrm & RM) | (p->rex & REX_B ? 8u : 0u);
	x64_literal_form(e, COMPARE_WITH, reg, emit_literal(e, pc, 0));
}

static void compare_memory(struct emit *e, const struct parts *p, unsigned reg, uint64_t pc)
{
	unsigned rex = REX | REX_W | (reg & 8 ? REX_R : 0u), field = (reg & 7) << 3;
	x64_byte(e, rex);
	x64_byte(e, X64_LEA);
	x64_byte(e, field | 5);
	x64_distance(e, (struct emit_target){LABEL_NONE, pc});
	x64_byte(e, rex | p->rex);
	x64_byte(e, COMPARE_WITH);
	x64_byte(e, (*p->modrm & (MOD | RM)) | field);
	emit_bytes(e, p->modrm + 1, p->size - 1u);
}

void x64_match(struct emit *e, const struct insn *in, const uint8_t *bytes,
	       const struct regset *free_set, uint64_t pc, struct emit_target to)
{
	struct parts parts;
	if (!x64_can_match(in, bytes, free_set) || !take_apart(in, bytes, &parts)) {
		e->failed = true;
		return;
	}
	if (is_register(&parts))
		compare_register(e, &parts, pc);
	else
		compare_memory(e, &parts, scratch(in, free_set), pc);
	x64_byte(e, 0x0f);
	x64_byte(e, X64_JE32);
	x64_distance(e, to);
}
