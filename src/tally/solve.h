/* From the counters of one context to what was executed in it. */
#pragma once
#include "tally/plan.h"

/* Control that left the procedure for good at a site, and that went on behind one which it had not
 * come back from. Or, site 0, in the middle of a block: before its instruction `insn`; `arriving`:
 * at its top, before anything that is counted there. */
struct tally_departure {
	uint32_t site;
	uint32_t block, insn; /* BLOCK_NONE: nobody knows where */
	bool arriving;
	uint64_t left, resumed;
};

/* What is known of a context. */
struct tally_reading {
	const uint64_t *words;
	uint64_t calls;
	const struct tally_departure *departures;
	uint32_t departure_count;
};

/* How often each edge of the net was taken: net.edge_count of them, in `a`. *good is false if the
 * counters contradict each other; what would be negative is 0 then. */
int64_t *tally_solve(const struct tally *t, const struct tally_reading *r, bool *good,
		     struct arena *a);

/* Executions of an instruction of a block, which has `insn` others before it. */
uint64_t tally_executions(const struct tally *t, const struct tally_reading *r,
			  const int64_t *counts, uint32_t block, uint32_t insn);

/* How often control went along an edge of the flow graph; UINT64_MAX if that is not known: it is
 * an indirect jump's or an exception's. */
uint64_t tally_edge(const struct tally *t, const int64_t *counts, uint32_t edge);
