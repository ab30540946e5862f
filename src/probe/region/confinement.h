/* Programs that may not make all system calls (seccomp): what is left for us. */
#pragma once
#include "probe/region/target.h"

/* Of a stopped target: an error if its filters of system calls might forbid what probes need. */
int confinement_check(struct target *t, struct err *e);
/* Before it is traced: an error if there are filters that we cannot read. */
int confinement_check_untouched(const struct target *t, struct err *e);
/* What the runtime may do before there are probes at calls that might confine the program: before
 * it has executed anything of its own. */
void confinement_begin(struct target *t);
/* Before probes go in: an error if the target came to be confined since the last look. */
int confinement_check_batch(struct target *t, struct err *e);
/* Whether it is time to stop the target and look (stop/filters.h). */
bool confinement_is_due(struct target *t);
