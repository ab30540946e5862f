/* Sampling with perf events: the kernel writes the registers and the stack of the interrupted
 * thread into a ring, and we read it from outside. The program is never stopped. A ring cannot be
 * shared between CPUs, so there is one for each. */
#include "sample/perf_sampler.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"

/* A record, with its registers and all other fields, is less than 64 KiB. */
enum { STACK_LARGEST = 64504 };

static int set_up_wall(struct perf_sampler *p, struct err *e)
{
	uint64_t ns = NS_PER_SECOND / (p->o.hz ? p->o.hz : 100);
	struct timespec tick = {(time_t)(ns / NS_PER_SECOND), (long)(ns % NS_PER_SECOND)};
	struct itimerspec every = {tick, tick};
	while (p->wall_event < p->o.event_count && !p->o.events[p->wall_event].clock)
		p->wall_event++;
	if (p->wall_event == p->o.event_count)
		return err_set(
			e, ERR_INPUT,
			"waiting is measured in time; sample cpu-clock as well (-e cpu-clock,...)");
	p->ticks = fault("perf-timer", EMFILE)
			   ? -1
			   : timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (p->ticks < 0 || timerfd_settime(p->ticks, 0, &every, NULL) ||
	    !perf_wake_on(p, p->ticks, WOKEN_BY_TICK))
		return err_errno(e, "a timer cannot be set up");
	p->stack = xmalloc(p->o.max_stack);
	p->looked = now_ns();
	return 0;
}

static bool wake_on_rings(struct perf_sampler *p)
{
	if (p->rings.has_reader)
		return perf_wake_on(p, p->rings.news, WOKEN_BY_RING);
	for (unsigned i = 0; i < p->rings.count; i++)
		if (!perf_wake_on(p, p->rings.rings[i].fd, WOKEN_BY_RING))
			return false;
	return true;
}

static int set_up_wakeups(struct perf_sampler *p, struct err *e)
{
	p->wakeups = epoll_create1(EPOLL_CLOEXEC);
	if (p->wakeups < 0)
		return err_errno(e, "epoll_create1");
	if (!wake_on_rings(p))
		return err_errno(e, "perf rings cannot be waited for");
	return p->o.wall ? set_up_wall(p, e) : 0;
}

/* Called after the last record of the process has been delivered. The record of a thread's end may
 * be missing, if the thread ended just when events were opened on it: so the ends that are missing
 * are reported here. */
static void deliver_process_end(struct perf_sampler *p, int pidfd)
{
	for (uint32_t i = 0; i < p->ends.len; i++) {
		struct end *end = &p->ends.data[i];
		if (end->pidfd != pidfd)
			continue;
		perf_report_ends(p, end->pid);
		close(pidfd);
		*end = vec_pop(&p->ends);
		break;
	}
}

/* Lean samples take long to fill a ring. But the first one with too little of the stack should be
 * noticed before there are many. */
static int lean_limit(const struct perf_sampler *p)
{
	enum { UNSEEN_SAMPLES = 10, MIN_MS = 2, MAX_MS = 20 };
	int ms = p->o.hz ? (int)(UNSEEN_SAMPLES * 1000 / p->o.hz) : MIN_MS;
	return ms < MIN_MS ? MIN_MS : ms > MAX_MS ? MAX_MS : ms;
}

/* The records of starts and ends of threads are small, and take long to fill a ring. But they must
 * be seen soon, so that perf_wide.c can count short-lived threads; and a thread that has stopped
 * late must be detached at once. */
static int wait_limit(const struct perf_sampler *p, int timeout_ms)
{
	enum { LATE_HOLD_MS = 1, STARTS_MS = 50 };
	int limit = p->holds.late.len ? LATE_HOLD_MS
		    : p->lean         ? lean_limit(p)
		    : p->wide         ? timeout_ms
				      : STARTS_MS;
	return timeout_ms < limit ? timeout_ms : limit;
}

static int perf_run(struct sampler *s, int timeout_ms, struct err *e)
{
	struct perf_sampler *p = perf_sampler(s);
	struct epoll_event woken[16];
	int n = epoll_wait(p->wakeups, woken, ARRAY_SIZE(woken), wait_limit(p, timeout_ms));
	uint64_t now = now_ns();
	if (n < 0 && errno != EINTR)
		return err_errno(e, "waiting for samples failed");
	holds_let_go(&p->holds);
	perf_rings_drain(&p->rings, now, perf_deliver, p);
	for (int i = 0; i < n; i++) {
		if (woken[i].data.fd == WOKEN_BY_TICK)
			perf_report_waiting(p, now);
		else if (woken[i].data.fd != WOKEN_BY_RING)
			deliver_process_end(p, woken[i].data.fd);
	}
	perf_adopt_newborns(p, now);
	perf_count_switches(p, now);
	if (p->crowded)
		perf_handle_crowd(p);
	return 0;
}

static bool perf_hold(struct sampler *s, int pid, int tid, inside_fn inside, void *ctx)
{
	struct perf_sampler *p = perf_sampler(s);
	bool child = false;
	vec_each (started, &p->children)
		child |= *started == tid;
	return hold_thread(&p->holds, pid, tid, child, inside, ctx);
}

static void close_files(struct perf_sampler *p)
{
	vec_each (f, &p->files)
		close(f->fd);
	vec_clear(&p->files);
}

static void perf_finish(struct sampler *s)
{
	struct perf_sampler *p = perf_sampler(s);
	if (p->finished)
		return;
	p->finished = true;
	vec_each (f, &p->files)
		ioctl(f->fd, PERF_EVENT_IOC_DISABLE, 0);
	perf_rings_drain(&p->rings, UINT64_MAX, perf_deliver, p);
	close_files(p);
	holds_release(&p->holds);
}

static void perf_free(struct sampler *s)
{
	struct perf_sampler *p = perf_sampler(s);
	close_files(p);
	vec_each (end, &p->ends)
		close(end->pidfd);
	vec_each (w, &p->waiting)
		waiting_release(w);
	perf_rings_close(&p->rings);
	if (p->ticks >= 0)
		close(p->ticks);
	if (p->wakeups >= 0)
		close(p->wakeups);
	holds_release(&p->holds); /* if finish() was never called */
	vec_free(&p->files);
	vec_free(&p->ends);
	vec_free(&p->children);
	vec_free(&p->sources);
	vec_free(&p->threads);
	vec_free(&p->waiting);
	vec_free(&p->newborns);
	hashmap_release(&p->by_id);
	hashmap_release(&p->by_tid);
	hashmap_release(&p->live);
	free(p->stack);
	free(p);
}

static const struct sampler_ops perf_ops = {
	.name = "perf",
	.watch = perf_watch,
	.run = perf_run,
	.lean = perf_lean,
	.hold = perf_hold,
	.finish = perf_finish,
	.free = perf_free,
};

int perf_sampler_new(struct sampler **out, const struct sampler_options *o, struct err *e)
{
	struct perf_sampler *p = xcalloc(1, sizeof(*p));
	p->base.ops = &perf_ops;
	p->o = *o;
	p->o.max_stack = (o->max_stack < STACK_LARGEST ? o->max_stack : STACK_LARGEST) & ~(size_t)7;
	p->wakeups = p->ticks = -1;
	int rc = perf_rings_open(&p->rings, e);
	if (!rc)
		rc = perf_check_events(p, e);
	if (!rc)
		rc = set_up_wakeups(p, e);
	if (rc) {
		perf_free(&p->base);
		return rc;
	}
	*out = &p->base;
	return 0;
}
