/* What the search asks of the program under study. One implementation drives processes of this
 * machine, another simulates a program; a third could drive those of another machine. */
#pragma once
#include "search/hypothesis.h"

/* Of one experiment, since it began: all that was measured so far, activations and waits in
 * progress included. */
struct reading {
	double amount, base; /* s: the value is amount / base; neither needs to grow steadily */
	double cost;         /* s of the program's time that its own probes have taken */
	bool sampled; /* not probes but samples told: probes are not wanted, impossible, or cost too
		       * much */
};

struct program_ops {
	/* The parts that a part is made of: for CODE the callees outside of its loops and the
	 * outermost loops of a procedure, callees and inner loops of a loop, entries of the program
	 * and its threads of the root; else the children that exist now. The other parts of the
	 * focus say what they have to do with. */
	void (*parts)(void *ctx, const struct focus *f, enum hierarchy h, resource_list *out);
	/* Whether a hypothesis is worth testing on a part of the code: not on what everybody goes
	 * through who waits, for instance. May be NULL: on all of it. */
	bool (*concerns)(void *ctx, enum hypothesis_id h, uint32_t code);
	/* Measuring begins and ends with the next commit. Values of what has ended are not read
	 * again. `by_samples`: without probes. */
	void (*begin)(void *ctx, uint32_t experiment, enum hypothesis_id h, const struct focus *f,
		      bool by_samples);
	void (*end)(void *ctx, uint32_t experiment);
	void (*commit)(void *ctx);
	void (*read)(void *ctx, uint32_t experiment, struct reading *out);
	/* The share of its time that the program loses to all probes there are at present, and to
	 * putting them in and out. */
	double (*cost)(void *ctx);
};
