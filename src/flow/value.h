/* The value of a register at some instruction, as an expression over constants, loads and unknowns.
 * It is found on demand by walking backwards through the flow graph. It is made for the address
 * arithmetic of jump tables: it follows copies, extensions, sums, shifts, masks, loads and stack
 * slots, and gives up on the rest.
 *
 * Two equal expressions are the same value: an unknown carries the instruction that made it. */
#pragma once
#include "flow/cfg.h"
#include "flow/leaders.h"
#include "isa/arch.h"

enum expr_kind {
	EXPR_CONST,   /* k */
	EXPR_UNKNOWN, /* made by the instruction at `site`, in register `reg` */
	EXPR_PHI,     /* register `reg` at the start of block `k`: depends on the path to it */
	EXPR_SLOT, /* `width` bytes at register reg + k, as they were when control reached `site` */
	EXPR_LOAD, /* `width` bytes at x, extended as `extend` */
	EXPR_ADD,  /* x + y */
	EXPR_SHL,  /* x << k */
	EXPR_SHR,  /* the low `width` bytes of x, >> k */
	EXPR_AND,  /* x & k */
	EXPR_EXTEND,  /* x extended as `extend` */
	EXPR_PENDING, /* value number k is being computed, further around a loop. Equals nothing */
};

struct expr {
	uint8_t kind, reg, width, extend;
	int64_t k;
	uint64_t site;
	const struct expr *x, *y;
};

/* A flow graph that values are computed on. */
struct slicer {
	const struct arch *arch;
	const struct cfg *g;
	/* The bytes of the block at its start address; owned by the caller. */
	const uint8_t *(*bytes_at)(void *ctx, uint64_t va, uint64_t size);
	/* Whether the constant is an address in the module. */
	bool (*is_address)(void *ctx, uint64_t va);
	void *ctx;
	struct arena *tmp;
	/* Leaders of the function, kept between the jumps that need them: bits is NULL before the
	 * first. */
	struct place_set *leaders;
	uint32_t budget; /* instructions and joins that may still be looked at */
	/* If the edges into a block disagree about a register, take the only address that the
	 * register is ever set to. */
	bool assume_addresses;

	const struct insn **decoded; /* by block; NULL: not yet */
	struct value_memo *memo;
};

/* Initialises `decoded` and `memo`; the caller sets the other members. */
void slicer_init(struct slicer *s);
void slicer_release(struct slicer *s);

/* The block's instructions, all of them. */
const struct insn *slicer_insns(struct slicer *s, uint32_t block);

/* The value of `reg` before instruction number `before` of the block; if that is its insn_count, at
 * the end of the block. */
const struct expr *value_of_register(struct slicer *s, uint32_t block, uint32_t before,
				     unsigned reg);
/* The value in memory that instruction number `index` compares, loads or jumps to: see enum
 * insn_op. */
const struct expr *value_of_memory(struct slicer *s, uint32_t block, uint32_t index);

bool expr_equal(const struct expr *x, const struct expr *y);
/* x without extensions around it. */
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
/* False if there are more than SUM_TERMS terms. */
bool expr_sum(const struct expr *x, struct sum *out);
