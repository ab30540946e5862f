/* The call path of one sample: by the bytes that came with it, and where these end, by stopping the
 * thread and reading on in its memory. */
#pragma once
#include "process/memory.h"
#include "record/held.h"
#include "record/lean.h"
#include "record/splice.h"
#include "record/watched.h"
#include "sample/sampler.h"

struct paths {
	struct sampler *sampler;
	struct walker *walker;
	struct memory_window window;
	struct held_stacks held;
	uint8_t first[1 << 14]; /* bytes of the stack of a stopped thread */
	struct walk walk;       /* the result of path_find() */
	struct recent_paths recent;
	struct lean lean;
};

void paths_init(struct paths *p, struct sampler *s);
void paths_release(struct paths *p);

/* The sample must have registers. */
void path_find(struct paths *p, struct watched_process *process, const struct sample *s);
