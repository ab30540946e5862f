/* Distinguishes the start of a function from other code, by what the code relies on. */
#pragma once
#include "isa/arch.h"
#include "module/module.h"

/* Whether a function could start at va: the code there reads only what a caller passes, and saves
 * the registers that it has to before it overwrites them. */
bool looks_like_entry(const struct module *m, const struct arch *arch, uint64_t va);

/* Whether the code at va sets up a stack frame at once: a function obviously starts there. */
bool looks_like_prologue(const struct module *m, const struct arch *arch, uint64_t va);

/* Whether the code at va could be a label inside a function that has a stack frame there: it
 * neither sets up a frame itself, nor returns without taking one down. */
bool looks_like_label(const struct module *m, const struct arch *arch, uint64_t va);

/* Whether a direct call that ends at `end` only gets its own address: it calls the next
 * instruction, which pops the return address off the stack. */
bool call_asks_for_address(const struct module *m, const struct arch *arch, uint64_t end,
			   uint64_t target);

/* The length of the padding at va, up to `end`: no-ops, traps used as filling, and zero bytes. */
uint64_t padding_at(const struct module *m, const struct arch *arch, uint64_t va, uint64_t end);

/* Decodes the instruction at va if it lies in code; returns its length, or 0. */
size_t decode_at(const struct module *m, const struct arch *arch, uint64_t va,
		 enum insn_detail detail, struct insn *out);
