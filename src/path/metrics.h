/* The metrics of functions, by the names that users give them. */
#pragma once
#include "probe/engine/engine.h"
#include "sample/sampler.h"

enum {
	PATH_CALLS = RT_METRICS, /* counted always */
	PATH_METRICS = RT_METRICS + 1,
};

struct path_metric {
	const char *name, *unit;
	uint32_t index; /* in the engine's values (enum rt_metric), or PATH_CALLS */
	uint32_t row;   /* in the profile; PROFILE_NONE until it is first used */
	bool on;
};

struct path_metrics {
	struct path_metric list[PATH_METRICS]; /* in the order of naming */
	uint32_t count;
	uint32_t event_count;
};

/* The metric with this name. A new one is added, switched off; if it is a perf event, it is also
 * defined in the engine. NULL and a sentence if there is no such metric. */
struct path_metric *metrics_find(struct path_metrics *m, struct engine *g, const char *name,
				 struct err *e);
/* The set of metrics that are on, for the engine. */
uint32_t metrics_set(const struct path_metrics *m);
/* The first one that is on and measures time; otherwise the first one that is on, or NULL. */
const struct path_metric *metrics_first(const struct path_metrics *m);
/* Whether it measures time. */
bool metrics_is_time(const struct path_metric *m);
/* An error if the name is neither one of our metrics nor an event. */
int metrics_check(const char *name, struct err *e);
