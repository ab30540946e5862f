/* Code that goes to another frame than its caller's: longjmp, setcontext, switches of coroutines.
 *
 * It loads all registers anew, the stack pointer among them, and jumps. From some instruction on
 * nothing leads to its caller any more, but what the code that it goes to will find is there: read
 * backwards from the jump, each of these values is in a register or on the new stack, up to the
 * instruction that loads it from elsewhere. */
#pragma once
#include "unwind/recipe.h"
#include "unwind/state.h"

/* Whether a block of instructions goes to another frame. `s` is the state before the last one,
 * which leaves the procedure. */
bool is_stack_switch(const struct insn *insns, uint32_t count, const struct arch *arch,
		     const struct state *s);
/* The recipes that lead to that frame, one for each instruction; they are all zero where none does.
 */
void stack_switch_recipes(const struct insn *insns, uint32_t count, const struct arch *arch,
			  struct recipe *out);
