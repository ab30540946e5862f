/* Options of an engine, and the overhead of its probes. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct engine_options {
	bool poison;        /* tests: probes overwrite all registers that liveness calls free */
	bool relocate;      /* tests: relocate every function */
	bool trap_all;      /* tests: use traps even where jumps are possible */
	bool no_perf_clock; /* tests: as if perf were not permitted */
	/* Functions that need more patches than this are refused, because the threads are stopped
	 * while the patches go in. An interpreter's loop needs a thousand. 0: no limit. */
	uint32_t most_patches;
	/* Forked children, and programs that processes execute (except the launched one), are left
	 * alone until target_begin(). */
	bool lazy;
	bool on_demand; /* see engine_on_demand() */
	/* A program whose seccomp filter might forbid what probes need is not an error, but is left
	 * alone: nothing can be added to it (target_unprobed()). */
	bool unprobed;
	/* Called while a change is prepared, with the number of functions whose new code is ready.
	 * May be NULL. */
	void (*progress)(void *ctx, uint32_t done, uint32_t total);
	void *ctx;
};

/* The duration of one hit of each kind on this machine, in ns:
 * - count: a plain counter
 * - enter, exit: with two clocks
 * - wall: either of them, with wall time only
 * - path: finding a call path of ten frames
 * - block: before or after a call that may wait */
struct probe_overheads {
	double count, enter, exit, wall, path, block;
};
