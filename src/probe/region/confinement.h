/* Programs with seccomp filters: what we may still do. */
#pragma once
#include "probe/region/target.h"

/* For a stopped target: an error if its filters might forbid what probes need. */
int confinement_check(struct target *t, struct err *e);
/* Before the target is traced: an error if it has filters that we cannot read. */
int confinement_check_untouched(const struct target *t, struct err *e);
/* Sets what the runtime may do before there are probes at the calls that might install a filter;
 * the program has not executed anything of its own yet. */
void confinement_begin(struct target *t);
/* Before probes go in: an error if a filter that might forbid what probes need was installed since
 * the last check. */
int confinement_check_batch(struct target *t, struct err *e);
/* Whether it is time to stop the target and check its filters (stop/filters.h). */
bool confinement_is_due(struct target *t);
