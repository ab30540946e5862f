/* Code that switches to another frame than its caller's: longjmp, setcontext, coroutine switches.
 *
 * It loads all registers, including the stack pointer, and jumps. From some instruction on, nothing
 * leads to its caller any more, but the registers of the code that it jumps to can be found. Going
 * backwards from the jump, each of these values is in a register or on the new stack, until the
 * instruction that loads it from elsewhere. */
#pragma once
#include "unwind/recipe.h"
#include "unwind/state.h"

/* Whether a block of instructions switches to another frame. `s` is the state before the last one,
 * which leaves the function. */
bool is_stack_switch(const struct insn *insns, uint32_t count, const struct arch *arch,
		     const struct state *s);
/* The recipes that lead to that frame, one for each instruction; all zero where none does. */
void stack_switch_recipes(const struct insn *insns, uint32_t count, const struct arch *arch,
			  struct recipe *out);
