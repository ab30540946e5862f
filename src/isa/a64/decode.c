/* The A64 decoder: finds the rule for an instruction word and fills struct insn from it. */
#include <elf.h>

#include "isa/a64/table.h"
#include "isa/arch.h"

/* The registers that a field names. A list of several registers wraps around from 31 to 0. */
static uint32_t field_set(const struct a64_field *f, uint32_t word)
{
	uint64_t set = (uint64_t)f->ones << (word >> f->shift & f->mask);
	return (uint32_t)(set | set >> 32);
}

static void fill_registers(const struct a64_rule *rule, uint32_t word, struct insn *out)
{
	struct regset reads = rule->reads, writes = rule->writes;

	for (unsigned i = 0; i < rule->core_count; i++) {
		const struct a64_field *f = &rule->core[i];
		uint32_t set = field_set(f, word);
		reads.core |= (uint64_t)(set & f->reads) << f->base;
		writes.core |= (uint64_t)(set & f->writes) << f->base;
	}
	for (unsigned i = 0; i < rule->vec_count; i++) {
		uint32_t set = field_set(&rule->vec[i], word);
		reads.vec |= set & rule->vec[i].reads;
		writes.vec |= set & rule->vec[i].writes;
	}
	out->reads = reads;
	out->writes = writes;
	out->parts = (struct part_uses){reads.core, writes.core, reads.core, writes.core};
}

static const struct insn blank = {
	.dst = REG_NONE,
	.dst2 = REG_NONE,
	.a = REG_NONE,
	.b = REG_NONE,
};

static void fill(const struct a64_match *m, uint32_t word, struct insn *out)
{
	fill_registers(a64_rule(m), word, out);
	out->stack_known = !regset_has(&out->writes, arch_a64.sp);
	if (a64_form_info[m->form].fill)
		a64_form_info[m->form].fill(word, out);
}

static uint64_t branch_target(uint32_t form, uint32_t word, uint64_t pc)
{
	switch (form) {
	case JUMP:
	case CALL: return pc + (uint64_t)((int64_t)(int32_t)(word << 6) >> 4);
	case BRANCH_FLAGS:
	case JUMP_ALWAYS:
	case BRANCH_ZERO: return pc + (uint64_t)((int64_t)(int32_t)(word << 8) >> 11 & ~INT64_C(3));
	case BRANCH_BIT: return pc + (uint64_t)((int64_t)(int32_t)(word << 13) >> 16 & ~INT64_C(3));
	default: return 0;
	}
}

static size_t decode(const uint8_t *p, size_t n, uint64_t pc, enum insn_detail detail,
		     struct insn *out)
{
	if (n < 4)
		return 0;
	uint32_t word =
		(uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
	const struct a64_match *m = a64_find(word);
	if (m->form == UNDEFINED || (m->checked && !a64_form_info[m->form].valid(word)))
		return 0;
	if (detail == DECODE_FULL)
		*out = blank;
	out->pc = pc;
	out->target = m->kind == INSN_PLAIN ? 0 : branch_target(m->form, word, pc);
	out->length = 4;
	out->kind = m->kind;
	out->class = m->class;
	out->flags = m->flags;
	if (detail == DECODE_FULL)
		fill(m, word, out);
	return 4;
}

static size_t find_jump(const uint8_t *p, size_t n, uint64_t pc, struct found_jump *out)
{
	struct insn in;
	for (size_t at = 0; at < n; at += 4) {
		if (!decode(p + at, n - at, pc + at, DECODE_FLOW, &in) ||
		    (in.kind != INSN_JUMP && in.kind != INSN_BRANCH && in.kind != INSN_CALL))
			continue;
		*out = (struct found_jump){.target = in.target, .call = in.kind == INSN_CALL};
		return at;
	}
	return n;
}

static const char *reg_name(unsigned reg)
{
	static const char *const names[] = {
		"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10",
		"x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
		"x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",  "nzcv"};
	return reg < sizeof(names) / sizeof(names[0]) ? names[reg] : "?";
}

/* Arguments: x0-x7, x8 (address of the result), x15 and x18 (static chain), x16 and x17 (linkage),
 * and the registers that every function needs at its entry: x29, x30, sp; v0-v7; predicates 0-3.
 * Only the low halves of the callee-saved v8-v15 are preserved.
 *
 * The linker may insert a veneer into any call, which destroys x16 and x17, so no compiler keeps
 * values in them across a call. Functions that take vectors as arguments (vector PCS, SVE) preserve
 * v8-v23 as a whole. */
const struct arch arch_a64 = {
	.name = "aarch64",
	.elf_machine = EM_AARCH64,
	.insn_align = 4,
	.insn_max = 4,
	.sp = 31,
	.fp = 29,
	.link = 30,
	.first_arg = 0,
	.second_arg = 1,
	.result = 0,
	.callee_saved = {.core = 0xbff80000, .vec = 0x0000ff00},
	.arguments = {.core = 0xe00781ff | UINT64_C(0xf) << A64_FIRST_PREDICATE, .vec = 0x000000ff},
	.scratch = {.core = 0x0003fe00 | UINT64_C(1) << REG_FLAGS, .vec = 0xffff0000},
	.private_candidates = {.core = 0x0003fe00 | UINT64_C(1) << REG_FLAGS, .vec = 0xff000000},
	.pass = {14, 15},
	.usable = {.core = 0x5fffffff | UINT64_C(1) << REG_FLAGS, .vec = 0xffffffff},
	.layout = &a64_layout,
	.emit = &a64_emit,
	.file = &a64_file,
	.decode = decode,
	.find_jump = find_jump,
	.reg_name = reg_name,
};
