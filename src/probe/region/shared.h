/* What all targets of an engine share. */
#pragma once
#include "base/arena.h"
#include "base/vec.h"
#include "probe/region/options.h"
#include "process/control.h"
#include "runtime/abi.h"
#include "unwind/walk.h"

struct target;

struct shared {
	struct engine_options options;
	const struct arch *arch;
	struct control *control;
	struct codes *codes;
	struct walker *walker;
	struct memory_window *window;
	struct arena arena, tmp; /* scratch: the user clears them */
	struct {
		uint32_t type;
		uint64_t config;
	} perf_events[RT_EVENTS];
	uint32_t perf_event_count;
	struct module_facts *facts;       /* code/module_facts.h */
	struct stopped_walks *past_walks; /* stop/stop.h: of past stops */

	/* Callbacks into the engine: a child was forked before its parent was stopped; our part of
	 * the program's memory is about to change. */
	void (*forked)(void *ctx, const struct control_event *ev);
	void (*changing)(void *ctx, struct target *t);
	void *ctx;
};
