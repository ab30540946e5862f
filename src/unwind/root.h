/* The roots of call stacks: code that nothing called, and the code to which the kernel makes signal
 * handlers return. Addresses are of the current instruction of a frame, i.e. inside the call if the
 * frame has a return address. */
#pragma once
#include "isa/registers.h"
#include "unwind/space.h"

/* Whether the signal trampoline is at va. With `anywhere`, va may also be at a later instruction of
 * it: the signal frame is the same. */
bool root_is_trampoline(const struct code *code, uint64_t va, bool anywhere);

/* Whether va is in the entry function of the module: the program's or the dynamic loader's. */
bool root_is_entry(const struct code *code, uint64_t va);

/* Whether va is in a function known by name to start threads, coroutines and the like. Not all of
 * its code does: clone() also returns to the parent. So use this only for frames that wait for a
 * call. */
bool root_is_named(const struct code *code, uint64_t va);

/* Whether va is the made-up return address of a coroutine's first function. No call precedes it:
 * the code that created the coroutine put it there. At va begins the code that ends the coroutine
 * or switches to the next. */
bool root_is_made_up(const struct code *code, uint64_t va);

/* Whether va is in the code that begins a coroutine with a call of its first function, at or before
 * that call. The code that created the coroutine put the function's address into a callee-saved
 * register, in which callers pass nothing. */
bool root_begins_with_call(const struct code *code, uint64_t va);

/* Whether only the end of the thread follows the call that returns to va: this is how clone() runs
 * a thread's first function. */
bool root_ends_thread(const struct code *code, uint64_t va);

/* The same before that call: va is on the path to it. */
bool root_runs_thread(const struct code *code, uint64_t va);

/* Whether the thread has just been created: va is right after the system call that returned 0 to
 * it, in code that will run it. Its stack is new, but its registers are still its parent's. */
bool root_is_new_thread(const struct code *code, uint64_t va, const struct registers *regs);
