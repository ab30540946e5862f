/* What all targets of an engine have in common. */
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
	struct arena arena, tmp; /* scratch: whoever uses them clears them */
	struct {
		uint32_t type;
		uint64_t config;
	} perf_events[RT_EVENTS];
	uint32_t perf_event_count;
	struct image_facts *facts;        /* code/image_facts.h */
	struct stopped_walks *past_walks; /* stop/stop.h: of stops that are over */

	/* The engine is told: a child that was forked before its parent was stopped; and that the
	 * program's memory, as far as it is ours, is about to change. */
	void (*forked)(void *ctx, const struct control_event *ev);
	void (*changing)(void *ctx, struct target *t);
	void *ctx;
};
