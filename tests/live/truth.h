/* The true call stack of a program that is stepped, kept from the calls and returns that it
 * executes.
 *
 * A call pushes its return address, whatever it calls; what comes back to that address with the
 * stack pointer back where it was pops it. So a tail call (a jump) leaves the stack as it is, which
 * is what a walk of the stack must show. Jumps out of several functions at once (longjmp,
 * exceptions) are recognised by the stack pointer, which they set to the target's before they jump.
 */
#pragma once
#include "base/hashmap.h"
#include "base/vec.h"
#include "isa/arch.h"

struct true_call {
	uint64_t ret; /* the return address; of a signal, the interrupted pc */
	uint64_t sp;  /* the caller's, before the call */
	bool signal;
	uint64_t slot; /* where on the stack `ret` was seen to be saved, or 0 */
};

enum truth_change {
	TRUTH_SAME,
	TRUTH_CALL,
	TRUTH_RETURN,
	TRUTH_JUMPED_OUT,
	TRUTH_SIGNAL_RETURN,
};

struct truth {
	const struct arch *arch;
	VEC(struct true_call) calls; /* outermost first */
	struct hashmap returned;     /* the keys are all addresses that were returned to */
	uint64_t call_count, return_count, jump_count;
	uint64_t odd_count; /* returns to another address than the call's */
};

void truth_init(struct truth *t, const struct arch *arch);
void truth_release(struct truth *t);

/* Told of every instruction: where it went and what the stack pointer was before and after. Not to
 * be told of a call that only asks for its own address (call of the next instruction, which pops
 * the return address). */
enum truth_change truth_step(struct truth *t, const struct insn *in, uint64_t sp_before,
			     uint64_t pc, uint64_t sp);
/* A handler is entered, with stack pointer `sp` and to return to `trampoline`. */
void truth_signal(struct truth *t, uint64_t interrupted_pc, uint64_t interrupted_sp,
		  uint64_t trampoline, uint64_t sp);
/* A call that was made before. */
void truth_push(struct truth *t, uint64_t ret, uint64_t sp);

/* True between the moment when a jump out has left the frame and the jump itself: a few
 * instructions that belong to no call stack. */
bool truth_in_transit(const struct truth *t, uint64_t sp);
