/* Assembly text of instructions. */
#pragma once
#include "base/text.h"
#include "isa/arch.h"

struct insn_printer;

struct insn_printer *insn_printer_new(const struct arch *arch);
void insn_printer_free(struct insn_printer *p);
/* Appends "mnemonic operands", or the bytes as data where no instruction is known. */
void insn_print(struct insn_printer *p, const uint8_t *bytes, size_t n, uint64_t pc,
		struct text *out);
