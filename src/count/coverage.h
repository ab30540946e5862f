/* How much of the program's time the counts cover: samples show how much of it was in
 * uninstrumented code. Where perf is not permitted, that is not known. */
#pragma once
#include "callpath/stacks.h"
#include "probe/engine/engine.h"

struct coverage;

struct coverage *coverage_new(void);
void coverage_free(struct coverage *c);

/* From now on, the process and its children are sampled. */
void coverage_watch(struct coverage *c, int pid);
/* Processes the samples that are available. Only those of the targets count. */
void coverage_take(struct coverage *c, struct target *const *targets, uint32_t count);
/* Writes what was not counted into the profile: functions that could not be counted, and modules
 * that were not chosen. */
void coverage_report(struct coverage *c, struct profile *p, struct modules *modules);
/* If the program was in modules that were not chosen for half of its time or more: the path of the
 * one where it was most, and the percentage in all of them. Else NULL. */
const char *coverage_missed(const struct coverage *c, unsigned *percent);
/* Notes a function that runs uninstrumented, and why. */
void coverage_refused(struct coverage *c, const struct counted_function *p);
