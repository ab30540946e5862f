/* The operations on the program under study that the search needs. One implementation drives
 * processes of this machine, another simulates a program; a third could drive processes of another
 * machine. */
#pragma once
#include "search/hypothesis.h"

/* The measurements of one experiment since it began, including activations and waits in
 * progress. */
struct reading {
	double amount, base; /* s: the value is amount / base; either may also shrink */
	double overhead;     /* s of the program's time that its own probes have taken */
	bool sampled; /* measured by samples: probes are not wanted, impossible, or too slow */
};

struct program_ops {
	/* Adds the parts of f->part[h]. For CODE these are
	 *	for a function, its outermost loops and its callees outside of them;
	 *	for a loop, its inner loops and its callees outside of them;
	 *	for the root, the functions that the program and its threads begin with.
	 * For other hierarchies they are the children that exist now and have something in common
	 * with the other parts of the focus. */
	void (*parts)(void *ctx, const struct focus *f, enum hierarchy h, resource_list *out);
	/* Returns whether a hypothesis can be measured at all. NULL: all can. */
	bool (*measures)(void *ctx, enum hypothesis_id h);
	/* Returns whether a hypothesis is worth testing on a part of the code. For instance,
	 * waiting is not worth testing on library code that all waits go through. NULL: all code is
	 * worth testing. */
	bool (*concerns)(void *ctx, enum hypothesis_id h, uint32_t code);
	/* Returns whether a part of the machine is one of several to which a runtime gives work, so
	 * that it is not worth searching alone along the code. NULL: none is. */
	bool (*alike)(void *ctx, uint32_t machine);
	/* Returns whether experiments on code are measured by probes. If not, samples measure all
	 * of them at no cost, so that they need not take turns. NULL: always. */
	bool (*probes)(void *ctx, enum hypothesis_id h);
	/* Measuring begins and ends with the next commit. Experiments that have ended are not read
	 * again. `by_samples`: measure without probes. */
	void (*begin)(void *ctx, uint32_t experiment, enum hypothesis_id h, const struct focus *f,
		      bool by_samples);
	void (*end)(void *ctx, uint32_t experiment);
	void (*commit)(void *ctx);
	void (*read)(void *ctx, uint32_t experiment, struct reading *out);
	/* Returns the overhead at present: the share of the program's time that probes take, and
	 * the stops in which they are inserted and removed. */
	double (*overhead)(void *ctx);
};
