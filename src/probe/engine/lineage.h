/* Where a target comes from, and what its children get. */
#pragma once
#include "probe/code/codespace.h"

struct lineage {
	struct target *before;    /* what it was before it executed this program; may be gone */
	struct target *inherited; /* of a child that was left alone: what is in its memory */
	struct target *snapshot;  /* what children forked now find; NULL: nobody asked for it yet */
	uint32_t holders;         /* of a snapshot */
	VEC(struct fork_frames *) forks; /* children that have not told yet: fork_contexts.c */
	bool loading;                    /* its libraries are not there yet */
	int held;                        /* thread that waits for target_go(), or 0 */
};
