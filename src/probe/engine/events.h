/* What happens to processes. */
#pragma once
#include "probe/engine/targets.h"

/* Has the engine told of all that follows. */
void events_watch(struct engine *g);
void event_happened(struct engine *g, const struct control_event *ev);
/* Deals with what has happened, not with what happens meanwhile: that may never end. False if
 * nothing has. */
bool events_catch_up(struct engine *g, int wait_ms);
/* Deals with all that has happened, and lets everybody who waits for it go on. */
void events_drain(struct engine *g);

void event_tell(struct engine *g, enum engine_happening what, struct target *t,
		struct target *parent, int status);
/* All values that areas hold are kept; the program is no more, or another one. */
void target_end(struct target *t, uint64_t cpu_ns);
/* Puts the region and the first probes into a stopped target. */
int target_prepare(struct target *t, struct err *e);
