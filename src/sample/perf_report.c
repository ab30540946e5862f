/* Turns records into calls of the sink. */
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sample/perf_sampler.h"

/* Threads that ended without a sample, per second, that are many. */
enum { SHORT_LIVED_PER_SECOND = 50 };

struct thread *perf_thread(struct perf_sampler *p, int tid)
{
	uint32_t i = hashmap_get(&p->by_tid, (uint64_t)tid);
	return i == HASHMAP_NONE ? NULL : &p->threads.data[i];
}

static void wall_add(struct perf_sampler *p, struct thread *t, uint64_t born)
{
	struct waiting w;
	if (!p->o.wall)
		return;
	if (born)
		waiting_init_newborn(&w, t->pid, t->tid, born);
	else
		waiting_init(&w, t->pid, t->tid, now_ns());
	t->waiting = p->waiting.len;
	vec_push(&p->waiting, w);
}

/* The last one takes the place of the one that is removed. */
static void wall_remove(struct perf_sampler *p, const struct thread *t)
{
	if (!p->o.wall)
		return;
	struct waiting *w = &p->waiting.data[t->waiting], last = vec_pop(&p->waiting);
	perf_thread(p, last.tid)->waiting = t->waiting;
	struct waiting removed = *w;
	*w = last;
	waiting_release(&removed);
}

static uint32_t live_threads(const struct perf_sampler *p, int pid)
{
	uint32_t live = hashmap_get(&p->live, (uint64_t)pid);
	return live == HASHMAP_NONE ? 0 : live;
}

bool perf_is_watched(const struct perf_sampler *p, int pid)
{
	return live_threads(p, pid) > 0;
}

void perf_report_start(struct perf_sampler *p, int pid, int tid, uint64_t born)
{
	struct thread *t = perf_thread(p, tid);
	if (t && t->reported)
		return;
	if (!t) {
		hashmap_put(&p->by_tid, (uint64_t)tid, p->threads.len);
		vec_push(&p->threads, (struct thread){0});
		t = &vec_last(&p->threads);
	}
	*t = (struct thread){.pid = pid, .tid = tid, .reported = true};
	hashmap_put(&p->live, (uint64_t)pid, live_threads(p, pid) + 1);
	p->o.sink.thread(p->o.sink.ctx, pid, tid);
	wall_add(p, t, born);
}

/* Counts threads that ended without a sample: see perf_wide.c. */
static void count_short_lived(struct perf_sampler *p)
{
	if (p->wide || p->narrow)
		return;
	if (p->base.delivered - p->short_lived_since > NS_PER_SECOND) {
		p->short_lived_since = p->base.delivered;
		p->short_lived = 0;
	}
	if (++p->short_lived == SHORT_LIVED_PER_SECOND)
		p->crowded = true;
}

void perf_report_end(struct perf_sampler *p, struct thread *t)
{
	if (!t || !t->reported)
		return;
	if (!t->sampled)
		count_short_lived(p);
	t->reported = t->own_events = false;
	hashmap_put(&p->live, (uint64_t)t->pid, live_threads(p, t->pid) - 1);
	wall_remove(p, t);
	p->o.sink.exit(p->o.sink.ctx, t->pid, t->tid);
}

void perf_report_ends(struct perf_sampler *p, int pid)
{
	vec_each (t, &p->threads)
		if (t->pid == pid)
			perf_report_end(p, t);
}

/* While the events of CPUs replace those of threads, both are enabled for a moment. */
static bool is_counted_twice(const struct perf_sampler *p, const struct record *r,
			     const struct event_source *src)
{
	return p->wide && (src->tid != 0) == (r->time > p->widened);
}

/* Many threads that run at the same time have more samples than there is time to look at: on a
 * machine whose CPUs all work, that would be theirs. Which ones are left out is chance, because
 * samples of CPUs come in turns. */
