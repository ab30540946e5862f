/* Which loops are worth parallelising, chosen as in the case study of loop-centric profiling
 * (Moseley et al., section 5.3): high in the loop-call graph, with a large total, many iterations,
 * enough work in each, and few entries.
 *
 * The best possible gain follows from Amdahl's law with the loop's share of the total, and from
 * its iterations: n iterations take ceil(n / k) rounds on k threads. Loops are compared by what
 * they save after each entry has paid for starting threads or for a barrier. An outer loop is
 * chosen unless the loops inside it together save clearly more. Dependences between iterations
 * are not known here, so the loops inside each chosen loop are listed as alternatives. */
#pragma once
#include "profile/counts.h"
#include "profile/tree.h"

enum { PARALLEL_STEPS = 6, PARALLEL_ENTRY_COST = 10000 /* instructions */ };

extern const uint32_t parallel_threads[PARALLEL_STEPS]; /* 2 to 64 */

/* Whether a loop is worth parallelising, or why not. */
enum parallel_verdict {
	PARALLEL_WORTH_IT,
	PARALLEL_SMALL,          /* its share of the total is too small */
	PARALLEL_FEW_ITERATIONS, /* too few iterations per entry */
	PARALLEL_SMALL_ENTRIES,  /* its entries are too short: starting threads costs more than it
				    gains */
};

struct parallel_loop {
	uint32_t scope;
	const struct counts_row *counts;
	uint8_t verdict;         /* enum parallel_verdict */
	bool recursive;          /* entered from its own body */
	uint64_t total;          /* instructions, in the selected contexts */
	double share;            /* share of the selected total, 0 to 1 */
	double trips;            /* iterations per entry, on average */
	double iteration, entry; /* instructions per iteration and per entry, over all call paths */
	double busy;             /* the most threads that can have work */
	/* On parallel_threads[i] threads: the remaining run time of the loop, 0 to 1; the speed-up
	 * of the whole, at best. */
	double part[PARALLEL_STEPS];
	double gain[PARALLEL_STEPS];
	/* Share of the whole, 0 to 1: mean of the savings on parallel_threads, less the cost of
	 * entries. */
	double saves;
	/* The alternatives: the loops inside it that save most, in parallel.inside. */
	uint32_t first_inside, inside_count;
	double inside_gain[PARALLEL_STEPS]; /* speed-up by all of these together */
};

struct parallel {
	VEC(struct parallel_loop) loops; /* loops worth it first; by total */
	VEC(uint32_t) chosen;            /* indices of loops; none is inside another; best first */
	VEC(uint32_t) inside;
	VEC(uint32_t) around;            /* worth it, but loops inside them are chosen */
	double together[PARALLEL_STEPS]; /* speed-up by all chosen loops */
};

/* `t` has the selected contexts, `whole` is the same tree without a focus (`t` itself if there
 * is none), `c` has the counts of the same threads; `t` and `c` must outlive the result. Loops
 * with a share below `least` are too small. */
void parallel_build(struct parallel *x, const struct tree *t, const struct tree *whole,
		    const struct counts *c, double least);
void parallel_release(struct parallel *x);
