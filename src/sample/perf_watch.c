/* Events are opened for each thread, each CPU and each event to sample, twice: see struct
 * perf_file. Once events are open on CPUs (perf_wide.c), threads need none. New threads and
 * children inherit the events of the thread that starts them, with the same identifiers.
 *
 * A process may start threads while we attach to it, and a new thread may have inherited the events
 * of some CPUs only. So each thread that is found in /proc gets events of its own, and the records
 * from its inherited events are dropped: the identifier shows which these are (perf_report.c). */
#include <errno.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/log.h"
#include "process/maps.h"
#include "process/threads.h"
#include "sample/perf_sampler.h"

/* There is a file for each thread, CPU and event. A program that we start has been forked before
 * this, so it keeps its own limit. */
static void raise_file_limit(void)
{
	struct rlimit r;
	if (!getrlimit(RLIMIT_NOFILE, &r) && r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}

/* Opens one event on one thread, on all CPUs. Returns 1 if the thread has ended. */
static int open_event(struct perf_sampler *p, struct perf_event_attr *a, bool lean,
		      const struct event_source *source, struct err *e)
{
	for (unsigned i = 0; i < p->rings.count; i++) {
		const struct cpu_ring *c = &p->rings.rings[i];
		int fd = perf_open(a, source->tid, c->cpu);
		if (fd < 0 && errno == ESRCH)
			return 1;
		if (fd < 0)
			return perf_explain(&p->o.events[source->event], e);
		if (perf_add_file(p, fd, lean, c, source, e))
			return e->code;
	}
	return 0;
}

int perf_open_thread(struct perf_sampler *p, int tid, bool whole, bool starting, struct err *e)
{
	struct perf_event_attr a;
	struct event_source source = {.tid = tid, .whole = whole};
	unsigned kinds = perf_kinds(p);
	int rc = 0;
	for (unsigned i = 0; i < kinds * p->o.event_count && !rc && !p->wide; i++) {
		bool lean = i % kinds;
		source.event = i / kinds;
		perf_fill_event(p, source.event, lean, &a);
		a.inherit = whole && !p->solitary;
		if (starting && !a.disabled)
			a.disabled = a.enable_on_exec = 1;
		rc = open_event(p, &a, lean, &source, e);
	}
	return rc;
}

/* Reports a thread on which watch() has opened events. */
static void report_opened(struct perf_sampler *p, int pid, int tid, bool starting)
{
	char name[16];
	perf_report_start(p, pid, tid, 0);
	perf_thread(p, tid)->own_events = true;
	/* A starting program has no name yet: it is still a copy of ourselves. */
	if (starting)
		return;
	thread_name(pid, tid, name);
	p->o.sink.name(p->o.sink.ctx, pid, tid, name);
}

/* Opens events on the threads that have none of their own yet; *found says how many. */
static int open_new_threads(struct perf_sampler *p, int pid, unsigned *found, struct err *e)
{
	tid_list tids = {0};
	int rc = threads_list(pid, &tids, e);
	*found = 0;
	for (uint32_t i = 0; !rc && i < tids.len; i++) {
		int tid = tids.data[i];
		const struct thread *known = perf_thread(p, tid);
		if (known && known->own_events)
			continue;
		rc = perf_open_thread(p, tid, true, false, e);
		*found += rc == 0;
		if (!rc)
			report_opened(p, pid, tid, false);
		rc = rc > 0 ? 0 : rc;
	}
	vec_free(&tids);
	return rc;
}

/* Lists the threads until nothing new is found twice in a row: a listing may miss a thread while
 * others end. */
static int open_all_threads(struct perf_sampler *p, int pid, struct err *e)
{
	unsigned found, quiet = 0, all = 0;
	while (quiet < 2) {
		int rc = open_new_threads(p, pid, &found, e);
		if (rc)
			return rc;
		all += found;
		quiet = found ? 0 : quiet + 1;
	}
	if (!all)
		return err_set(e, ERR_ENDED, "process %d has ended", pid);
	return 0;
}

static int open_one_thread(struct perf_sampler *p, int pid, int tid, bool whole, bool starting,
			   struct err *e)
{
	int rc = perf_open_thread(p, tid, whole, starting, e);
	if (rc > 0)
		return err_set(e, ERR_ENDED, "thread %d has ended", tid);
	if (!rc)
		report_opened(p, pid, tid, starting);
	return rc;
}

static void report_module(struct perf_sampler *p, int pid, const struct mapped_module *module)
{
	for (uint32_t i = 0; i < module->code_count; i++) {
		struct mapping_event m = {
			.pid = pid,
			.start = module->code[i].start,
			.end = module->code[i].end,
			.offset = module->code[i].offset,
			.inode = module->inode,
			.device_major = module->device_major,
			.device_minor = module->device_minor,
			.path = module->path,
		};
		p->o.sink.map(p->o.sink.ctx, &m);
	}
}

/* Called when the events are open: they record what is mapped from then on, so no mapping is
 * missed. */
static int report_maps(struct perf_sampler *p, int pid, struct err *e)
{
	struct maps m;
	int rc = maps_read(&m, pid, e);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < m.module_count; i++)
		report_module(p, pid, &m.modules[i]);
	maps_release(&m);
	return 0;
}

/* It may have executed a program meanwhile: its maps are read anew. */
void perf_watch_child(struct perf_sampler *p, int pid)
{
	struct err ignored;
	perf_await_end(p, pid);
	p->o.sink.exec(p->o.sink.ctx, pid);
	if (!open_all_threads(p, pid, &ignored))
		report_maps(p, pid, &ignored);
}

int perf_watch(struct sampler *s, int tid, bool whole, bool starting, struct err *e)
{
	struct perf_sampler *p = perf_sampler(s);
	int pid = thread_process(tid), rc;
	if (pid < 0)
		return err_set(e, ERR_SYSTEM, "there is no process %d", tid);
	rc = p->o.wall ? process_check_attach(pid, e) : process_check_access(pid, e);
	if (rc)
		return rc;
	raise_file_limit();
	perf_await_end(p, pid);
	p->narrow |= !whole;
	if (starting)
		vec_push(&p->children, pid);
	if (starting || !whole)
		rc = open_one_thread(p, pid, tid, whole, starting, e);
	else
		rc = open_all_threads(p, pid, e);
	p->opened = now_ns();
	return rc || starting ? rc : report_maps(p, pid, e);
}
