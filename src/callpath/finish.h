/* Finds the call stack of one sample: in the bytes that came with it and, where these end, by
 * stopping the thread and reading its memory. */
#pragma once
#include "callpath/held.h"
#include "callpath/lean.h"
#include "callpath/splice.h"
#include "callpath/watched.h"
#include "process/memory.h"
#include "sample/sampler.h"

struct path_finisher {
	struct sampler *sampler;
	struct walker *walker;
	struct memory_window window;
	struct held_stacks held;
	uint8_t first[1 << 14]; /* the innermost bytes of a stopped thread's stack */
	struct walk walk;       /* the result of finisher_find() */
	struct recent_paths recent;
	struct lean lean;
};

void finisher_init(struct path_finisher *p, struct sampler *s);
void finisher_release(struct path_finisher *p);

/* Leaves the call stack in p->walk. The sample must have registers. */
void finisher_find(struct path_finisher *p, struct watched_process *process,
		   const struct sample *s);
