/* The engine and its targets. */
#pragma once
#include "probe/engine/engine.h"
#include "probe/engine/lineage.h"
#include "probe/stop/stop.h"

struct engine {
	struct shared shared;
	VEC(struct target *) targets;
	VEC(struct engine_event) events; /* found while waiting for something else */
	int launched;                    /* pid of the program that we started, or 0 */
	bool goes_on;                    /* it leaves a target, and others are still observed */
	int look_ms;                     /* between two checks for raw paths */
	struct probe_overheads overheads;
	bool calibrated;
};

static inline struct engine *engine_of(const struct target *t)
{
	return t->shared->ctx;
}

struct target *target_new(struct engine *g, int pid);
/* A target that is not in the engine's list. */
struct target *target_make(struct engine *g, int pid);
void target_free(struct target *t);
/* The living target with this pid, or NULL. */
struct target *target_of(const struct engine *g, int pid);

/* Drops a reference to a snapshot, which several children may share. */
void snapshot_release(struct target *snapshot);
/* Must be called before our part of the target's memory changes. */
void snapshot_forget(struct target *t);
