/* Sampling by stopping threads with ptrace, where perf is not permitted.
 *
 * At every tick, each running thread is asked to stop. A thread that waits is left alone, because a
 * stop would end its wait. Stops are handled when they arrive: a thread that has gone into
 * uninterruptible sleep since (a parent in vfork) stops much later, and the sampler does not wait
 * for it. A stopped thread is sampled and resumed at once. The weight of a sample is the CPU time
 * that the thread has used since its last sample. So the sum is right, however many ticks found the
 * thread waiting.
 *
 * Attaching, stopping and resuming threads, and handling what else happens to them, is left to
 * process/control.h. This file decides which thread to stop and when, and reports to the sink. */
#include "sample/sampler.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/log.h"
#include "process/control.h"
#include "sample/stop_threads.h"

enum {
	SECOND = 1000000000,
	HOLD_NS = 10000000,       /* how long hold() waits for the stop */
	FINISH_NS = SECOND,       /* how long finish() waits for uninterruptible threads */
	FINISH_STEP_NS = 5000000, /* between its attempts to stop these */
	/* ticks that a thread may wait before it is looked at more rarely */
	RESTS_BEFORE_PAUSE = 16,
	LONGEST_PAUSE = 16, /* in ticks */
	FEW_THREADS = 16,   /* up to this number, all threads are looked at in every tick */
};

struct ended_process {
	int pid, status;
};

struct stop_sampler {
	struct sampler base;
	struct sampler_options options;
	struct control *control;
	struct stop_threads threads;
	VEC(struct ended_process) ended;
	uint64_t period, next_tick; /* ns */
	uint64_t tick;
	uint8_t *stack;              /* of a waiting thread: options.max_stack bytes */
	struct stop_thread *stopped; /* the thread that is being sampled, or NULL */
	struct registers stopped_at; /* its registers */
	bool finishing;              /* finish() runs: threads that stop are detached */
};

static struct stop_sampler *stop_sampler(struct sampler *s)
{
	return (struct stop_sampler *)s;
}

/* Reports of the start, the name and the end of threads. */

static void report_name(struct stop_sampler *s, struct stop_thread *t)
{
	char name[16];
	thread_name(t->pid, t->tid, name);
	if (!name[0] || !strcmp(name, t->name))
		return;
	memcpy(t->name, name, sizeof(name));
	s->options.sink.name(s->options.sink.ctx, t->pid, t->tid, name);
}

static struct stop_thread *add_thread(struct stop_sampler *s, int pid, int tid)
{
	struct stop_thread *t = stop_threads_add(&s->threads, pid, tid);
	if (s->options.wall)
		waiting_init(&t->waiting, pid, tid, now_ns());
	s->options.sink.thread(s->options.sink.ctx, pid, tid);
	report_name(s, t);
	debug(LOG_SAMPLE, 2, "thread %d of process %d: %s", tid, pid, t->name);
	return t;
}

static struct stop_thread *find_or_add_thread(struct stop_sampler *s, int pid, int tid)
{
	struct stop_thread *t = stop_threads_find(&s->threads, tid);
	return t ? t : add_thread(s, pid, tid);
}

static void remove_thread(struct stop_sampler *s, struct stop_thread *t)
{
	s->options.sink.exit(s->options.sink.ctx, t->pid, t->tid);
	stop_threads_remove(&s->threads, t);
}

/* A thread that executes a program becomes the first thread of its process. If it was another
 * thread before, its old tid vanishes without an event: this removes it, and returns true. The ends
 * of all other threads have events. */
static bool remove_vanished(struct stop_sampler *s, int pid)
{
	uint32_t before = s->threads.list.len;
	for (uint32_t i = before; i-- > 0;) {
		struct stop_thread *t = s->threads.list.data[i];
		if (t->pid == pid && t->tid != pid && !control_thread(s->control, t->tid))
			remove_thread(s, t);
	}
	return s->threads.list.len < before;
}

static void thread_executed(struct stop_sampler *s, int pid)
{
	bool another = remove_vanished(s, pid);
	struct stop_thread *t = find_or_add_thread(s, pid, pid);
	t->starting = false;
	if (another) /* the CPU time of this tid is now that of the other thread */
		t->run_time = stop_thread_run_time(&s->threads, t);
	s->options.sink.exec(s->options.sink.ctx, pid);
	report_name(s, t);
}

