/* All that differs between architectures, as one table of facts and operations for each. Both
 * tables are always compiled in: any host analyses any file. */
#pragma once
#include <stddef.h>

#include "isa/emit.h"
#include "isa/insn.h"
#include "isa/registers.h"

struct found_jump {
	uint64_t target;
	bool call;
};

struct arch {
	const char *name;     /* as uname -m says: "aarch64", "x86_64" */
	uint16_t elf_machine; /* EM_* */
	uint8_t insn_align;   /* every instruction starts at a multiple of it */
	uint8_t insn_max;     /* bytes of the longest instruction */

	uint8_t sp, fp; /* register numbers */
	uint8_t link;   /* register holding the return address at entry, or REG_NONE */
	/* Registers of the first two integer arguments, and of the result. */
	uint8_t first_arg, second_arg, result;
	struct regset callee_saved; /* by the platform's procedure call standard */
	uint8_t red_zone;           /* bytes below the stack pointer that a procedure may use */
	struct regset arguments;    /* that may hold arguments at entry, implicit ones included */
	/* In no convention in use preserved by a callee or used for results. */
	struct regset scratch;
	/* Of these, the ones that no compiler passes values in between procedures: candidates for
	 * being private to each (flow/private.h). No two of them have the same number, general
	 * register or vector. */
	struct regset private_candidates;
	/* Candidates in which a call passes on what is known about it, and a return passes it back
	 * (tally/calls.c): linkage tables and veneers leave them alone. REG_NONE: it does not. */
	uint8_t pass[2];
	/* That every machine has and that code put between instructions may use while nobody needs
	 * their values. Without the frame pointer: signal handlers walk frame records any time. */
	struct regset usable;

	const struct arch_layout *layout; /* where the kernel puts registers */
	const struct emit_ops *emit;      /* writing code: see emit.h */

	/* Decodes the instruction at p, of which n bytes may be read, as if it stood at pc.
	 * Returns its length, or 0 if the bytes are not an instruction; *out is undefined then. */
	size_t (*decode)(const uint8_t *p, size_t n, uint64_t pc, enum insn_detail detail,
			 struct insn *out);
	/* Looks for a direct jump, conditional or not, or a call, in n bytes that would stand at
	 * pc, without decoding what is before it: other bytes may look like one, and jumps that
	 * reach no further than `short_jump` bytes are not found. Returns where it is, or n. */
	size_t (*find_jump)(const uint8_t *p, size_t n, uint64_t pc, struct found_jump *out);
	uint8_t short_jump;
	const char *(*reg_name)(unsigned reg); /* general registers and flags; "?" for others */
};

extern const struct arch arch_a64, arch_x64;

/* The architecture with this ELF machine number, or NULL. */
const struct arch *arch_of_machine(uint16_t elf_machine);
