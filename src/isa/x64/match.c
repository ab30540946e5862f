/* Comparing the target of an indirect jump with known addresses before the jump is made. The target
 * is in a register, or is loaded from memory into one. A binary search compares it with constants.
 * Flags and a register that are not free are saved below the red zone during the search:
 *
 *		save
 *		compare; je hit1; jb ...; ...
 *	miss:	restore; jmp on
 *	hit1:	restore; jmp target1
 *	hit2:	...
 *	on: */
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
	JB32 = 0x82, /* after 0f */
};

/* The parts of jmp r/m64. */
struct jump_parts {
	uint8_t rex;
	const uint8_t *modrm;
	uint8_t size; /* bytes from modrm on */
};

static bool parse_jump(const struct insn *in, const uint8_t *bytes, struct jump_parts *out)
{
	const uint8_t *at = bytes, *end = bytes + in->length;
	*out = (struct jump_parts){0};
	at += *at == X64_NOTRACK;
	if ((*at & 0xf0) == REX)
		out->rex = *at++ & 3;
	if (end - at < 2 || at[0] != X64_ONE || (at[1] & REG) >> 3 != X64_ONE_JUMP)
		return false;
	out->modrm = at + 1;
	out->size = (uint8_t)(end - out->modrm);
	return (*out->modrm & (MOD | RM)) != 5; /* relative to rip */
}

static bool is_register(const struct jump_parts *p)
{
	return (*p->modrm & MOD) == MOD;
}

/* The state of the search: the register that is compared, and what has to be saved. */
struct matcher {
	struct emit *e;
	const struct dispatch_target *targets;
	uint32_t *hits; /* a label for each target, if something is saved */
	uint32_t miss;
	unsigned reg;
	bool loads, pushes_reg, pushes_flags;
};

/* A register that the jump does not use, preferably a free one. */
static unsigned scratch(const struct insn *in, const struct regset *free_set)
{
	uint64_t usable = 0xffff & ~in->reads.core & ~(UINT64_C(1) << X64_RSP);
	uint64_t unused = free_set->core & usable;
	unsigned reg = 0;
	while (!((unused ? unused : usable) >> reg & 1))
		reg++;
	return reg;
}

static void choose(struct matcher *m, const struct insn *in, const struct jump_parts *p,
		   const struct regset *free_set)
{
	m->loads = !is_register(p);
	m->reg = m->loads ? scratch(in, free_set) : (*p->modrm & RM) | (p->rex & REX_B ? 8u : 0u);
	m->pushes_reg = m->loads && !regset_has(free_set, m->reg);
	m->pushes_flags = !regset_has(free_set, REG_FLAGS);
}

/* Saving moves the stack pointer, so the operand must not depend on it then. */
bool x64_can_match(const struct insn *in, const uint8_t *bytes, const struct regset *free_set)
{
	struct jump_parts parts;
	struct matcher m = {0};
	if (!parse_jump(in, bytes, &parts))
		return false;
	choose(&m, in, &parts, free_set);
	return !regset_has(&in->reads, X64_RSP) || !(m.pushes_reg || m.pushes_flags);
}

static void load(struct emit *e, const struct jump_parts *p, unsigned reg)
{
	x64_byte(e, REX | REX_W | (reg & 8 ? REX_R : 0u) | p->rex);
	x64_byte(e, X64_LOAD);
	x64_byte(e, (*p->modrm & (MOD | RM)) | (reg & 7) << 3);
	emit_bytes(e, p->modrm + 1, p->size - 1u);
}

static void save(const struct matcher *m)
{
	if (m->pushes_reg || m->pushes_flags)
		x64_move_stack(m->e, -X64_RED_ZONE);
	if (m->pushes_reg)
		x64_push(m->e, m->reg);
	if (m->pushes_flags)
		x64_byte(m->e, X64_PUSH_FLAGS);
}

static void restore(const struct matcher *m)
{
	if (m->pushes_flags)
		x64_byte(m->e, X64_POP_FLAGS);
	if (m->pushes_reg)
		x64_pop(m->e, m->reg);
	if (m->pushes_reg || m->pushes_flags)
		x64_move_stack(m->e, X64_RED_ZONE);
}

/* Searches targets [first, end). The last part of the whole search falls through to the miss. */
static void search(const struct matcher *m, uint32_t first, uint32_t end, bool last)
{
	uint32_t middle = first + (end - first) / 2;
	uint32_t literal = emit_literal(m->e, m->targets[middle].pc, 0);
	x64_literal_form(m->e, COMPARE_WITH, m->reg, literal);
	x64_jump_if(m->e, X64_JE32,
		    m->hits ? (struct emit_target){.label = m->hits[middle]}
			    : m->targets[middle].to);
	if (end - first == 1) {
		if (!last)
			x64_go(m->e, (struct emit_target){.label = m->miss});
		return;
	}
	if (middle + 1 < end) {
		uint32_t below = emit_label(m->e);
		x64_jump_if(m->e, JB32, (struct emit_target){.label = below});
		search(m, middle + 1, end, false);
		emit_place(m->e, below);
	}
	search(m, first, middle, last);
}

static void put_hits(const struct matcher *m, uint32_t count)
{
	struct emit_target on = {.label = emit_label(m->e)};
	x64_go(m->e, on);
	for (uint32_t i = 0; i < count; i++) {
		emit_place(m->e, m->hits[i]);
		restore(m);
		x64_go(m->e, m->targets[i].to);
	}
	emit_place(m->e, on.label);
}

void x64_match(struct emit *e, const struct insn *in, const uint8_t *bytes,
	       const struct regset *free_set, const struct dispatch_target *targets, uint32_t count)
{
	struct jump_parts parts;
	struct matcher m = {.e = e, .targets = targets, .miss = emit_label(e)};
	if (!count || !x64_can_match(in, bytes, free_set) || !parse_jump(in, bytes, &parts)) {
		e->failed = true;
		return;
	}
	choose(&m, in, &parts, free_set);
	bool saves = m.pushes_reg || m.pushes_flags;
	if (saves)
		m.hits = xcalloc(count, sizeof(*m.hits));
	for (uint32_t i = 0; i < count && saves; i++)
		m.hits[i] = emit_label(e);
	save(&m);
	if (m.loads)
		load(e, &parts, m.reg);
	search(&m, 0, count, true);
	emit_place(e, m.miss);
	restore(&m);
	if (saves)
		put_hits(&m, count);
	free(m.hits);
}
