/* Threads and processes that end before their first sample.
 *
 * The clock of each new thread starts with a full period. So a thread that runs for less is never
 * sampled, even if there are a million of them. Their parent's clock is lost as well, because the
 * kernel swaps the events of related threads when it switches between them.
 *
 * Besides, each new thread inherits the events of its parent, on all CPUs, which takes longer than
 * a short thread runs.
 *
 * When many threads of this kind are seen, the events of threads are replaced by those of CPUs,
 * which nobody inherits. They sample whatever runs there, and the samples of other programs are
 * dropped. That needs the permission to observe the whole machine. */
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "sample/perf_sampler.h"

static bool open_wide(struct perf_sampler *p, unsigned event, bool lean)
{
	struct perf_event_attr a;
	struct event_source source = {.event = event, .whole = true};
	struct err ignored;
	perf_fill_event(p, event, lean, &a);
	a.exclude_idle = 1;
	for (unsigned i = 0; i < p->rings.count; i++) {
		int fd = perf_open(&a, -1, p->rings.rings[i].cpu);
		if (fd < 0 || perf_add_file(p, fd, lean, &p->rings.rings[i], &source, &ignored))
			return false;
	}
	return true;
}

static bool open_all_wide(struct perf_sampler *p)
{
	for (unsigned i = 0; i < p->o.event_count; i++)
		for (unsigned lean = 0; lean < perf_kinds(p); lean++)
			if (!open_wide(p, i, lean))
				return false;
	return true;
}

/* Closes the files that were added last, down to number `first`. */
static void close_from(struct perf_sampler *p, uint32_t first)
{
	while (p->files.len > first)
		close(vec_pop(&p->files).fd);
}

static void explain(struct perf_sampler *p)
{
	snprintf(p->base.note, sizeof(p->base.note),
		 "many threads or processes ended before their first sample and are missing; to "
		 "sample them too, use sudo, or run: sudo sysctl kernel.perf_event_paranoid=-1");
}

/* Records of the events that are closed here may still be in the rings: they are delivered as
 * before. Returns false if CPUs may not be observed. */
bool perf_go_wide(struct perf_sampler *p, const char *why)
{
	uint32_t before = p->files.len;
	if (!open_all_wide(p)) {
		close_from(p, before);
		return false;
	}
	p->wide = true;
	p->widened = now_ns();
	perf_close_first(p, before);
	debug(LOG_SAMPLE, 1, "%s: events of CPUs from now on", why);
	return true;
}

void perf_handle_crowd(struct perf_sampler *p)
{
	p->crowded = false;
	if (p->wide || perf_go_wide(p, "many short-lived threads"))
		return;
	p->narrow = true;
	explain(p);
	perf_stop_inheriting(p);
}
