/* What each block of a function does with registers. The liveness analyses need no more of its
 * instructions, so these are decoded only once. */
#pragma once
#include "base/vec.h"
#include "flow/cfg.h"
#include "isa/arch.h"
#include "module/module.h"

struct effects {
	struct regset reads;  /* read before the block writes them */
	struct regset writes; /* written at all */
	struct regset fresh;  /* written by an instruction that does not read them */
	struct regset spent;  /* read after the block's last write of them, or not written */
	/* Read or written at all. The copy that clone() makes of all registers does not count. */
	struct regset touched;
	/* INSN_EXCLUSIVE_BEGIN or _END of the first and the last such instruction, 0 if none. */
	uint16_t first_exclusive, last_exclusive;
	bool bad; /* cannot be decoded */
};

/* Decodes instructions one after the other. */
struct decoder {
	const struct arch *arch;
	const uint8_t *bytes;
	size_t size;
	uint64_t va;
};

/* Starts at va; ends after `size` bytes. */
void cursor_set(struct decoder *c, const struct module *m, const struct arch *arch, uint64_t va,
		uint64_t size);
/* The next instruction. False at the end, where c->size is 0, or at bytes that are not an
 * instruction. */
bool cursor_next(struct decoder *c, enum insn_detail detail, struct insn *in);

void effects_add(struct effects *e, const struct insn *in);
/* The effects of all blocks, allocated in `tmp`. */
struct effects *effects_of(const struct cfg *g, const struct module *m, const struct arch *arch,
			   struct arena *tmp);

#define REGSET_ALL ((struct regset){UINT64_MAX, UINT32_MAX})

/* spent.c: whether the module was compiled by Go, which passes and returns values in all registers
 * that it uses. */
bool is_go(const struct module *m);
/* For each block that ends in a return, the registers whose values nobody needs after it; empty for
 * other blocks. */
struct regset *spent_at_returns(const struct cfg *g, const struct effects *effects,
				const struct module *m, const struct arch *arch, struct arena *tmp);
/* exclusive.c: enum exclusive_flag of each block, in `a`; NULL if the function has no exclusive
 * loads or stores. */
const uint8_t *exclusive_find(const struct cfg *g, const struct effects *effects, struct arena *a);
/* backward.c: liveness of registers over the blocks. `in` are the registers that are read, from the
 * start of a block on, before they are written; `out` the same from its end on. `ends` are the
 * registers read after a block by others than its successors. */
struct backward {
	const struct cfg *g;
	const struct effects *effects;
	const struct regset *ends;
	bool past_calls; /* what is read after a call returns counts too */
	struct regset *in, *out;
};
void backward_solve(const struct backward *s);
/* The same in steps: backward_all() lists all blocks; backward_spread() computes the listed ones,
 * and again the predecessors of those whose `in` grew. Registers in `in` at the start stay there.
 */
typedef VEC(uint32_t) block_list;
void backward_all(const struct cfg *g, block_list *work);
void backward_spread(const struct backward *s, block_list *work);
