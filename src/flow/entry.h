/* Telling the start of a procedure from other code, by what it relies on. */
#pragma once
#include "image/image.h"
#include "isa/arch.h"

/* Whether the code at va could be where a procedure begins: it reads nothing but what a caller
 * passes, and saves what it has to before it overwrites it. */
bool looks_like_entry(const struct image *im, const struct arch *arch, uint64_t va);

/* Whether the code at va sets up a stack frame at once: it is obviously where a procedure begins.
 */
bool looks_like_prologue(const struct image *im, const struct arch *arch, uint64_t va);

/* Whether the code at va could be a label inside a procedure that has a stack frame in place there:
 * it neither sets up one itself, nor returns without taking one down. */
bool looks_like_label(const struct image *im, const struct arch *arch, uint64_t va);

/* Whether a direct call that ends at `end` only learns where it is: it calls the next instruction,
 * and that one takes the return address off the stack. */
bool call_asks_for_address(const struct image *im, const struct arch *arch, uint64_t end,
			   uint64_t target);

/* The length of the padding at va, up to `end`: instructions without effect, traps used as filling,
 * zero bytes. */
uint64_t padding_at(const struct image *im, const struct arch *arch, uint64_t va, uint64_t end);

/* Decodes the instruction at va if it lies in code; returns its length, or 0. */
size_t decode_at(const struct image *im, const struct arch *arch, uint64_t va,
		 enum insn_detail detail, struct insn *out);
