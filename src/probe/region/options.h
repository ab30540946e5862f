/* How an engine works, and what its probes cost. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct engine_options {
	bool poison;        /* tests: probes destroy what liveness calls free */
	bool relocate;      /* tests: relocate every procedure */
	bool trap_all;      /* tests: traps even where jumps would do */
	bool no_perf_clock; /* tests: as if perf were not permitted */
	/* Procedures that take more patches to measure than this are refused: threads stand still
	 * while they go in. An interpreter's loop takes a thousand. 0: any number will do. */
	uint32_t most_patches;
	/* What processes execute, but for the program that was launched, and what they fork is left
	 * alone until target_begin(). */
	bool lazy;
	/* A program whose filter of system calls (seccomp) might forbid what probes need is no
	 * error, but left alone: nothing can be added to it (target_unprobed()). */
	bool unprobed;
	/* While a change is prepared: of how many procedures there are new versions. May be NULL.
	 */
	void (*progress)(void *ctx, uint32_t done, uint32_t total);
	void *ctx;
};

/* ns of one hit of each kind on this machine: a plain counter; entry and exit that read two clocks,
 * and either if it is but that of time passing; finding the call path, ten frames deep; before and
 * after a call that may wait. */
struct probe_costs {
	double count, enter, exit, wall, path, block;
};
