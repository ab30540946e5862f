/* Counting across a fork. */
#pragma once
#include "probe/engine/lineage.h"

/* Copies the frames of a thread that has forked, before it runs on. */
void contexts_forked(struct target *t, int tid, int child);
/* Gives the child's thread its contexts, before it has an area. */
void contexts_inherit(struct target *child, struct target *parent, struct control_thread *th);
void fork_frames_free(struct fork_frames *f);
