/* Where call paths begin: the code that nothing called, and the code that the kernel has signal
 * handlers return to. Addresses are of the instruction at which a frame is, i.e. inside the call
 * for a return address. */
#pragma once
#include "isa/registers.h"
#include "unwind/space.h"

/* The bytes of the signal trampoline are at va. With `anywhere` va may also be at a later
 * instruction of it: the frame is the same. */
bool root_is_trampoline(const struct code *code, uint64_t va, bool anywhere);

/* va is in the procedure where the image itself begins: the program's or the dynamic loader's. */
bool root_is_entry(const struct code *code, uint64_t va);

/* va is in a procedure known by name to begin threads, coroutines and the like. Not all of their
 * code does: clone() also returns to the parent. Good only for frames that wait for a call. */
bool root_is_named(const struct code *code, uint64_t va);

/* va is what a coroutine's first procedure returns to. No call precedes it: the return address was
 * made up by whoever made the coroutine, and is where code begins that ends it or starts the next.
 */
bool root_is_made_up(const struct code *code, uint64_t va);

/* va is in or before the call of a coroutine's first procedure, which its code begins with: whoever
 * made the coroutine put the procedure into a register that callers do not pass anything in. */
bool root_begins_with_call(const struct code *code, uint64_t va);

/* Nothing but the end of the thread comes after the call that returns to va: how clone() runs a
 * thread's first procedure. */
bool root_ends_thread(const struct code *code, uint64_t va);

/* The same, before that call: va is on the way to it. */
bool root_runs_thread(const struct code *code, uint64_t va);

/* A thread that has just been made: va is right behind the system call that returned 0 to it, in
 * code that will run it. Its stack is new, but its registers are still its parent's. */
bool root_is_new_thread(const struct code *code, uint64_t va, const struct registers *regs);
