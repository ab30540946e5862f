/* Events of processes. */
#pragma once
#include "probe/engine/targets.h"

/* Registers the engine for all events below. */
void events_watch(struct engine *g);
void event_happened(struct engine *g, const struct control_event *ev);
/* Waits up to wait_ms for an event, and handles all events that are known then. It leaves events
 * that occur during that for the next call: there might be no end of them. False if there was
 * none. */
bool events_handle_known(struct engine *g, int wait_ms);
/* Handles all events. Unless the engine goes on, discards what would be reported, and lets all
 * waiting threads continue. */
void events_drain(struct engine *g);

void event_report(struct engine *g, enum engine_happening what, struct target *t,
		  struct target *parent, int status);
/* Keeps all values of the areas: the program has ended, or executes another one. */
void target_end(struct target *t, uint64_t cpu_ns);
/* Puts the region and the first probes into a stopped target. */
int target_prepare(struct target *t, struct err *e);