static void thread_ended(struct stop_sampler *s, int tid)
{
	struct stop_thread *t = stop_threads_find(&s->threads, tid);
	if (t)
		remove_thread(s, t);
}

/* Sampling of a thread that has stopped because we asked. */

static uint64_t take_weight(struct stop_sampler *s, struct stop_thread *t)
{
	uint64_t run_time = stop_thread_run_time(&s->threads, t), before = t->run_time;
	if (!run_time) /* this kernel does not count it: we only know that the thread was running */
		return s->period;
	t->run_time = run_time;
	return run_time > before ? run_time - before : 0;
}

static void deliver(struct stop_sampler *s, struct sample *sample)
{
	for (sample->event = 0; sample->event < s->options.event_count; sample->event++)
		s->options.sink.sample(s->options.sink.ctx, sample);
}

/* A thread may get its name after its start, and may change it. So the name is read again at its
 * 1st, 2nd, 4th, 8th, ... sample. */
static void sample_stopped(struct stop_sampler *s, struct stop_thread *t, bool in_call)
{
	struct sample sample = {
		.time = now_ns(),
		.pid = t->pid,
		.tid = t->tid,
		.weight = take_weight(s, t),
		.in_kernel = in_call,
		.stopped = true,
		.registers = s->stopped_at,
	};
	t->rests = 0;
	if (!sample.weight)
		return;
	if ((t->samples & (t->samples + 1)) == 0)
		report_name(s, t);
	t->samples++;
	deliver(s, &sample);
}

/* Reads the registers of a stopped thread. Returns false if it has been killed since. Also returns
 * false if SIGSTOP or a similar signal has stopped it: control_registers() sets the pc back to the
 * system call that our stop has interrupted, but these signals would have interrupted the call
 * without us as well. */
static bool read_stop(struct stop_sampler *s, int tid, struct registers *out, bool *in_call)
{
	struct control_thread *t = control_thread(s->control, tid);
	if (!t || t->stop.what != TRACEE_TRAPPED || !control_registers(t, out))
		return false;
	*in_call = t->in_call;
	return true;
}

static void use_stop(struct stop_sampler *s, int tid)
{
	struct stop_thread *t = stop_threads_find(&s->threads, tid);
	bool in_call;
	if (!t || t->starting || !read_stop(s, tid, &s->stopped_at, &in_call))
		return;
	s->stopped = t;
	sample_stopped(s, t, in_call);
	s->stopped = NULL;
}

/* Events of the traced threads. */

static void let_go(struct stop_sampler *s, int tid)
{
	struct stop_thread *t = stop_threads_find(&s->threads, tid);
	if (!s->finishing)
		control_go(s->control, tid);
	else if (control_leave(s->control, tid) && t)
		stop_threads_remove(&s->threads, t);
}

static void process_forked(struct stop_sampler *s, const struct control_event *ev)
{
	s->options.sink.fork(s->options.sink.ctx, ev->parent, ev->pid);
	find_or_add_thread(s, ev->pid, ev->tid);
	let_go(s, ev->tid);
}

/* A child is reported when it first stops, which may be after its parent has executed another
 * program or ended. The sink needs to know of the child first: it copies what it knows of the
 * parent. */
static void report_children(struct stop_sampler *s, int pid)
{
	struct control_event forked;
	while (control_next_forked(s->control, pid, &forked))
		process_forked(s, &forked);
}

static void handle(struct stop_sampler *s, const struct control_event *ev)
{
	switch (ev->what) {
	case CONTROL_FORKED: process_forked(s, ev); break;
	case CONTROL_BORN:
		find_or_add_thread(s, ev->pid, ev->tid);
		let_go(s, ev->tid);
		break;
	case CONTROL_EXECUTED:
		report_children(s, ev->pid);
		thread_executed(s, ev->pid);
		let_go(s, ev->tid);
		break;
	case CONTROL_INTERRUPTED:
		use_stop(s, ev->tid);
		let_go(s, ev->tid);
		break;
	case CONTROL_SIGNALLED_US: /* from a runtime that another Sonde has left behind */
		let_go(s, ev->tid);
		break;
	case CONTROL_ENDED:
		if (ev->tid == ev->pid) /* the kernel reports the first thread last */
			report_children(s, ev->pid);
		thread_ended(s, ev->tid);
		break;
	case CONTROL_GONE:
		if (ev->status >= 0)
			vec_push(&s->ended, (struct ended_process){ev->pid, ev->status});
		break;
	}
}

