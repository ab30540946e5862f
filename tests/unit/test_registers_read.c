/* The registers that instructions read and write, compared with what Capstone says of the code of
 * this program and of the C library it uses: a register that we do not know to be read could be
 * taken for free, and one that we take for overwritten as well.
 *
 * Capstone knows less than we do, and has errors; both are listed below, so that what is left must
 * be ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <capstone/capstone.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "isa/arch.h"
#include "module/module.h"

enum { CORE, VECTOR, NEITHER };

struct reg {
	int bank;
	unsigned number;
};

struct oracle {
	csh handle;
	cs_insn *insn;
	const struct arch *arch;
	uint64_t compared;
};

/* Capstone's registers in runs, of which ours are `number` and on. */
static const struct span {
	unsigned first, last;
	int bank;
	unsigned number;
} a64_spans[] = {
	{ARM64_REG_X0, ARM64_REG_X28, CORE, 0},
	{ARM64_REG_X29, ARM64_REG_X29, CORE, 29},
	{ARM64_REG_X30, ARM64_REG_X30, CORE, 30},
	{ARM64_REG_W0, ARM64_REG_W30, CORE, 0},
	{ARM64_REG_SP, ARM64_REG_SP, CORE, 31},
	{ARM64_REG_WSP, ARM64_REG_WSP, CORE, 31},
	{ARM64_REG_NZCV, ARM64_REG_NZCV, CORE, REG_FLAGS},
	{ARM64_REG_B0, ARM64_REG_B31, VECTOR, 0},
	{ARM64_REG_H0, ARM64_REG_H31, VECTOR, 0},
	{ARM64_REG_S0, ARM64_REG_S31, VECTOR, 0},
	{ARM64_REG_D0, ARM64_REG_D31, VECTOR, 0},
	{ARM64_REG_Q0, ARM64_REG_Q31, VECTOR, 0},
	{ARM64_REG_V0, ARM64_REG_V31, VECTOR, 0},
};

static struct reg a64_reg(unsigned r)
{
	for (size_t i = 0; i < sizeof(a64_spans) / sizeof(a64_spans[0]); i++)
		if (r >= a64_spans[i].first && r <= a64_spans[i].last)
			return (struct reg){a64_spans[i].bank,
					    a64_spans[i].number + r - a64_spans[i].first};
	return (struct reg){NEITHER, 0};
}

/* By name: rax, eax, ax, al, ah; r8, r8d, r8w, r8b; xmm0, ymm0, zmm0; k0. */
static struct reg x64_reg(const char *name)
{
	static const char *const legacy[] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
	unsigned n;
	if (!strcmp(name, "rflags"))
		return (struct reg){CORE, REG_FLAGS};
	if (sscanf(name, "%*1[xyz]mm%u", &n) == 1)
		return (struct reg){VECTOR, n};
	if (sscanf(name, "k%u", &n) == 1)
		return (struct reg){CORE, 33 + n};
	if (sscanf(name, "r%u", &n) == 1)
		return (struct reg){CORE, n};
	for (n = 0; n < 8; n++) {
		size_t length = strlen(name);
		bool wide = length >= 2 && !strcmp(name + length - 2, legacy[n]);
		bool low = length == 2 && n < 4 && name[0] == legacy[n][0] && strchr("lh", name[1]);
		if (wide || low || (length == 3 && !strncmp(name, legacy[n], 2) && name[2] == 'l'))
			return (struct reg){CORE, n};
	}
	return (struct reg){NEITHER, 0};
}

static struct reg reg_of(const struct oracle *o, unsigned r)
{
	const char *name = cs_reg_name(o->handle, r);
	return o->arch == &arch_a64 ? a64_reg(r) : x64_reg(name ? name : "");
}

static bool set_has(const struct regset *s, struct reg r)
{
	return (r.bank == CORE ? s->core : s->vec) >> r.number & 1;
}

static bool is_one_of(const char *mnemonic, const char *list)
{
	size_t n = strlen(mnemonic);
	for (const char *at = list; (at = strstr(at, mnemonic)); at += n)
		if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return true;
	return false;
}

/* Instructions whose destination Capstone takes for a source as well, or instead. */
static const char a64_destination[] =
	"movz movn mov mrs sysl sxtw sxth sxtb uxtb uxth lsl lsr asr ubfiz ubfx sbfiz sbfx movi "
	"mvni fmov ushr sshr urshr srshr ld1 ld2 ld3 ld4 ld1r ld2r ld3r ld4r adds tbl aesmc aesimc "
	"uabd sabd sabdl uabdl";
/* The direction flag is none of ours. */
static const char x64_strings[] = "movsb movsw movsd movsq stosb stosw stosd stosq lodsb lodsw "
				  "lodsd lodsq scasb scasw scasd scasq cmpsb cmpsw cmpsd cmpsq "
				  "insb insw insd outsb outsw outsd rep repe repne";

static const char x64_zero[] = "xor sub sbb pxor xorps xorpd vpxor vxorps vxorpd vpxord vpxorq "
			       "psubb psubw psubd psubq vpsubb "
			       "vpsubw vpsubd vpsubq";

/* "or esi, 0xffffffff" and "and esi, 0": what was there before does not matter. */
static bool sets_all_bits(const char *mnemonic, const char *operands)
{
	const char *y = strrchr(operands, ' ');
	if (!strcmp(mnemonic, "and"))
		return y && !strcmp(y, " 0");
	return !strcmp(mnemonic, "or") && y && !strncmp(y, " 0x", 3) && strspn(y + 3, "f") >= 2 &&
	       !y[3 + strspn(y + 3, "f")];
}