static bool is_left_out(struct perf_sampler *p)
{
	enum { PER_SECOND = 20 };
	if (!p->o.most_per_second)
		return false;
	if (p->base.delivered - p->thinned_since > NS_PER_SECOND / PER_SECOND) {
		unsigned rate = p->thinned * PER_SECOND;
		p->one_of = (rate + p->o.most_per_second - 1) / p->o.most_per_second;
		p->thinned_since = p->base.delivered;
		p->thinned = 0;
	}
	p->thinned++;
	p->chance = p->chance * 6364136223846793005u + 1442695040888963407u;
	bool left_out = p->one_of > 1 && (p->chance >> 33) % p->one_of;
	p->base.left_out += left_out;
	return left_out;
}

static void deliver_sample(struct perf_sampler *p, const struct record *r,
			   const struct event_source *src)
{
	unsigned mode = r->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct sample s = {
		.time = p->base.delivered,
		.pid = r->pid,
		.tid = r->tid,
		.event = src->event,
		.in_kernel = mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_HYPERVISOR,
		.stack = r->stack_size ? r->stack : NULL,
		.stack_size = r->stack_size,
		.returns = r->returns,
		.return_count = r->return_count,
	};
	if (is_counted_twice(p, r, src))
		return;
	if (src->tid)
		perf_report_start(p, r->pid, r->tid, 0); /* usually reported before */
	struct thread *t = perf_thread(p, r->tid);
	if (!t || !t->reported || t->pid != r->pid)
		return;
	t->sampled = true;
	if (is_left_out(p))
		return;
	s.weight = r->period * (p->one_of > 1 ? p->one_of : 1);
	if (r->registers)
		registers_from_perf(arch_native(), r->registers, &s.registers);
	p->o.sink.sample(p->o.sink.ctx, &s);
}

static void deliver_map(struct perf_sampler *p, const struct record *r)
{
	struct mapping_event m = {
		.pid = r->pid,
		.start = r->start,
		.end = r->start + r->length,
		.offset = r->offset,
		.inode = r->inode,
		.device_major = r->device_major,
		.device_minor = r->device_minor,
		.path = strcmp(r->text, "//anon") != 0 ? r->text : "",
	};
	p->o.sink.map(p->o.sink.ctx, &m);
}

/* After exec(), the calling thread is the only one, and its tid is the pid. If it was not the first
 * thread before, the first thread has ended by now, and the old tid of the calling thread has
 * vanished without a record: so the ends of all threads that are left are reported here. */
static void deliver_exec(struct perf_sampler *p, int pid)
{
	const struct thread *first = perf_thread(p, pid);
	if (!first || !first->reported)
		perf_report_ends(p, pid);
	p->o.sink.exec(p->o.sink.ctx, pid);
	perf_report_start(p, pid, pid, 0);
	wall_remove(p, perf_thread(p, pid));
	wall_add(p, perf_thread(p, pid), 0);
}

static void deliver_name(struct perf_sampler *p, const struct record *r)
{
	if (r->misc & PERF_RECORD_MISC_COMM_EXEC)
		deliver_exec(p, r->pid);
	p->o.sink.name(p->o.sink.ctx, r->pid, r->tid, r->text);
}

/* A process may have inherited only some of the events of its parent: then there may be no record
 * of its end. This is possible in two cases.
 * 1. The process was started before all events were open.
 * 2. It is the first process that a thread with events of its own has started, as seen in the
 *    records: the start may have begun before the events were open. */
static bool may_lack_events(struct perf_sampler *p, const struct record *r)
{
	struct thread *parent = perf_thread(p, r->by);
	if (r->time < p->opened)
		return true;
	if (!parent || !parent->own_events || parent->has_forked)
		return false;
	parent->has_forked = true;
	return true;
}

static void deliver_start(struct perf_sampler *p, const struct record *r,
			  const struct event_source *src)
{
	const struct thread *known = perf_thread(p, r->tid);
	if (!src->whole || (known && known->reported && known->pid == r->pid))
		return;
	if (r->pid != r->parent_pid) {
		p->o.sink.fork(p->o.sink.ctx, r->parent_pid, r->pid);
		if (may_lack_events(p, r))
			perf_await_end(p, r->pid);
	}
	perf_report_start(p, r->pid, r->tid, r->time);
	if (p->solitary)
		vec_push(&p->newborns, (struct newborn){r->pid, r->tid, r->time});
}

