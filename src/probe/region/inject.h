/* Puts the region and the runtime's text into a program, and takes them out again. The target is
 * stopped. */
#pragma once
#include "probe/region/target.h"

/* Puts the region and the runtime into the target, and prepares its threads. */
int target_inject(struct target *t, struct err *e);
/* Sets the guard: from now on the runtime measures. */
bool target_set_guard(const struct target *t);
/* Gives a forked child its own region, with the parent's tables. Thread `tid` makes the system
 * calls; 0: any thread. The child's probes do nothing until its guard is set. */
int target_inject_child(struct target *child, const struct target *parent, int tid, struct err *e);
/* Gives the copy, which belongs to no process, a region with the tables of `t`. */
bool target_copy_region(struct target *copy, const struct target *t);
/* Takes the region and the runtime out of the target. */
void target_withdraw(struct target *t);
/* Unmaps the region here, and leaves the target alone. */
void target_unmap(struct target *t);
void region_release(struct target *t);
/* Sets the perf events that the runtime counts. */
void target_set_events(struct target *t);
