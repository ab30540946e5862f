/* Completes a call stack with the callers that its thread had a moment earlier or later.
 *
 * If both stacks have a frame of the same function with the same CFA, that frame has not returned
 * in between, so its callers are the same. One case is not noticed: the function has returned, and
 * was called again along another path, with the stack pointer at the very same place. */
#pragma once
#include "sample/sampler.h"
#include "unwind/walk.h"

enum {
	RECENT_PATHS = 64,
	RECENT_FRAMES_MAX = 4096,
	SPLICE_MAX_NS = 20000000, /* ns between samples whose stacks may have callers in common */
};

/* The last complete call stack of a thread. */
struct recent_path {
	int tid;
	uint64_t time;
	uint64_t space; /* its serial number, which changes with the mappings */
	struct walk walk;
};

struct recent_paths {
	struct recent_path all[RECENT_PATHS];
};

void recent_release(struct recent_paths *r);
void recent_keep(struct recent_paths *r, const struct sample *s, const struct space *space,
		 const struct walk *path);

/* Completes `path`, whose walk ended at the end of its stack copy. After a frame that both stacks
 * have, it gets the callers and the end of `other`. Returns false if they have no frame in
 * common. */
bool splice_paths(struct walk *path, const struct walk *other);
bool splice_with_recent(struct walk *path, const struct recent_paths *r, const struct sample *s,
			const struct space *space);