/* The kernel switches off an event that takes too much time. For a clock, we know how many samples
 * are missing when it is switched on again. */
static void deliver_throttle(struct perf_sampler *p, const struct record *r,
			     struct event_source *src)
{
	uint64_t period = p->o.period ? p->o.period : NS_PER_SECOND / (p->o.hz ? p->o.hz : 1);
	if (r->type == PERF_RECORD_THROTTLE) {
		src->throttled = r->time;
	} else if (src->throttled && r->time > src->throttled) {
		uint64_t lost = (r->time - src->throttled) / period;
		if (lost && p->o.events[src->event].clock)
			p->o.sink.lost(p->o.sink.ctx, lost);
		src->throttled = 0;
	}
}

static bool has_own_events(struct perf_sampler *p, int tid)
{
	const struct thread *t = perf_thread(p, tid);
	return t && t->own_events;
}

/* Whether the record is from an event that the thread has inherited, although it has events of its
 * own: see perf_watch.c. */
static bool from_other(struct perf_sampler *p, const struct record *r,
		       const struct event_source *src)
{
	return src->tid && src->tid != r->by && has_own_events(p, r->by);
}

/* Whether the record is of a program that is not watched: the events of CPUs see them all. */
static bool from_stranger(const struct perf_sampler *p, const struct record *r,
			  const struct event_source *src)
{
	return !src->tid &&
	       !perf_is_watched(p, r->type == PERF_RECORD_FORK ? r->parent_pid : r->pid);
}

void perf_deliver(void *ctx, const struct record *r)
{
	struct perf_sampler *p = ctx;
	uint32_t index = hashmap_get(&p->by_id, r->id);
	struct event_source *src = index < p->sources.len ? &p->sources.data[index] : NULL;
	/* Within a ring an interrupted record may be a little older than the one before it. */
	if (r->time > p->base.delivered)
		p->base.delivered = r->time;
	if (r->type == PERF_RECORD_LOST || r->type == PERF_RECORD_LOST_SAMPLES)
		p->o.sink.lost(p->o.sink.ctx, r->lost);
	if (!src || from_other(p, r, src) || from_stranger(p, r, src))
		return;
	switch (r->type) {
	case PERF_RECORD_SAMPLE: deliver_sample(p, r, src); break;
	case PERF_RECORD_MMAP2: deliver_map(p, r); break;
	case PERF_RECORD_COMM: deliver_name(p, r); break;
	case PERF_RECORD_FORK: deliver_start(p, r, src); break;
	case PERF_RECORD_EXIT: perf_report_end(p, perf_thread(p, r->tid)); break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE: deliver_throttle(p, r, src); break;
	}
}

/* Looking at threads takes at most this share of a CPU: one in LOOKING. */
enum { LOOKING = 50 };

/* Threads that there is no time to look at have their turn at the next tick. Their waiting is
 * reported then, so sums stay right. */
void perf_report_waiting(struct perf_sampler *p, uint64_t now)
{
	uint64_t expirations, until = now_ns() + (now - p->looked) / LOOKING;
	struct sample s = {.event = p->wall_event};
	if (read(p->ticks, &expirations, sizeof(expirations)) < 0)
		return;
	p->base.delivered = p->looked = now;
	for (uint32_t i = 0; i < p->waiting.len; i++) {
		p->look_next = p->look_next + 1 < p->waiting.len ? p->look_next + 1 : 0;
		struct waiting *w = &p->waiting.data[p->look_next];
		if (!waiting_is_due(w, now))
			continue;
		if (waiting_look(w, now, p->waiting.len, p->stack, p->o.max_stack, &s))
			p->o.sink.sample(p->o.sink.ctx, &s);
		if (now_ns() > until)
			break;
	}
}
