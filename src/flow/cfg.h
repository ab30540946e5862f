/* The flow graph of one function.
 *
 * Blocks are maximal runs of instructions entered at the top only. A call ends a block, because it
 * may not return and because it may be left by an exception. Blocks are sorted by address and never
 * overlap, except where the code itself jumps into the middle of an instruction. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { BLOCK_NONE = UINT32_MAX };

/* A contiguous range of a function's code. */
struct part {
	uint64_t start, end;
};

/* How a block ends. */
enum block_end {
	END_FALL, /* control falls through into another block */
	END_JUMP,
	END_BRANCH,
	END_SWITCH, /* indirect jump with known targets: a jump table or computed goto */
	END_CALL,   /* direct; `target` is the callee */
	END_CALL_INDIRECT,
	END_RETURN,
	END_TAIL_CALL, /* jump to another function, `target`; 0 if through a pointer */
	END_TRAP,
	END_UNRESOLVED, /* indirect jump whose targets could not be found: successors are missing */
	END_BAD, /* runs into bytes that are not an instruction, or out of the module's code */
	BLOCK_ENDS,
};

enum block_flag {
	BLOCK_NORETURN = 1 << 0,    /* ends in a call that does not return */
	BLOCK_LANDING = 1 << 1,     /* a landing pad: control arrives by an exception */
	BLOCK_CONDITIONAL = 1 << 2, /* END_TAIL_CALL by a conditional branch: also falls through */
	BLOCK_OPEN_FRAME = 1 << 3,  /* END_TAIL_CALL with the stack frame in place: not a call */
};

struct block {
	uint64_t start;
	uint64_t target; /* of a direct call or tail call */
	uint32_t size;   /* bytes */
	uint32_t insn_count;
	uint32_t first_edge, edge_count; /* out-edges, in cfg.edges */
	uint8_t end;                     /* enum block_end */
	uint8_t flags;                   /* enum block_flag */
};

enum edge_kind {
	EDGE_FALL,        /* to the next block; of a branch, the not-taken side */
	EDGE_JUMP,        /* unconditional */
	EDGE_TAKEN,       /* a branch's taken side */
	EDGE_CALL_RETURN, /* from a call to the instruction after it */
	EDGE_SWITCH,      /* one of several targets of an indirect jump */
	EDGE_UNWIND,      /* from a call to a landing pad */
	EDGE_KINDS,
};

struct edge {
	uint32_t from, to; /* blocks */
	uint8_t kind;      /* enum edge_kind */
};

/* What limits the number of entries of a jump table. */
enum table_bound {
	BOUND_COMPARE,  /* the compare that guards the jump */
	BOUND_TYPE,     /* the width of the index: a byte has 256 values */
	BOUND_CONTENTS, /* no guard: up to the first impossible entry, or the next table */
	BOUND_LABELS,   /* table not found: all labels of this function in relocated data */
};

struct jump_table {
	uint32_t block; /* the block that ends in the jump */
	uint64_t va;    /* of the table; 0 for BOUND_LABELS */
	uint32_t count; /* entries */
	uint8_t entry_size;
	uint8_t bound; /* enum table_bound */
	bool closed;   /* its size is known, or the next entry would lead out of the function */
};

struct cfg {
	const struct block *blocks;
	const struct edge *edges;   /* sorted by `from` */
	const uint32_t *pred_edges; /* indices into edges, grouped by `to` */
	const uint32_t *first_pred; /* block_count + 1 offsets into pred_edges */
	const struct jump_table *tables;
	const uint64_t *escapes; /* targets of jump tables outside of the function: no edges */
	uint32_t block_count, edge_count, table_count, escape_count;
	uint32_t entry; /* block */
	uint32_t insn_count;
	uint32_t unresolved; /* blocks that end END_UNRESOLVED */
	uint32_t bad;        /* blocks that end END_BAD */
};

/* The block that holds va, or BLOCK_NONE. */
uint32_t cfg_block_at(const struct cfg *g, uint64_t va);
/* Sets pred_edges and first_pred, in `a`, from the edges. */
void cfg_index_predecessors(struct cfg *g, struct arena *a);

extern const char *const block_end_name[BLOCK_ENDS];
extern const char *const edge_kind_name[EDGE_KINDS];
