#include "cli/dump/dump.h"
#include "cli/term/output.h"

#include <inttypes.h>
#include <string.h>

#include "base/vec.h"

static void add_register(const struct dump *d, unsigned r, struct text *out)
{
	const char *name = d->arch->reg_name(r);
	if (strcmp(name, "?") != 0)
		text_add(out, name);
	else
		text_printf(out, "r%u", r);
}

void dump_registers(const struct dump *d, const struct regset *set, struct text *out)
{
	size_t start = out->len;
	for (unsigned r = 0; r < 64; r++) {
		if (!regset_has(set, r))
			continue;
		text_add(out, out->len > start ? "," : "");
		add_register(d, r, out);
	}
	for (unsigned r = 0; r < 32; r++)
		if (set->vec >> r & 1)
			text_printf(out, "%sv%u", out->len > start ? "," : "", r);
	if (out->len == start)
		text_char(out, '-');
}

static const char *const extend_name[] = {
	[EXTEND_NONE] = "-", [EXTEND_U8] = "u8",   [EXTEND_U16] = "u16", [EXTEND_U32] = "u32",
	[EXTEND_S8] = "s8",  [EXTEND_S16] = "s16", [EXTEND_S32] = "s32",
};

static const char *const cond_name[] = {
	[COND_OTHER] = "other", [COND_EQ] = "eq",   [COND_NE] = "ne",   [COND_ULT] = "ult",
	[COND_ULE] = "ule",     [COND_UGT] = "ugt", [COND_UGE] = "uge", [COND_SLT] = "slt",
	[COND_SLE] = "sle",     [COND_SGT] = "sgt", [COND_SGE] = "sge",
};

static const char *const writeback_name[] = {
	[WRITEBACK_NONE] = "-",
	[WRITEBACK_PRE] = "pre",
	[WRITEBACK_POST] = "post",
};

/* Adds the fields of the operation that are set: " op=load dst=x0 a=x1 imm=16 width=8". */
static void add_op(const struct dump *d, const struct insn *in, struct text *out)
{
	const struct {
		const char *name;
		uint8_t reg;
	} regs[] = {{" dst=", in->dst}, {" dst2=", in->dst2}, {" a=", in->a}, {" b=", in->b}};
	if (in->op == OP_OTHER)
		return;
	text_printf(out, " op=%s", insn_op_name[in->op]);
	for (size_t i = 0; i < ARRAY_SIZE(regs); i++) {
		if (regs[i].reg == REG_NONE)
			continue;
		text_add(out, regs[i].name);
		add_register(d, regs[i].reg, out);
	}
	if (in->extend)
		text_printf(out, " extend=%s", extend_name[in->extend]);
	if (in->shift)
		text_printf(out, " shift=%u", in->shift);
	if (in->imm)
		text_printf(out, " imm=%" PRId64, in->imm);
	if (in->value)
		text_printf(out, " value=%" PRId64, in->value);
	if (in->width)
		text_printf(out, " width=%u", in->width);
	if (in->writeback)
		text_printf(out, " writeback=%s", writeback_name[in->writeback]);
}

static void add_insn(const struct dump *d, const struct insn *in, struct text *out)
{
	static const char *const flag_names[16] = {
		"nop",         "landing",  "landing-jump", "signed",          "signs-link",
		"checks-link", "compares", "pc-relative",  "exclusive-begin", "exclusive-end"};
	text_printf(out, " %s %s", insn_kind_name[in->kind], insn_class_name[in->class]);
	if (in->kind == INSN_JUMP || in->kind == INSN_BRANCH || in->kind == INSN_CALL)
		text_printf(out, " target=0x%" PRIx64, in->target);
	if (in->kind == INSN_BRANCH)
		text_printf(out, " cond=%s", cond_name[in->cond]);
	dump_flags(in->flags, flag_names, out);
	text_add(out, " reads=");
	dump_registers(d, &in->reads, out);
	text_add(out, " writes=");
	dump_registers(d, &in->writes, out);
	if (!in->stack_known)
		text_add(out, " stack=?");
	else if (in->stack)
		text_printf(out, " stack=%+d", in->stack);
	add_op(d, in, out);
}

void dump_bytes(const uint8_t *p, size_t n, struct text *out)
{
	for (size_t i = 0; i < n; i++) {
		text_char(out, "0123456789abcdef"[p[i] >> 4]);
		text_char(out, "0123456789abcdef"[p[i] & 15]);
	}
}

void dump_assembly(struct dump *d, const uint8_t *p, size_t n, uint64_t pc)
{
	if (!d->args->text)
		return;
	text_add(&d->out, " ; ");
	insn_print(d->printer, p, n, pc, &d->out);
}

void dump_range(struct dump *d, uint64_t start, uint64_t end)
{
	while (start < end) {
		size_t n;
		struct insn in;
		const uint8_t *p = module_at(d->module, start, end - start, &n);
		if (!p)
			return;
		size_t length = d->arch->decode(p, n, start, DECODE_FULL, &in);
		size_t step = length ? length : n < d->arch->insn_align ? n : d->arch->insn_align;
		text_hex(&d->out, start);
		text_char(&d->out, ' ');
		dump_bytes(p, step, &d->out);
		if (length) {
			add_insn(d, &in, &d->out);
			dump_assembly(d, p, length, start);
		} else
			text_add(&d->out, " bad");
		text_char(&d->out, '\n');
		output_flush(&d->out);
		start += step;
	}
}

void dump_insns(struct dump *d, uint32_t function)
{
	uint32_t count;
	const struct function *p = &flow_functions(d->flow, &count)[function];
	const struct part *parts = flow_parts(d->flow) + p->first_part;
	dump_heading(d, p);
	text_char(&d->out, '\n');
	dump_range(d, p->start, p->end);
	for (uint32_t i = 0; i < p->part_count; i++)
		dump_range(d, parts[i].start, parts[i].end);
}
