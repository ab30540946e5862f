/* All that differs between architectures, as one table of facts and operations for each. Both
 * tables are always compiled in: any host analyses any file. */
#pragma once
#include <stddef.h>

#include "isa/emit.h"
#include "isa/file.h"
#include "isa/insn.h"
#include "isa/registers.h"

struct found_jump {
	uint64_t target;
	bool call;
};

struct arch {
	const char *name;     /* as uname -m prints it: "aarch64", "x86_64" */
	uint16_t elf_machine; /* EM_* */
	uint8_t insn_align;   /* every instruction starts at a multiple of it */
	uint8_t insn_max;     /* bytes of the longest instruction */

	uint8_t sp, fp; /* register numbers */
	uint8_t link;   /* register that holds the return address at entry, or REG_NONE */
	/* Registers of the first two integer arguments, and of the result. */
	uint8_t first_arg, second_arg, result;
	struct regset callee_saved; /* by the platform's calling convention */
	uint8_t red_zone;           /* bytes below the stack pointer that a function may use */
	struct regset arguments;    /* may hold arguments at entry, implicit ones included */
	/* Registers that no calling convention in use preserves across calls or uses for
	 * results. */
	struct regset scratch;
	/* The scratch registers in which no compiler passes values between functions: candidates
	 * for being private to each function (flow/private.h). No two of them have the same number,
	 * whether general or vector register. */
	struct regset private_candidates;
	/* Two of these candidates, in which counting code passes the caller's frame to the callee,
	 * and a return passes it back (counters/calls.c). PLT stubs and linker veneers leave them
	 * alone. REG_NONE if the architecture has none to spare. */
	uint8_t pass[2];
	/* Registers that every CPU of the architecture has, and that inserted code may use where
	 * their values are not needed. The frame pointer is not among them: a signal handler may
	 * walk the frame records at any time. */
	struct regset usable;

	const struct arch_layout *layout; /* where the kernel stores registers */
	const struct emit_ops *emit;      /* writes code: see emit.h */
	const struct arch_file *file;     /* relocations, DWARF */

	/* Decodes the instruction at p as if it were at address pc; n bytes may be read. Returns
	 * its length, or 0 if the bytes are not an instruction; then *out is undefined. */
	size_t (*decode)(const uint8_t *p, size_t n, uint64_t pc, enum insn_detail detail,
			 struct insn *out);
	/* Searches n bytes, as if they were at pc, for a direct jump (conditional or not) or call,
	 * without decoding the instructions before it. So other bytes may be mistaken for a jump,
	 * and jumps that reach at most `short_jump` bytes are not found. Returns its offset, or
	 * n. */
	size_t (*find_jump)(const uint8_t *p, size_t n, uint64_t pc, struct found_jump *out);
	uint8_t short_jump;
	const char *(*reg_name)(unsigned reg); /* general registers and flags; "?" for others */
};

extern const struct arch arch_a64, arch_x64;

/* The architecture with this ELF machine number, or NULL. */
const struct arch *arch_of_machine(uint16_t elf_machine);
