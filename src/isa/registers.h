/* A thread's registers, and where the kernel puts them: in perf samples, in what ptrace gives and
 * in signal frames. Tables of facts like all of isa/: any host has them for any architecture. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arch;

enum { REGISTERS = 32 };

struct registers {
	uint64_t pc;
	uint64_t
		reg[REGISTERS]; /* numbered as in struct insn; reg[arch->sp] is the stack pointer */
	uint32_t known;         /* bit i: reg[i] holds the value */
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
	uint16_t ptrace_reg[REGISTERS]; /* in the NT_PRSTATUS regset */
	uint16_t ptrace_pc, ptrace_size;
	/* The code that a signal handler returns to, and where it finds the interrupted registers:
	 * at these offsets from the stack pointer that it is entered with. */
	const uint8_t *sigreturn;
	uint8_t sigreturn_size;
	uint16_t signal_reg[REGISTERS];
	uint16_t signal_pc;
	/* Bits of a code address that mean nothing to the processor (pointer authentication, tags)
	 * are cleared by this mask. */
	uint64_t code_mask;
};

extern const struct arch_layout a64_layout, x64_layout;

/* From the words of a perf sample with perf_mask, in ascending order of bits. */
void registers_from_perf(const struct arch *arch, const uint64_t *words, struct registers *out);
/* From the bytes of the NT_PRSTATUS regset; false if they are of another size than the
 * architecture's. */
bool registers_from_ptrace(const struct arch *arch, const void *regset, size_t size,
			   struct registers *out);
/* The architecture that this process runs on; NULL if it is none of ours. */
const struct arch *arch_native(void);