/* Waits for an event, at most until `then`, and handles all events that there are. Returns false if
 * a signal to us ended the wait. */
static bool handle_until(struct stop_sampler *s, uint64_t then)
{
	struct control_event ev;
	bool undisturbed = control_sleep(s->control, then);
	while (control_next(s->control, &ev))
		handle(s, &ev);
	return undisturbed;
}

/* Ticks. */

/* If there are many threads, one that waits long is looked at more rarely. */
static void note_waiting(struct stop_sampler *s, struct stop_thread *t)
{
	t->rests++;
	if (s->threads.list.len <= FEW_THREADS || t->rests < RESTS_BEFORE_PAUSE)
		return;
	unsigned pause = t->rests / RESTS_BEFORE_PAUSE;
	t->next = s->tick + (pause < LONGEST_PAUSE ? pause : LONGEST_PAUSE);
}

static void sample_waiting(struct stop_sampler *s, struct stop_thread *t)
{
	struct sample sample = {0};
	if (waiting_look(&t->waiting, now_ns(), s->threads.list.len, s->stack, s->options.max_stack,
			 &sample))
		deliver(s, &sample);
}

/* Whether the thread was asked to stop, and has not stopped yet. */
static bool is_stop_pending(const struct stop_sampler *s, const struct stop_thread *t)
{
	const struct control_thread *c = control_thread(s->control, t->tid);
	return c && c->asked;
}

static void tick(struct stop_sampler *s)
{
	s->tick++;
	for (uint32_t i = 0; i < s->threads.list.len; i++) {
		struct stop_thread *t = s->threads.list.data[i];
		if (t->starting || s->tick < t->next || is_stop_pending(s, t))
			continue;
		if (stop_thread_runs(&s->threads, t)) {
			control_interrupt(s->control, t->tid);
			continue;
		}
		if (s->options.wall)
			sample_waiting(s, t);
		note_waiting(s, t);
	}
}

/* Missed ticks are not made up for: the weight of the next sample includes their time. */
static void tick_if_due(struct stop_sampler *s, uint64_t now)
{
	if (now < s->next_tick)
		return;
	tick(s);
	s->next_tick += s->period;
	now = now_ns();
	if (s->next_tick <= now)
		s->next_tick = now + s->period;
}

static int run(struct sampler *sampler, int timeout_ms, struct err *e)
{
	struct stop_sampler *s = stop_sampler(sampler);
	uint64_t now = now_ns(), end = now + (uint64_t)timeout_ms * 1000000;
	(void)e;
	control_block_signals(s->control);
	handle_until(s, 0);
	for (bool undisturbed = true; undisturbed && now < end && s->threads.list.len;
	     now = now_ns()) {
		tick_if_due(s, now);
		undisturbed = handle_until(s, s->next_tick < end ? s->next_tick : end);
	}
	control_unblock_signals(s->control);
	return 0;
}

/* Beginning. */

/* Adds the threads of a process that are attached by now. */
static void add_threads(struct stop_sampler *s, int pid)
{
	uint32_t count = control_threads(s->control, pid, NULL, 0);
	struct control_thread **all = xmalloc(count * sizeof(struct control_thread *));
	control_threads(s->control, pid, all, count);
	for (uint32_t i = 0; i < count; i++) {
		int tid = all[i]->tracee.tid;
		if (stop_threads_find(&s->threads, tid))
			continue;
		struct stop_thread *t = add_thread(s, pid, tid);
		t->run_time = stop_thread_run_time(&s->threads, t);
	}
	free(all);
}

static int watch(struct sampler *sampler, int tid, bool whole, bool starting, struct err *e)
{
	struct stop_sampler *s = stop_sampler(sampler);
	int pid = thread_process(tid);
	if (pid < 0)
		return err_set(e, ERR_SYSTEM, "there is no process %d", tid);
	int rc = starting ? 0 : process_check_attach(pid, e);
	if (!rc)
		rc = control_seize(s->control, tid, whole, e);
	if (rc)
		return rc;
	add_threads(s, pid);
	struct stop_thread *t = stop_threads_find(&s->threads, tid);
	if (t)
		t->starting = starting;
	return 0;
}

