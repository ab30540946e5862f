/* What value a register holds at a point, as an expression over constants, loads and unknowns,
 * found by walking backwards through the flow graph on demand. Made for the address arithmetic of
 * jump tables: it follows copies, extensions, sums, shifts, masks, loads and stack slots, and gives
 * up on the rest.
 *
 * Two equal expressions stand for the same value: unknowns carry the place that made them. */
#pragma once
#include "flow/cfg.h"
#include "isa/arch.h"

enum expr_kind {
	EXPR_CONST,   /* k */
	EXPR_UNKNOWN, /* made by the instruction at `site`, in register `reg` */
	EXPR_PHI,  /* register `reg` at the start of block `k`: depends on how control got there */
	EXPR_SLOT, /* `width` bytes at register reg + k, as they were when `site` was entered */
	EXPR_LOAD, /* `width` bytes at x, extended as `extend` */
	EXPR_ADD,  /* x + y */
	EXPR_SHL,  /* x << k */
	EXPR_SHR,  /* the low `width` bytes of x, >> k */
	EXPR_AND,  /* x & k */
	EXPR_EXTEND,  /* x extended as `extend` */
	EXPR_PENDING, /* value number k is being computed: the way around a loop. Equals nothing */
};

struct expr {
	uint8_t kind, reg, width, extend;
	int64_t k;
	uint64_t site;
	const struct expr *x, *y;
};

/* One procedure's graph being sliced. */
struct slicer {
	const struct arch *arch;
	const struct cfg *g;
	/* The bytes of the block at its start address; owned by the caller. */
	const uint8_t *(*bytes_at)(void *ctx, uint64_t va);
	/* Whether the constant is an address of the image. */
	bool (*is_address)(void *ctx, uint64_t va);
	void *ctx;
	struct arena *tmp;
	uint32_t budget; /* instructions that may still be looked at */
	/* Where ways into a block disagree about a register, take the only address that it ever
	 * gets. */
	bool assume_addresses;

	const struct insn **decoded; /* by block; NULL: not yet */
	struct value_memo *memo;
};

/* Sets the lazily filled parts up; the others are the caller's. */
void slicer_init(struct slicer *s);
void slicer_release(struct slicer *s);

/* The block's instructions, all of them. */
const struct insn *slicer_insns(struct slicer *s, uint32_t block);

/* The value of `reg` before instruction number `before` of the block (its insn_count: at its end).
 */
const struct expr *value_of_register(struct slicer *s, uint32_t block, uint32_t before,
				     unsigned reg);
/* The value that instruction number `index` compares, computes or jumps to, see enum insn_op. */
const struct expr *value_of_memory(struct slicer *s, uint32_t block, uint32_t index);

bool expr_equal(const struct expr *x, const struct expr *y);
/* x without what only widens or narrows it. */
const struct expr *expr_strip(const struct expr *x);

/* An expression as a constant plus shifted terms. */
enum { SUM_TERMS = 3 };
struct sum {
	int64_t constant;
	struct {
		const struct expr *x;
		uint8_t shift;
	} terms[SUM_TERMS];
	uint8_t count;
};
/* False if there are more terms than fit. */
bool expr_sum(const struct expr *x, struct sum *out);
