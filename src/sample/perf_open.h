/* perf_event_open(), and a sentence for the user if it fails. */
#pragma once
#include <linux/perf_event.h>

#include "sample/sampler.h"

/* Returns a file descriptor, or -1 with errno. tid 0 is the calling thread; cpu -1 is any CPU. */
int perf_open(struct perf_event_attr *a, int tid, int cpu);

/* After perf_open() has failed, makes a sentence of errno; returns ERR_UNSUPPORTED. `ev` is the
 * event that was to be opened, or NULL for one that every kernel with perf events has. */
int perf_explain(const struct event *ev, struct err *e);

/* Fails, with a sentence, if our own threads may not count the event in user code. */
int perf_check_countable(const struct event *ev, struct err *e);

/* The number in a file of /proc/sys/kernel, or -1. */
long kernel_setting(const char *name);
