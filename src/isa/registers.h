/* A thread's registers, and where the kernel stores them: in perf samples, in ptrace regsets and in
 * signal frames. The tables are facts, as everywhere in isa/: any host has them for any
 * architecture. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arch;

enum { REGISTERS = 32 };

struct registers {
	uint64_t pc;
	/* numbered as in struct insn; reg[arch->sp] is the stack pointer */
	uint64_t reg[REGISTERS];
	uint32_t known; /* bit i: reg[i] is known */
};

static inline void registers_set(struct registers *r, unsigned reg, uint64_t value)
{
	r->reg[reg] = value;
	r->known |= UINT32_C(1) << reg;
}

static inline bool registers_has(const struct registers *r, unsigned reg)
{
	return reg < REGISTERS && r->known >> reg & 1;
}

enum { LAYOUT_ABSENT = 0xffff };

/* Offsets in bytes; LAYOUT_ABSENT where a register number is not used. */
struct arch_layout {
	uint64_t perf_mask;           /* for perf_event_attr.sample_regs_user */
	uint16_t perf_reg[REGISTERS]; /* bit number in perf_mask of each register */
	uint16_t perf_pc;
	uint16_t ptrace_reg[REGISTERS]; /* offsets in the NT_PRSTATUS regset */
	uint16_t ptrace_pc, ptrace_size;
	/* The code that a signal handler returns to (it calls rt_sigreturn). The interrupted
	 * registers are at these offsets from the stack pointer with which this code is entered. */
	const uint8_t *sigreturn;
	uint8_t sigreturn_size;
	uint16_t signal_reg[REGISTERS];
	uint16_t signal_pc;
	/* This mask clears the bits of a code address that are not part of the address (pointer
	 * authentication, tags). */
	uint64_t code_mask;
};

extern const struct arch_layout a64_layout, x64_layout;

/* Fills *out from the words of a perf sample taken with perf_mask, in ascending order of bits. */
void registers_from_perf(const struct arch *arch, const uint64_t *words, struct registers *out);
/* Fills *out from the NT_PRSTATUS regset; false if the size is not the architecture's. */
bool registers_from_ptrace(const struct arch *arch, const void *regset, size_t size,
			   struct registers *out);
/* The architecture that this process runs on; NULL if it is not supported. */
const struct arch *arch_native(void);
