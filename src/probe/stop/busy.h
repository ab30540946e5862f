/* Threads that prevent a change because of a place that they will return to. */
#pragma once
#include "probe/stop/stop.h"

/* A site whose next fragment must not go in, and the thread that prevents it. */
struct clash {
	int tid;
	uint32_t site; /* SITE_NONE: a signal handler interrupted a probe */
};
enum { SITE_NONE = UINT32_MAX };
typedef VEC(struct clash) clash_list;
/* Repeats stop_settle() while there are clashes, for a limited time. `clashes` gets those that
 * remain. */
void stop_settle_apart(struct stop *s, clash_list *clashes);
