/* Threads that are in the way of a change because of where they come back to. */
#pragma once
#include "probe/stop/stop.h"

/* A site whose next fragment must not go in, and the thread because of which. */
struct clash {
	int tid;
	uint32_t site; /* SITE_NONE: a signal handler interrupted a probe */
};
enum { SITE_NONE = UINT32_MAX };
typedef VEC(struct clash) clash_list;
/* stop_settle(), again and again while there are clashes; `clashes` gets those that remain. */
void stop_settle_apart(struct stop *s, clash_list *clashes);
