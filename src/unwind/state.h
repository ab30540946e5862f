/* What is known about the registers and the stack at one point of a function.
 *
 * A value is the value that some register had at entry, or an address at a known distance from a
 * base on the stack, or a constant, or unknown. Base 0 is the CFA. Code that aligns its stack
 * pointer creates a further base: its distance from the CFA is not known, but values stored
 * relative to it can still be found relative to it. Only values that lead to the caller's registers
 * are followed through memory. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "isa/arch.h"

enum value_kind {
	VALUE_UNKNOWN,
	/* the value of register `reg` at entry; ENTRY_RETURN: the return address on the stack */
	VALUE_ENTRY,
	VALUE_STACK,    /* base + offset */
	VALUE_CONSTANT, /* offset */
};

struct value {
	uint8_t kind; /* enum value_kind */
	uint8_t reg;
	uint16_t base;
	int32_t offset;
};

enum { BASE_CFA = 0, STATE_SLOTS = 32, ENTRY_RETURN = 0xfe };

struct slot {
	uint16_t base;
	int32_t offset; /* from the base; the slot has 8 bytes */
	struct value value;
};

struct state {
	struct value reg[REGISTERS];
	struct slot slots[STATE_SLOTS];
	uint8_t slot_count;
	/* The registers last compared for equality, REG_NONE if none: loops that probe the stack
	 * continue until the stack pointer equals another register. */
	uint8_t compared_a, compared_b;
};

/* The state at a function's entry. `pushed` bytes lie between the CFA and the stack pointer, the
 * return address at the top of them. */
void state_at_entry(struct state *s, const struct arch *arch, int32_t pushed);
/* Executes one instruction that is not a call. `base` is the number of the base that the
 * instruction creates if it aligns the stack pointer. Returns true if the state changed so that
 * another recipe may be needed. */
bool state_execute(struct state *s, const struct arch *arch, const struct insn *in, uint16_t base);
/* Executes a call and the callee's return. Registers in `kept` survive, besides those that the
 * calling convention preserves. */
void state_call(struct state *s, const struct arch *arch, const struct insn *in, uint32_t kept);
/* If a register's value at entry is both on the stack and still in the register, forgets the
 * latter. */
void state_forget_saved(struct state *s, const struct arch *arch);
/* Adds what is known after a branch that is `taken` or not. */
void state_branch(struct state *s, const struct insn *branch, bool taken);
/* Keeps in *s only what holds in *other too; returns true if *s changed. If the stack pointers
 * differ, *s forgets the stack pointer. But if `believe` is set and no other register leads to the
 * CFA in both states, *s keeps its stack pointer. *disagree is set if the stack pointers differ,
 * unless `believe` is set and another register leads to the CFA. */
bool state_meet(struct state *s, const struct arch *arch, const struct state *other, bool believe,
		bool *disagree);
/* Whether the caller finds its registers as the calling convention requires if `last`, which has
 * not been executed, leaves the function. If not, *off is how much the stack pointer is too high if
 * all registers but it and the link register are right, else 0. */
bool state_is_restored(const struct state *s, const struct arch *arch, const struct insn *last,
		       int32_t *off);
