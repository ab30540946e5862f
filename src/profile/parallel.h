/* Which loops to run in parallel, as the case study of loop-centric profiling chooses them (Moseley
 * et al., section 5.3): high in the loop-call graph, with a large total, many iterations, enough
 * work in each, and few entries.
 *
 * What the best possible gain is follows from Amdahl's law with the share of the loop's total, and
 * from its iterations: n of them take ceil(n / k) rounds on k threads. Loops are compared by what
 * is saved when each entry costs what starting threads or a barrier does: an outer loop is chosen
 * unless the loops inside it, together, save clearly more. Whether iterations depend on each other
 * is not known here, so of each the loops inside are told too. */
#pragma once
#include "profile/counts.h"
#include "profile/tree.h"

enum { PARALLEL_STEPS = 6, PARALLEL_ENTRY_COST = 10000 /* instructions */ };

extern const uint32_t parallel_threads[PARALLEL_STEPS]; /* 2 to 64 */

/* Why a loop is not worth it. */
enum parallel_verdict {
	PARALLEL_WORTH_IT,
	PARALLEL_SMALL,          /* too little of the whole */
	PARALLEL_FEW_ITERATIONS, /* nearly always one, or none */
	PARALLEL_SMALL_ENTRIES,  /* what threads cost is more than they gain */
};

struct parallel_loop {
	uint32_t scope;
	const struct counts_row *counts;
	uint8_t verdict;             /* enum parallel_verdict */
	bool recursive;              /* entered from its own body */
	uint64_t total;              /* instructions, of what is chosen */
	double share;                /* of all that is chosen, 0 to 1 */
	double trips;                /* iterations an entry, on average */
	double iteration, entry;     /* instructions, over all call paths */
	double busy;                 /* threads that can have something to do at all */
	double part[PARALLEL_STEPS]; /* what is left of the loop on so many threads, 0 to 1 */
	double gain[PARALLEL_STEPS]; /* how many times faster all becomes, at best */
	double saves;                /* of all, 0 to 1: mean of these with the cost of entries */
	/* Instead of it: the loops inside that save most, in `inside`. */
	uint32_t first_inside, inside_count;
	double inside_gain[PARALLEL_STEPS]; /* of these together */
};

struct parallel {
	VEC(struct parallel_loop) loops; /* worth it or not; those first; by total */
	VEC(uint32_t) chosen;            /* of these; none is inside another; best first */
	VEC(uint32_t) inside;
	VEC(uint32_t) around;            /* worth it, but chosen ones inside save more */
	double together[PARALLEL_STEPS]; /* gain of all chosen */
};

/* `t` is of what is chosen, `whole` the same without a focus (the same tree if there is none), `c`
 * of the same threads; both must outlive the result. Loops with a share below `least` are too
 * small. */
void parallel_build(struct parallel *x, const struct tree *t, const struct tree *whole,
		    const struct counts *c, double least);
void parallel_release(struct parallel *x);
