/* Counting across a fork. */
#pragma once
#include "probe/engine/lineage.h"

/* A thread has forked, and has not run on yet. */
void contexts_forked(struct target *t, int tid, int child);
/* The child's thread, before it has an area. */
void contexts_inherit(struct target *child, struct target *parent, struct control_thread *th);
void fork_frames_free(struct fork_frames *f);
