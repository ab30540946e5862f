/* What each block of a procedure does with registers: all that the analyses of liveness need of its
 * instructions, so that these are decoded once. */
#pragma once
#include "base/vec.h"
#include "flow/cfg.h"
#include "image/image.h"
#include "isa/arch.h"

struct effects {
	struct regset reads;   /* before the block writes them */
	struct regset writes;  /* at all */
	struct regset fresh;   /* written by an instruction that does not read them */
	struct regset spent;   /* read after the last write of the block, or without one */
	struct regset touched; /* read or written at all; without what a new thread copies */
	/* INSN_EXCLUSIVE_BEGIN or _END: the first and the last such instruction, 0 if none. */
	uint16_t first_exclusive, last_exclusive;
	bool bad; /* cannot be decoded */
};

/* Instructions one after the other. */
struct cursor {
	const struct arch *arch;
	const uint8_t *bytes;
	size_t size;
	uint64_t va;
};

/* At va; up to `size` bytes. */
void cursor_set(struct cursor *c, const struct image *im, const struct arch *arch, uint64_t va,
		uint64_t size);
/* The next one; false at the end or at bytes that are no instruction: c->size is 0 at the end. */
bool cursor_next(struct cursor *c, enum insn_detail detail, struct insn *in);

void effects_add(struct effects *e, const struct insn *in);
/* Of all blocks, in `tmp`. */
struct effects *effects_of(const struct cfg *g, const struct image *im, const struct arch *arch,
			   struct arena *tmp);

#define REGSET_ALL ((struct regset){UINT64_MAX, UINT32_MAX})

/* spent.c: whether Go made the image. It passes and returns values in all registers that it uses.
 */
bool is_go(const struct image *im);
/* Of each block that ends in a return, the registers whose values nobody needs after it;
 * empty for other blocks. */
struct regset *spent_at_returns(const struct cfg *g, const struct effects *effects,
				const struct image *im, const struct arch *arch, struct arena *tmp);
/* exclusive.c: enum exclusive_flag of each block, in `a`; NULL if there are no such instructions.
 */
const uint8_t *exclusive_find(const struct cfg *g, const struct effects *effects, struct arena *a);
/* backward.c: what is read before it is written, from the start of each block on: `in`. A block's
 * `ends` are read after it, besides what its successors read. */
struct backward {
	const struct cfg *g;
	const struct effects *effects;
	const struct regset *ends;
	bool past_calls; /* what comes after a call counts too */
	struct regset *in, *out;
};
void backward_solve(const struct backward *s);
/* Step by step: all blocks are to be looked at; and those listed are, and all that this concerns.
 * Blocks whose `in` grew make their predecessors' grow. What is in `in` already stays there. */
typedef VEC(uint32_t) block_list;
void backward_all(const struct cfg *g, block_list *work);
void backward_spread(const struct backward *s, block_list *work);
