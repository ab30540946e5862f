/* Comparing the target of an indirect jump with known addresses before the jump is made. */
#include "isa/a64/words.h"
#include "isa/arch.h"

/* x0 to x17: not the registers that platforms reserve or unwinders rely on. */
enum { SCRATCH_SET = (1 << (A64_IP1 + 1)) - 1 };

/* Only plain br: with pointer authentication, the register does not hold the plain target. */
bool a64_can_match(const struct insn *in, const uint8_t *bytes, const struct regset *free_set)
{
	(void)in;
	(void)free_set;
	return (a64_word(bytes) & 0xfffffc1f) == 0xd61f0000;
}

static void match_one(struct emit *e, unsigned jump, uint64_t unused,
		      const struct dispatch_target *known)
{
	unsigned reg = jump == A64_IP0 ? A64_IP1 : A64_IP0;
	if (unused)
		for (reg = 0; !(unused >> reg & 1);)
			reg++;
	else
		a64_put(e, a64_push(reg, 16));
	a64_set_register(e, reg, known->pc);
	a64_put(e, a64_eor(reg, reg, jump));
	uint64_t over = emit_here(e) + (unused ? 8 : 12);
	a64_put_to(e, a64_cbnz(reg), A64_DISTANCE_19, (struct emit_target){LABEL_NONE, over});
	if (!unused)
		a64_put(e, a64_pop(reg, 16));
	e->arch->emit->go(e, known->to);
	if (!unused)
		a64_put(e, a64_pop(reg, 16));
}

void a64_match(struct emit *e, const struct insn *in, const uint8_t *bytes,
	       const struct regset *free_set, const struct dispatch_target *targets, uint32_t count)
{
	unsigned jump = a64_word(bytes) >> 5 & 31;
	uint64_t unused = free_set->core & SCRATCH_SET & ~(UINT64_C(1) << jump);
	(void)in;
	for (uint32_t i = 0; i < count; i++)
		match_one(e, jump, unused, &targets[i]);
}
