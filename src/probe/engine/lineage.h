/* The origin of a target (fork or exec), and what its children inherit. */
#pragma once
#include "probe/code/codespace.h"

struct lineage {
	struct target *before;    /* the target before it executed this program; may be gone */
	struct target *inherited; /* for a child that was left alone: the snapshot of what is in its
				     memory */
	struct target *snapshot;  /* for children that are forked now; NULL: not needed yet */
	uint32_t snapshot_refs;   /* for a snapshot: the references to it */
	/* Frames of threads at a fork whose child is not reported yet: fork_contexts.c. */
	VEC(struct fork_frames *) forks;
	bool loading; /* its libraries are not loaded yet */
	int held;     /* tid of the thread that waits for target_go(), or 0 */
};
