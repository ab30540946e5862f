/* What is known about the registers and the stack at one point of a procedure.
 *
 * A value is what some register held at entry, or an address at a known distance from a base on the
 * stack, or a constant, or unknown. Base 0 is the CFA. Code that aligns its stack pointer makes a
 * further base: where that lies is not known, but what is stored relative to it can still be found
 * relative to it. Only values that lead to the caller's registers are followed through memory. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "isa/arch.h"

enum value_kind {
	VALUE_UNKNOWN,
	VALUE_ENTRY, /* what register `reg` held at entry; ENTRY_RETURN: the return address on the
			stack */
	VALUE_STACK, /* base + offset */
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
	int32_t offset; /* from the base; 8 bytes from there */
	struct value value;
};

struct state {
	struct value reg[REGISTERS];
	struct slot slots[STATE_SLOTS];
	uint8_t slot_count;
	/* The registers last compared for equality, REG_NONE if none: loops that probe the stack go
	 * on until the stack pointer equals another register. */
	uint8_t compared_a, compared_b;
};

/* The state at a procedure's entry; `pushed` bytes lie between the CFA and the stack pointer, the
 * return address on top of them. */
void state_at_entry(struct state *s, const struct arch *arch, int32_t pushed);
/* Executes one instruction that is not a call. `base` is a number for the base that it makes if it
 * aligns the stack pointer. Returns true if the state changed in a way that may need another
 * recipe. */
bool state_execute(struct state *s, const struct arch *arch, const struct insn *in, uint16_t base);
/* Executes a call and the callee's return; registers in `kept` survive, besides those that the call
 * standard preserves. */
void state_call(struct state *s, const struct arch *arch, const struct insn *in, uint32_t kept);
/* Forgets that a register still holds what it held at entry where that is on the stack too. */
void state_forget_saved(struct state *s, const struct arch *arch);
/* What holds behind a branch: `taken` or not. */
void state_branch(struct state *s, const struct insn *branch, bool taken);
/* Keeps in *s what holds in *other too; returns true if *s changed. Where the two put the stack
 * pointer at different places, *disagree is set, and it is known no more; unless `believe`, and no
 * other register leads to the CFA: then it stays where *s has it. */
bool state_meet(struct state *s, const struct arch *arch, const struct state *other, bool believe,
		bool *disagree);
/* Whether the caller finds its registers, as the call standard wants, if control goes back to it
 * by `last`, which has not been executed. Otherwise *off tells by how much the stack pointer is too
 * high, if all but it and the link register are as they should be. */
bool state_is_restored(const struct state *s, const struct arch *arch, const struct insn *last,
		       int32_t *off);
