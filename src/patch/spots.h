/* Points of a function, and the spots in its code where each is realised.
 *
 * A point is what a user names (a function's entry, a loop's exit). A spot is one place in the flow
 * graph that control passes exactly when the point is reached: before an instruction, or on an
 * edge. Loop points are those of section 4 of the loop-aware search paper: entry edges lead from
 * outside to the header, exit edges from a member to outside; an iteration begins at the header
 * (entry and back edges) and ends on back and exit edges. So entries and exits, and begins and ends
 * of iterations, are balanced.
 *
 * Spots at the same place are listed in the order in which their probes have to execute, so that
 * begins and ends are properly nested. On entry: the function's entry, then for each loop from the
 * outermost its entry and the begin of its iteration. On exit: the end of a system call, then for
 * each loop from the innermost the end of its iteration and its exit, then the function's exit. On
 * a back edge all ends come before all begins. At an instruction that carries both, those of
 * SPOT_ENTRY come before those of SPOT_BEFORE.
 *
 * Control that leaves by an exception to a caller, by longjmp or by a jump table entry that leads
 * out of the function passes no exit. */
#pragma once
#include "flow/flow.h"
#include "flow/loops.h"

enum point_kind {
	POINT_ENTRY, /* of the function, after its landing instructions */
	POINT_EXIT,  /* before a return or a jump to another function */
	POINT_CALL,  /* before a call; in order of address */
	POINT_LOOP_ENTRY,
	POINT_LOOP_EXIT,
	POINT_ITERATION_BEGIN,
	POINT_ITERATION_END,
	POINT_SYSCALL,      /* before a system call instruction */
	POINT_SYSCALL_DONE, /* right after it */
	POINT_PASS,         /* before a call of a function that makes the system call (pinned.h) */
	POINT_PASS_DONE,    /* where that call returns to */
	POINT_KINDS,
};

extern const char *const point_kind_name[POINT_KINDS];

enum spot_place {
	SPOT_BEFORE, /* before the instruction at va; for all control that reaches it */
	SPOT_ENTRY,  /* the same, but only for control from outside the function */
	SPOT_EDGE,   /* control that follows the edge */
	SPOT_TAKEN,  /* control that leaves the function by the conditional tail call at va */
	SPOT_PLACES,
};

extern const char *const spot_place_name[SPOT_PLACES];

struct spot {
	uint8_t kind;  /* enum point_kind */
	uint8_t place; /* enum spot_place */
	uint32_t loop; /* loop points: index in the forest; else LOOP_NONE */
	uint32_t edge; /* SPOT_EDGE: index in the graph; else UINT32_MAX */
	/* Address of the instruction. SPOT_EDGE: of the last instruction before the edge.
	 * SPOT_ENTRY: of the first one after the landing instructions, which may begin the next
	 * block. */
	uint64_t va;
};

struct spot_list {
	struct spot *data;
	uint32_t len, cap;
};

/* Appends the spots of all points whose kinds are in `kinds` (bits 1 << POINT_...) to `out`
 * (vec_free() it). `forest` may be NULL if no loop points are requested; `loop` restricts loop
 * points to one loop, or is LOOP_NONE for all. */
void spots_find(const struct flow *f, const struct cfg *g, const struct loop_forest *forest,
		uint32_t kinds, uint32_t loop, struct spot_list *out);
