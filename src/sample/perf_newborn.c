/* Threads and processes that are born too fast to inherit events, where CPUs may not be sampled
 * (perf_wide.c).
 *
 * Inherited events would have no samples: the clock of each new thread starts with a full period,
 * and takes that of its parent along. So events are opened again that nobody inherits. Their
 * records still say who was born. Who has lived for ADOPTED_NS gets events of its own, with
 * the children that it has by then. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "process/threads.h"
#include "sample/perf_sampler.h"

enum { ADOPTED_NS = 20000000 };

/* A thread for which events cannot be opened stays without samples. */
static void open_own(struct perf_sampler *p, struct thread *t)
{
	struct err ignored;
	int rc = perf_open_thread(p, t->tid, true, false, &ignored);
	if (rc > 0)
		perf_report_end(p, t);
	else if (!rc)
		t->own_events = true;
}

void perf_stop_inheriting(struct perf_sampler *p)
{
	uint32_t before = p->files.len;
	p->solitary = p->base.short_unseen = true;
	vec_each (t, &p->threads)
		if (t->reported)
			open_own(p, t);
	perf_close_first(p, before);
	debug(LOG_SAMPLE, 1, "many short-lived threads: events are not inherited from now on");
}

static bool has_ended(const struct newborn *n)
{
	return syscall(SYS_tgkill, n->pid, n->tid, 0) && errno == ESRCH;
}

static void adopt_process(struct perf_sampler *p, int pid);

/* Children that a thread has started before it had events. */
static void adopt_children(struct perf_sampler *p, int pid, int tid)
{
	char path[80];
	int child;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
	FILE *f = fopen(path, "re");
	while (f && fscanf(f, "%d", &child) == 1) {
		if (perf_is_watched(p, child))
			continue;
		p->o.sink.fork(p->o.sink.ctx, pid, child);
		perf_report_start(p, child, child, 0);
		adopt_process(p, child);
	}
	if (f)
		fclose(f);
}

static void adopt_process(struct perf_sampler *p, int pid)
{
	tid_list tids = {0};
	struct err ignored;
	perf_watch_child(p, pid);
	if (!threads_list(pid, &tids, &ignored))
		vec_each (tid, &tids)
			adopt_children(p, pid, *tid);
	vec_free(&tids);
}

static void adopt(struct perf_sampler *p, const struct newborn *n)
{
	struct thread *t = perf_thread(p, n->tid);
	if (!t || !t->reported || t->pid != n->pid || t->own_events)
		return;
	if (has_ended(n))
		perf_report_end(p, t);
	else if (n->pid == n->tid)
		adopt_process(p, n->pid);
	else
		open_own(p, t);
}

void perf_adopt_newborns(struct perf_sampler *p, uint64_t now)
{
	uint32_t grown = 0;
	while (grown < p->newborns.len && p->newborns.data[grown].born + ADOPTED_NS <= now)
		adopt(p, &p->newborns.data[grown++]);
	if (!grown)
		return;
	p->newborns.len -= grown;
	memmove(p->newborns.data, p->newborns.data + grown,
		p->newborns.len * sizeof(*p->newborns.data));
}
