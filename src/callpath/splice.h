/* Finishing a path with the callers that its thread has a moment earlier or later.
 *
 * A frame that both paths have (the same procedure, with the same CFA) was waiting for its callee
 * meanwhile, so the callers above it are the same. That a procedure returned in between and was
 * called again by another path, with the stack pointer at the very same place, is possible and not
 * noticed. */
#pragma once
#include "sample/sampler.h"
#include "unwind/walk.h"

enum {
	RECENT_PATHS = 64,
	RECENT_FRAMES_MAX = 4096,
	MOMENT = 20000000, /* ns between samples whose paths may have callers in common */
};

/* The last complete path of each of some threads. */
struct recent_path {
	int tid;
	uint64_t time;
	uint64_t space; /* serial: what is mapped has not changed since */
	struct walk walk;
};

struct recent_paths {
	struct recent_path all[RECENT_PATHS];
};

void recent_release(struct recent_paths *r);
void recent_keep(struct recent_paths *r, const struct sample *s, const struct space *space,
		 const struct walk *path);

/* Puts the callers that `other` has above a common frame behind it in `path`, which ended for lack
 * of memory and takes over the end of `other`. False if there is no such frame. */
bool splice_paths(struct walk *path, const struct walk *other);
bool splice_with_recent(struct walk *path, const struct recent_paths *r, const struct sample *s,
			const struct space *space);
