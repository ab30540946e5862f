/* Derives the number of executions of everything in a context from its counters. */
#pragma once
#include "counters/plan.h"

/* Control that left the function for good at a site (`left`), and control that continued after a
 * site from which it had not returned (`resumed`). With site 0 it left or continued in the middle
 * of a block, before its instruction `insn`; `arriving` means at the top of the block, before
 * anything that is counted there. */
struct counters_departure {
	uint32_t site;
	uint32_t block, insn; /* BLOCK_NONE: the place is unknown */
	bool arriving;
	uint64_t left, resumed;
};

/* The data of one context. */
struct counters_reading {
	const uint64_t *words;
	uint64_t calls;
	const struct counters_departure *departures;
	uint32_t departure_count;
};

/* The count of each edge of the net: net.edge_count of them, in `a`. *good is false if the counters
 * contradict each other; then negative counts are set to 0. */
int64_t *counters_solve(const struct counters *t, const struct counters_reading *r, bool *good,
			struct arena *a);

/* The number of executions of an instruction of a block, which has `insn` others before it. */
uint64_t counters_executions(const struct counters *t, const struct counters_reading *r,
			     const int64_t *counts, uint32_t block, uint32_t insn);

/* How often control followed an edge of the flow graph; UINT64_MAX if that is not known, because it
 * is an edge of an indirect jump or an exception. */
uint64_t counters_edge(const struct counters *t, const int64_t *counts, uint32_t edge);