static bool hold(struct sampler *sampler, int pid, int tid,
		 void (*inside)(void *ctx, const struct registers *regs), void *ctx)
{
	struct stop_sampler *s = stop_sampler(sampler);
	struct stop_thread *t = stop_threads_find(&s->threads, tid);
	struct registers regs;
	bool in_call;
	if (!t || t->pid != pid || t->starting)
		return false;
	if (s->stopped == t) {
		inside(ctx, &s->stopped_at);
		return true;
	}
	/* Waiting for this stop would prolong that of another thread. And a stop would end the wait
	 * of a thread that waits. */
	if (s->stopped || !stop_thread_runs(&s->threads, t))
		return false;
	control_interrupt(s->control, tid);
	if (!control_await_stop(s->control, tid, HOLD_NS))
		return false;
	bool seen = read_stop(s, tid, &regs, &in_call);
	if (seen)
		inside(ctx, &regs);
	control_go(s->control, tid);
	return seen;
}

/* End. */

/* A thread in uninterruptible sleep would stop only after we are gone, and nobody would resume it.
 * So it is asked to stop after it has woken up. */
static void interrupt_interruptible(struct stop_sampler *s)
{
	vec_each (at, &s->threads.list) {
		const struct stop_thread *t = *at;
		char state = is_stop_pending(s, t) ? 0 : thread_state(t->tid);
		if (state && state != 'D' && state != 'Z' && state != 'X')
			control_interrupt(s->control, t->tid);
	}
}

/* Each thread is sampled once more before it is detached, for the time since its last sample. */
static void finish(struct sampler *sampler)
{
	struct stop_sampler *s = stop_sampler(sampler);
	uint64_t end = now_ns() + FINISH_NS;
	s->finishing = true;
	handle_until(s, 0);
	while (control_count(s->control) && now_ns() < end) {
		interrupt_interruptible(s);
		handle_until(s, now_ns() + FINISH_STEP_NS);
	}
	control_leave_all(s->control, end);
	handle_until(s, 0);
	debug(LOG_SAMPLE, 1, "detached, %u threads left to the kernel", control_count(s->control));
}

/* The kernel reports the end of a process to its tracer first, and only once. So ends are kept
 * here. */
static bool ended(struct sampler *sampler, int pid, int *status)
{
	struct stop_sampler *s = stop_sampler(sampler);
	vec_each (p, &s->ended) {
		if (p->pid != pid)
			continue;
		*status = p->status;
		return true;
	}
	return !control_thread(s->control, pid) && waitpid(pid, status, WNOHANG) == pid;
}

static void stop_sampler_free(struct sampler *sampler)
{
	struct stop_sampler *s = stop_sampler(sampler);
	control_free(s->control);
	stop_threads_release(&s->threads);
	vec_free(&s->ended);
	free(s->stack);
	free(s);
}

static const struct sampler_ops ops = {
	.name = "ptrace",
	.watch = watch,
	.run = run,
	.hold = hold,
	.finish = finish,
	.ended = ended,
	.free = stop_sampler_free,
};

static int check_events(const struct sampler_options *o, struct err *e)
{
	for (unsigned i = 0; i < o->event_count; i++)
		if (!o->events[i].clock)
			return err_set(
				e, ERR_UNSUPPORTED,
				"\"%s\" cannot be counted by stopping threads, which measures "
				"time only; permit perf events, or use -e cpu-clock",
				o->events[i].name);
	return 0;
}

int stop_sampler_new(struct sampler **out, const struct sampler_options *o, struct err *e)
{
	int rc = check_events(o, e);
	if (rc)
		return rc;
	struct stop_sampler *s = xcalloc(1, sizeof(*s));
	s->base.ops = &ops;
	s->options = *o;
	s->period = o->period ? o->period : SECOND / (o->hz ? o->hz : 1);
	s->next_tick = now_ns() + s->period;
	s->control = control_new();
	s->stack = o->wall ? xmalloc(o->max_stack + 1) : NULL;
	*out = &s->base;
	return 0;
}
