/* perf_event_open(), and in words why it says no. */
#pragma once
#include <linux/perf_event.h>

#include "sample/sampler.h"

/* A file descriptor, or -1 with errno. tid 0 is the calling thread, cpu -1 any. */
int perf_open(struct perf_event_attr *a, int tid, int cpu);

/* The sentence for errno after perf_open() failed; returns ERR_UNSUPPORTED. `ev` is what was asked
 * for, or NULL if it was something that every kernel with perf has. */
int perf_explain(const struct event *ev, struct err *e);

/* Whether threads of ours may count the event, the kernel's part left out. */
int perf_check_countable(const struct event *ev, struct err *e);

/* The number in a file of /proc/sys/kernel, or -1. */
long kernel_setting(const char *name);
