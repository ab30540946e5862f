/* What of the program's time the counts cover: samples tell how much it spent in code that runs as
 * it was. Where perf is not permitted, nothing is known of that. */
#pragma once
#include "callpath/stacks.h"
#include "probe/engine/engine.h"

struct coverage;

struct coverage *coverage_new(void);
void coverage_free(struct coverage *c);

/* From now on, the process and its children are sampled. */
void coverage_watch(struct coverage *c, int pid);
/* Takes what samples there are. The processes that they are of must be among the targets. */
void coverage_take(struct coverage *c, struct target *const *targets, uint32_t count);
/* Writes what was not counted into the profile: procedures that could not be, and images that were
 * not to be. */
void coverage_tell(struct coverage *c, struct profile *p, struct images *images);
/* If the program was in images that were not to be counted for half of its time or more: the path
 * of the one where it was most, and how much it was in all of them. Else NULL. */
const char *coverage_missed(const struct coverage *c, unsigned *percent);
/* A procedure that runs as it was, and why. */
void coverage_refused(struct coverage *c, const struct counted_procedure *p);
