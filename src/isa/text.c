/* Assembly text by Capstone, in the syntax that the system's own tools print: AT&T on x86-64. Where
 * its versions 4 and 5 differ, the text is made the same here, as objdump prints it.
 *
 * Capstone does not know all instructions that compilers and libraries use. On x86-64, Zydis prints
 * those that Capstone does not know (AVX-512 on bytes and words). On A64, Capstone knows v8.2:
 * later instructions are printed as data, except the hints (pointer authentication, branch
 * targets), which are in every distribution's code and are therefore named here. */
#include "isa/text.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <Zydis/Zydis.h>

#include "base/vec.h"

struct insn_printer {
	const struct arch *arch;
	csh handle;
	cs_insn *insn; /* scratch; NULL if Capstone could not be opened */
};

struct insn_printer *insn_printer_new(const struct arch *arch)
{
	bool is_a64 = arch->elf_machine == EM_AARCH64;
	struct insn_printer *p = xcalloc(1, sizeof(*p));
	p->arch = arch;
	if (cs_open(is_a64 ? CS_ARCH_ARM64 : CS_ARCH_X86,
		    is_a64 ? CS_MODE_LITTLE_ENDIAN : CS_MODE_64, &p->handle) != CS_ERR_OK)
		return p;
	if (!is_a64)
		cs_option(p->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	p->insn = cs_malloc(p->handle);
	return p;
}

void insn_printer_free(struct insn_printer *p)
{
	if (!p)
		return;
	if (p->insn)
		cs_free(p->insn, 1);
	if (p->handle)
		cs_close(&p->handle);
	free(p);
}

/* Names of hints by number (CRm:op2), for those that Capstone prints as a number. */
static const char *const hint_name[] = {
	[7] = "xpaclri",    [8] = "pacia1716", [10] = "pacib1716", [12] = "autia1716",
	[14] = "autib1716", [16] = "esb",      [17] = "psb csync", [18] = "tsb csync",
	[20] = "csdb",      [24] = "paciaz",   [25] = "paciasp",   [26] = "pacibz",
	[27] = "pacibsp",   [28] = "autiaz",   [29] = "autiasp",   [30] = "autibz",
	[31] = "autibsp",   [32] = "bti",      [34] = "bti c",     [36] = "bti j",
	[38] = "bti jc",
};

static uint32_t read_word(const uint8_t *b)
{
	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static bool print_hint(uint32_t word, struct text *out)
{
	uint32_t number = word >> 5 & 0x7f;
	if ((word & ~0xfe0u) != 0xd503201f || number >= ARRAY_SIZE(hint_name) || !hint_name[number])
		return false;
	text_add(out, hint_name[number]);
	return true;
}

/* Prints MOVZ as "mov" with the resulting number, except a shifted zero. */
static bool print_movz(uint32_t word, struct text *out)
{
	unsigned shift = word >> 21 & 3, reg = word & 31;
	bool is_wide = word >> 31;
	uint64_t number = (uint64_t)(word >> 5 & 0xffff) << 16 * shift;
	if ((word & 0x7f800000) != 0x52800000 || (!is_wide && shift > 1) || (!number && shift))
		return false;
	text_printf(out, "mov %c", is_wide ? 'x' : 'w');
	if (reg == 31)
		text_add(out, "zr");
	else
		text_printf(out, "%u", reg);
	text_printf(out, number < 10 ? ", #%" PRIu64 : ", #0x%" PRIx64, number);
	return true;
}

static bool print_by_zydis(const uint8_t *bytes, size_t n, uint64_t pc, struct text *out)
{
	ZydisDisassembledInstruction in;
	if (!ZYAN_SUCCESS(ZydisDisassembleATT(ZYDIS_MACHINE_MODE_LONG_64, pc, bytes, n, &in)) ||
	    in.info.length != n)
		return false;
	text_add(out, in.text);
	return true;
}

static void print_data(const struct arch *arch, const uint8_t *bytes, size_t n, struct text *out)
{
	if (arch->insn_align == 4 && n == 4) {
		text_printf(out, ".inst 0x%08x", read_word(bytes));
		return;
	}
	for (size_t i = 0; i < n; i++)
		text_printf(out, "%s0x%02x", i ? ", " : ".byte ", bytes[i]);
}

/* Capstone 4 knows neither the prefix "notrack" nor "movq" between vector and general registers. */
static void add_x64_mnemonic(const cs_insn *in, struct text *out)
{
	const char *name = in->mnemonic;
	bool is_indirect = !strncmp(name, "jmp", 3) || !strncmp(name, "call", 4);
	if (in->bytes[0] == 0x3e && is_indirect && strchr(in->op_str, '*'))
		text_add(out, "notrack ");
	if (!strcmp(name, "movd") && in->bytes[0] == 0x66 && (in->bytes[1] & 0xf8) == 0x48)
		name = "movq";
	text_add(out, name);
}

static bool print_by_capstone(struct insn_printer *p, const uint8_t *bytes, size_t n, uint64_t pc,
			      struct text *out)
{
	if (!p->insn || !cs_disasm_iter(p->handle, &bytes, &n, &pc, p->insn) || n)
		return false;
	if (p->arch->elf_machine == EM_X86_64)
		add_x64_mnemonic(p->insn, out);
	else
		text_add(out, p->insn->mnemonic);
	if (p->insn->op_str[0]) {
		text_char(out, ' ');
		text_add(out, p->insn->op_str);
	}
	return true;
}

void insn_print(struct insn_printer *p, const uint8_t *bytes, size_t n, uint64_t pc,
		struct text *out)
{
	bool is_a64 = p->arch->elf_machine == EM_AARCH64;
	if (is_a64 && n == 4 &&
	    (print_hint(read_word(bytes), out) || print_movz(read_word(bytes), out)))
		return;
	if (print_by_capstone(p, bytes, n, pc, out))
		return;
	if (!is_a64 && print_by_zydis(bytes, n, pc, out))
		return;
	print_data(p->arch, bytes, n, out);
}
