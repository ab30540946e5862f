/* Threads and processes that end before their first sample.
 *
 * The clock of each new thread starts with a full period. So a thread that runs for less is never
 * sampled, even if there are a million of them. Their parent's clock is lost as well, because the
 * kernel swaps the events of related threads when it switches between them.
 *
 * When many threads of this kind are seen, the clocks of threads are replaced by one clock for each
 * CPU. It samples whatever runs there, and the samples of other programs are dropped. That needs
 * the permission to observe the whole machine. */
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"
#include "sample/perf_sampler.h"

/* Threads that ended without a sample, per second, from which on the clocks of CPUs are used. */
enum { SHORT_LIVED_PER_SECOND = 50 };

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

static void retire(struct perf_file *f)
{
	ioctl(f->fd, PERF_EVENT_IOC_DISABLE, 0);
	f->retired = true;
}

static void go_wide(struct perf_sampler *p)
{
	uint32_t before = p->files.len;
	p->wide = true;
	for (unsigned i = 0; i < p->o.event_count; i++)
		if (p->o.events[i].clock && !(open_wide(p, i, false) && open_wide(p, i, true))) {
			close_from(p, before);
			explain(p);
			return;
		}
	for (uint32_t i = 0; i < before; i++) {
		struct perf_file *f = &p->files.data[i];
		if (f->event != SIDEBAND && p->o.events[f->event].clock)
			retire(f);
	}
	debug(LOG_SAMPLE, 1, "many short-lived threads: clocks of CPUs from now on");
}

void perf_count_short_lived(struct perf_sampler *p)
{
	if (p->wide)
		return;
	if (p->delivered - p->short_lived_since > NS_PER_SECOND) {
		p->short_lived_since = p->delivered;
		p->short_lived = 0;
	}
	if (++p->short_lived == SHORT_LIVED_PER_SECOND)
		go_wide(p);
}