/* Of "xmm7, xmm4, xmm4". */
static bool sources_are_the_same(const char *operands)
{
	const char *y = strrchr(operands, ' ');
	size_t n = y ? strlen(y + 1) : 0;
	return y && (size_t)(y - operands) > n && !strncmp(y - 1 - n, y + 1, n);
}

static bool reads_excused(const struct oracle *o, const struct insn *in, struct reg r)
{
	const char *m = o->insn->mnemonic;
	bool written = set_has(&in->writes, r), flags = r.bank == CORE && r.number == REG_FLAGS;
	if (in->flags & INSN_NOP)
		return true;
	/* Version 5 says that cbz reads the flags; it compares with 0 by itself (Arm ARM, C6.2). */
	if (o->arch == &arch_a64)
		return (written && is_one_of(m, a64_destination)) ||
		       (flags && is_one_of(m, "b.al b.nv cbz cbnz"));
	if (flags)
		return strstr(x64_strings, m) || !strncmp(m, "rep", 3);
	/* The idioms for zero; and Capstone gets the index of some memory operands wrong, and, in
	 * version 5, the mask that is the result. */
	return (is_one_of(m, x64_zero) && sources_are_the_same(o->insn->op_str)) ||
	       sets_all_bits(m, o->insn->op_str) ||
	       (written && r.bank == CORE && r.number > REG_FLAGS) ||
	       (r.bank == VECTOR && !strncmp(m, "vp", 2) && strchr(o->insn->op_str, '['));
}

/* Version 5 names some instructions without knowing what they do with their operands: those of SVE,
 * and some others (cntb, gmi, setp, whilelo). */
static bool is_vague(const struct oracle *o)
{
	const cs_arm64 *d = &o->insn->detail->arm64;
	return d->op_count && d->operands[0].type != ARM64_OP_IMM && !d->operands[0].access;
}

static bool writes_excused(const struct oracle *o, struct reg r)
{
	const char *m = o->insn->mnemonic;
	bool flags = r.bank == CORE && r.number == REG_FLAGS;
	if (o->arch == &arch_a64)
		return is_vague(o) || is_one_of(m, "adds ld1 ld2 ld3 ld4 ld1r ld2r ld3r ld4r");
	/* Capstone 5 forgets what rdpkru writes, and the flags of "test" with memory. */
	return is_one_of(m, "syscall rdpkru") ||
	       (flags && (!strncmp(m, "lock", 4) || strstr(m, "iret") || !strcmp(m, "test")));
}

static void differ(const struct oracle *o, const char *what, struct reg r)
{
	fail_msg("%s %s: %s %s%u, says Capstone", o->insn->mnemonic, o->insn->op_str, what,
		 r.bank == VECTOR ? "v" : "r", r.number);
}

static void compare(struct oracle *o, const struct insn *in)
{
	cs_regs reads, writes;
	uint8_t read_count, write_count;
	struct regset written = {0};
	if (cs_regs_access(o->handle, o->insn, reads, &read_count, writes, &write_count))
		return;
	o->compared++;
	for (int i = 0; i < read_count; i++) {
		struct reg r = reg_of(o, reads[i]);
		if (r.bank != NEITHER && !set_has(&in->reads, r) && !reads_excused(o, in, r))
			differ(o, "reads", r);
	}
	for (int i = 0; i < write_count; i++) {
		struct reg r = reg_of(o, writes[i]);
		if (r.bank == CORE)
			written.core |= UINT64_C(1) << r.number;
		else if (r.bank == VECTOR)
			written.vec |= UINT32_C(1) << r.number;
	}
	for (unsigned n = 0; n < 65; n++) {
		struct reg r = n < 33 ? (struct reg){CORE, n} : (struct reg){VECTOR, n - 33};
		if (set_has(&in->writes, r) && !set_has(&in->reads, r) && !set_has(&written, r) &&
		    !writes_excused(o, r))
			differ(o, "does not overwrite", r);
	}
}

static void compare_section(struct oracle *o, const struct module *m, const struct section *s)
{
	const uint8_t *bytes = module_section_bytes(m, s);
	for (uint64_t at = 0; at < s->size;) {
		struct insn in;
		const uint8_t *p = bytes + at;
		uint64_t pc = s->va + at;
		size_t n = o->arch->decode(p, s->size - at, pc, DECODE_FULL, &in), left = n;
		if (n && cs_disasm_iter(o->handle, &p, &left, &pc, o->insn) && !left)
			compare(o, &in);
		at += n ? n : o->arch->insn_align;
	}
}

static void compare_file(const char *path)
{
	struct module *module;
	struct err e;
	assert_int_equal(module_open(&module, path, &e), 0);
	struct oracle o = {.arch = arch_of_machine(module->machine)};
	bool a64 = o.arch == &arch_a64;
	assert_int_equal(cs_open(a64 ? CS_ARCH_ARM64 : CS_ARCH_X86,
				 a64 ? CS_MODE_LITTLE_ENDIAN : CS_MODE_64, &o.handle),
			 CS_ERR_OK);
	cs_option(o.handle, CS_OPT_DETAIL, CS_OPT_ON);
	o.insn = cs_malloc(o.handle);
	for (uint32_t i = 0; i < module->section_count; i++)
		if (module->sections[i].execute && module->sections[i].in_file)
			compare_section(&o, module, &module->sections[i]);
	assert_true(o.compared > 10000);
	cs_free(o.insn, 1);
	cs_close(&o.handle);
	module_close(module);
}

static void registers_are_as_capstone_says(void **state)
{
	Dl_info info;
	(void)state;
	compare_file("/proc/self/exe");
	if (dladdr((void *)(uintptr_t)printf, &info) && strchr(info.dli_fname, '/'))
		compare_file(info.dli_fname);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(registers_are_as_capstone_says)};
	for (int i = 1; i < argc; i++) /* other files, of either architecture */
		compare_file(argv[i]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
