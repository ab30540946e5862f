#include "flow/constants.h"

enum { PAGE = 4096 }; /* the unit of adrp's operand */

static bool is_known(const struct constants *c, unsigned reg)
{
	return reg < 32 && c->known >> reg & 1;
}

static void learn(struct constants *c, unsigned reg, uint64_t value, bool is_address)
{
	c->value[reg] = value;
	c->known |= 1u << reg;
	c->addresses |= (uint32_t)is_address << reg;
}

void constants_track(struct constants *c, const struct insn *in)
{
	bool base_known = is_known(c, in->a);
	bool base_is_address = base_known && c->addresses >> in->a & 1;
	uint64_t base = base_known ? c->value[in->a] : 0;
	c->known &= ~(uint32_t)in->writes.core;
	c->addresses &= c->known;
	if (in->dst >= 32)
		return;
	if (in->op == OP_SET)
		learn(c, in->dst, (uint64_t)in->imm, in->flags & INSN_PC_RELATIVE);
	else if (in->op == OP_ADD && in->b == REG_NONE && base_known)
		learn(c, in->dst, base + (uint64_t)in->imm, base_is_address);
}

uint64_t constants_address(const struct constants *c, const struct insn *in)
{
	if (in->b != REG_NONE)
		return 0;
	if (in->a == REG_NONE)
		return (uint64_t)in->imm;
	return is_known(c, in->a) ? c->value[in->a] + (uint64_t)in->imm : 0;
}

uint64_t constants_made(const struct constants *c, const struct insn *in)
{
	if (in->dst >= 32 || !(c->addresses >> in->dst & 1))
		return 0;
	return in->op != OP_SET || c->value[in->dst] % PAGE ? c->value[in->dst] : 0;
}
