/* Puts the region and the runtime's text into a program, and takes them out again. The target is
 * stopped. */
#pragma once
#include "probe/region/target.h"

int target_inject(struct target *t, struct err *e);
/* From now on the runtime measures. */
bool target_set_guard(const struct target *t);
/* The call is made by thread `tid`; 0: any. The child's probes do nothing until its guard is
 * set. */
int target_inject_child(struct target *child, const struct target *parent, int tid, struct err *e);
/* Gives the copy, which belongs to no process, a region with the tables of `t`. */
bool target_copy_region(struct target *copy, const struct target *t);
void target_withdraw(struct target *t);
void target_unmap(struct target *t);
void region_release(struct target *t);
/* Tells the runtime which perf events to count. */
void target_set_events(struct target *t);
