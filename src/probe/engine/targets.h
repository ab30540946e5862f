/* The engine and its targets. */
#pragma once
#include "probe/engine/engine.h"
#include "probe/engine/lineage.h"
#include "probe/stop/stop.h"

struct engine {
	struct shared shared;
	VEC(struct target *) targets;
	VEC(struct engine_event) events; /* found while waiting for something else */
	int launched;                    /* pid of the program that we started; or 0 */
	int look_ms;                     /* between looks at raw paths */
	struct probe_costs costs;
	bool calibrated;
};

static inline struct engine *engine_of(const struct target *t)
{
	return t->shared->ctx;
}

struct target *target_new(struct engine *g, int pid);
/* One that the engine does not know of. */
struct target *target_make(struct engine *g, int pid);
void target_free(struct target *t);
/* The living one, or NULL. */
struct target *target_of(const struct engine *g, int pid);

/* A copy that several children may refer to. */
void snapshot_release(struct target *snapshot);
/* What is in the memory of the target changes. */
void snapshot_forget(struct target *t);
