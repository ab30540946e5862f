/* Points of a procedure, and the spots in its code where each is realised.
 *
 * A point is what a user names (a procedure's entry, a loop's exit); a spot is one place in the
 * flow graph that control passes exactly when the point is reached: before an instruction, or on an
 * edge. Loop points are those of section 4 of the loop-aware search paper: entry edges lead from
 * outside to the header, exit edges from a member to outside; an iteration begins at the header
 * (entry and back edges) and ends on back and exit edges. So entry and exit, and begin and end of
 * iterations, are balanced. */
#pragma once
#include "flow/flow.h"
#include "flow/loops.h"

enum point_kind {
	POINT_ENTRY, /* of the procedure, behind its landing instruction */
	POINT_EXIT,  /* before a return or a jump to another procedure */
	POINT_CALL,  /* before a call; number tells which */
	POINT_LOOP_ENTRY,
	POINT_LOOP_EXIT,
	POINT_ITERATION_BEGIN,
	POINT_ITERATION_END,
	POINT_SYSCALL,      /* before a system call instruction */
	POINT_SYSCALL_DONE, /* right after it */
	POINT_KINDS,
};

extern const char *const point_kind_name[POINT_KINDS];

enum spot_place {
	SPOT_BEFORE, /* the instruction at va; all control that reaches it, wherever from */
	SPOT_ENTRY,  /* the same, but only control that comes from outside the procedure */
	SPOT_EDGE,   /* control that goes along the edge */
	SPOT_TAKEN,  /* control that leaves the procedure by the conditional tail call at va */
};

struct spot {
	uint8_t kind;  /* enum point_kind */
	uint8_t place; /* enum spot_place */
	uint32_t loop; /* of loop points: index in the forest */
	uint32_t edge; /* of SPOT_EDGE: index in the graph */
	uint64_t va;   /* of the instruction; of SPOT_EDGE: of the last instruction before */
};

struct spot_list {
	struct spot *data;
	uint32_t len, cap;
};

/* The spots of all points whose kinds are in `kinds` (bits 1 << POINT_...), appended to `out`
 * (vec_free() it). `forest` may be NULL if no loop points are asked for; `loop` restricts loop
 * points to one loop, or is LOOP_NONE for all. */
void spots_find(const struct flow *f, const struct cfg *g, const struct loop_forest *forest,
		uint32_t kinds, uint32_t loop, struct spot_list *out);
