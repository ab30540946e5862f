/* Sampling by stopping threads with ptrace, for where perf is not permitted.
 *
 * At every tick each thread that runs is asked to stop; one that waits is left alone, because a
 * stop would end its wait. Stops come in whenever they come: a thread that has meanwhile gone to
 * sleep in a way that nothing interrupts (a parent in vfork) answers much later, and nobody waits
 * for it. A stopped thread is sampled and goes on at once. A sample weighs the processor time that
 * the thread has used since its last one, so that the sum is right however many ticks found it
 * waiting.
 *
 * The kernel sends SIGCHLD for everything that happens to a traced thread; it is kept blocked, and
 * waiting for it is how time passes between ticks. All other signals reach us in that wait alone,
 * so that none comes unnoticed just before it. */
#include "sample/sampler.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "process/launch.h"
#include "process/threads.h"
#include "sample/stop_threads.h"

enum {
	SECOND = 1000000000,
	HOLD_NS = 10000000,       /* how long hold() waits for the stop */
	FINISH_NS = SECOND,       /* how long finish() waits for threads that nothing interrupts */
	FINISH_STEP_NS = 5000000, /* between its attempts at those */
	RESTS_BEFORE_PAUSE =
		16,         /* ticks that a thread may wait before it is looked at more rarely */
	LONGEST_PAUSE = 16, /* in ticks */
	FEW_THREADS = 16,   /* are all looked at in every tick */
};

struct ended_process {
	int pid, status;
};

struct stop_sampler {
	struct sampler base;
	struct sampler_options options;
	struct stop_threads threads;
	VEC(struct ended_process) ended;
	uint64_t period, next_tick; /* ns */
	uint64_t tick;
	uint8_t *stack;              /* of a waiting thread: options.max_stack bytes */
	struct stop_thread *stopped; /* the thread that is being sampled, or NULL */
	struct registers stopped_at; /* its registers */
	struct {
		int tid; /* 0 if there is no hold() under way */
		bool done;
		void (*inside)(void *ctx, const struct registers *regs);
		void *ctx;
	} hold;
	bool finishing;
	int child_fd; /* tells of SIGCHLD */
	sigset_t mask_before, mask_waiting;
	struct sigaction child_before;
};

static struct stop_sampler *of(struct sampler *s)
{
	return (struct stop_sampler *)s;
}

/* What the sink is told of a thread's coming, name and going. */

static void tell_name(struct stop_sampler *s, struct stop_thread *t)
{
	char name[16];
	thread_name(t->pid, t->tracee.tid, name);
	if (!name[0] || !strcmp(name, t->name))
		return;
	memcpy(t->name, name, sizeof(name));
	s->options.sink.name(s->options.sink.ctx, t->pid, t->tracee.tid, name);
}

static struct stop_thread *add_thread(struct stop_sampler *s, int pid, int tid)
{
	struct stop_thread *t = stop_threads_add(&s->threads, pid, tid);
	if (s->options.wall)
		waiting_init(&t->waiting, pid, tid, now_ns());
	s->options.sink.thread(s->options.sink.ctx, pid, tid);
	tell_name(s, t);
	debug(LOG_SAMPLE, 2, "thread %d of process %d: %s", tid, pid, t->name);
	return t;
}

/* A thread that came by itself, from a thread of ours. Its first stop may be told before the event
 * of the one that made it: both lead here, and the second finds it known. */
static struct stop_thread *meet_thread(struct stop_sampler *s, int tid)
{
	struct stop_thread *t = stop_threads_find(&s->threads, tid);
	if (t)
		return t;
	int pid = thread_process(tid);
	if (pid < 0)
		return NULL;
	if (pid == tid)
		s->options.sink.fork(s->options.sink.ctx, process_parent(pid), pid);
	return add_thread(s, pid, tid);
}

static void thread_ended(struct stop_sampler *s, const struct tracee_event *ev)
{
	struct stop_thread *t = stop_threads_find(&s->threads, ev->tid);
	if (!t || t->pid == ev->tid)
		vec_push(&s->ended, (struct ended_process){ev->tid, ev->status});
	if (!t)
		return;
	s->options.sink.exit(s->options.sink.ctx, t->pid, ev->tid);
	stop_threads_remove(&s->threads, t);
}

/* The thread that executes becomes the first of its process. Its old number just vanishes; all
 * others have told their end before. */
static struct stop_thread *thread_executed(struct stop_sampler *s, const struct tracee_event *ev)
{
	struct stop_thread *t = stop_threads_find(&s->threads, ev->tid);
	struct stop_thread *former = stop_threads_find(&s->threads, ev->other);
	if (former && former != t) {
		s->options.sink.exit(s->options.sink.ctx, former->pid, ev->other);
		stop_threads_remove(&s->threads, former);
	}
	if (!t)
		t = add_thread(s, ev->tid, ev->tid);
	t->starting = false;
	if (ev->other != ev->tid)
		t->run_time = stop_thread_run_time(&s->threads, t);
	s->options.sink.exec(s->options.sink.ctx, t->pid);
	tell_name(s, t);
	return t;
}

/* A thread that is stopped because we asked. */

static uint64_t take_weight(struct stop_sampler *s, struct stop_thread *t)
{
	uint64_t run_time = stop_thread_run_time(&s->threads, t), before = t->run_time;
	if (!run_time) /* not counted by this kernel: it was seen running, that is all we know */
		return s->period;
	t->run_time = run_time;
	return run_time > before ? run_time - before : 0;
}

static void deliver(struct stop_sampler *s, struct sample *sample)
{
	for (sample->event = 0; sample->event < s->options.event_count; sample->event++)
		s->options.sink.sample(s->options.sink.ctx, sample);
}

/* Names are given to threads after their start, and may change: looked at again at its 1st, 2nd,
 * 4th, 8th, ... sample. */
static void sample_stopped(struct stop_sampler *s, struct stop_thread *t, bool in_call)
{
	struct sample sample = {
		.time = now_ns(),
		.pid = t->pid,
		.tid = t->tracee.tid,
		.weight = take_weight(s, t),
		.in_kernel = in_call,
		.stopped = true,
		.registers = s->stopped_at,
	};
	t->rests = 0;
	if (!sample.weight)
		return;
	if ((t->samples & (t->samples + 1)) == 0)
		tell_name(s, t);
	t->samples++;
	deliver(s, &sample);
}

static void use_stop(struct stop_sampler *s, struct stop_thread *t, bool asked)
{
	bool in_call;
	bool held = s->hold.tid == t->tracee.tid;
	if ((!asked && !held) || t->starting ||
	    !tracee_registers(&t->tracee, &s->stopped_at, &in_call))
		return;
	s->stopped = t;
	if (held) {
		s->hold.inside(s->hold.ctx, &s->stopped_at);
		s->hold.done = true;
		s->hold.tid = 0;
	} else {
		sample_stopped(s, t, in_call);
	}
	s->stopped = NULL;
}

static void let_go(struct stop_sampler *s, struct stop_thread *t, const struct tracee_event *ev)
{
	if (!s->finishing) {
		tracee_resume(&t->tracee, ev);
		return;
	}
	if (tracee_detach(&t->tracee, ev))
		stop_threads_remove(&s->threads, t);
	else
		t->asked = true; /* it will stop by itself */
}

static void handle_stop(struct stop_sampler *s, const struct tracee_event *ev)
{
	struct stop_thread *t =
		ev->what == TRACEE_EXECUTED ? thread_executed(s, ev) : meet_thread(s, ev->tid);
	if (!t) { /* killed while it was stopped; its end will be told */
		struct tracee gone;
		tracee_adopt(&gone, ev->tid);
		tracee_resume(&gone, ev);
		return;
	}
	/* Any stop answers a question that was asked before it. */
	bool asked = t->asked;
	t->asked = false;
	/* A child may have come and gone before its parent tells; one with a number that was used
	 * before is met at its first stop. */
	if (ev->what == TRACEE_CLONED && ev->other && !stop_threads_had(&s->threads, ev->other))
		meet_thread(s, ev->other);
	else if (ev->what == TRACEE_TRAPPED)
		use_stop(s, t, asked);
	let_go(s, t, ev);
}

static void handle_all(struct stop_sampler *s)
{
	struct tracee_event ev;
	while (tracee_next(&ev))
		if (ev.what == TRACEE_ENDED)
			thread_ended(s, &ev);
		else
			handle_stop(s, &ev);
}

/* Ticks. */

static void ask(struct stop_thread *t)
{
	t->asked = tracee_interrupt(&t->tracee);
}

/* A thread that waits long is looked at more rarely if there are many. */
static void rest(struct stop_sampler *s, struct stop_thread *t)
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
	if (waiting_look(&t->waiting, now_ns(), s->stack, s->options.max_stack, &sample))
		deliver(s, &sample);
}

static void tick(struct stop_sampler *s)
{
	s->tick++;
	for (uint32_t i = 0; i < s->threads.list.len; i++) {
		struct stop_thread *t = s->threads.list.data[i];
		if (t->starting || t->asked || s->tick < t->next)
			continue;
		if (stop_thread_runs(&s->threads, t)) {
			ask(t);
			continue;
		}
		if (s->options.wall)
			sample_waiting(s, t);
		rest(s, t);
	}
}

/* Ticks that were missed are not made up for: weights do that. */
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

/* Sleeps until something happens to a thread or the time has come; false after another signal. */
static bool wait_until(const struct stop_sampler *s, uint64_t then)
{
	struct signalfd_siginfo info;
	struct pollfd p = {.fd = s->child_fd, .events = POLLIN};
	uint64_t now = now_ns(), wait = then > now ? then - now : 0;
	struct timespec t = {(time_t)(wait / SECOND), (long)(wait % SECOND)};
	int n = ppoll(&p, 1, &t, &s->mask_waiting);
	return n < 0 ? errno != EINTR : !n || read(s->child_fd, &info, sizeof(info)) >= 0;
}

/* Signals that an instruction of ours causes cannot wait. */
static void block_signals(sigset_t *before)
{
	sigset_t all;
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGFPE);
	pthread_sigmask(SIG_BLOCK, &all, before);
}

static int run(struct sampler *sampler, int timeout_ms, struct err *e)
{
	struct stop_sampler *s = of(sampler);
	sigset_t before;
	uint64_t now = now_ns(), end = now + (uint64_t)timeout_ms * 1000000;
	(void)e;
	block_signals(&before);
	handle_all(s);
	for (bool undisturbed = true; undisturbed && now < end && s->threads.list.len;
	     now = now_ns()) {
		tick_if_due(s, now);
		undisturbed = wait_until(s, s->next_tick < end ? s->next_tick : end);
		handle_all(s);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return 0;
}

/* Beginning. */

static int seize(struct stop_sampler *s, int pid, int tid, bool whole, struct err *e)
{
	struct tracee tracee;
	int rc = tracee_seize(&tracee, tid, whole ? TRACEE_CHILDREN : TRACEE_ALONE, e);
	if (rc)
		return rc;
	struct stop_thread *t = add_thread(s, pid, tid);
	t->run_time = stop_thread_run_time(&s->threads, t);
	return 0;
}

/* One pass over the threads of a process; returns how many were new to us. Some end meanwhile, some
 * are ours already because a thread of ours made them, which their first stop will tell. */
static int seize_threads(struct stop_sampler *s, int pid, struct err *e)
{
	tid_list tids = {0};
	struct err ignored, *why = &ignored;
	int count = threads_list(pid, &tids, e);
	vec_each (tid, &tids) {
		if (stop_threads_find(&s->threads, *tid))
			continue;
		count += !seize(s, pid, *tid, true, why);
	}
	vec_free(&tids);
	return count;
}

/* Threads that are not ours yet may make others while we go: until a pass finds none. */
static int seize_process(struct stop_sampler *s, int pid, struct err *e)
{
	int found, total = 0;
	while ((found = seize_threads(s, pid, e)) > 0)
		total += found;
	if (total)
		return 0;
	if (found < 0)
		return found;
	return err_set(e, ERR_SYSTEM, "process %d has ended, or is watched already", pid);
}

static int watch(struct sampler *sampler, int tid, bool whole, bool starting, struct err *e)
{
	struct stop_sampler *s = of(sampler);
	int pid = thread_process(tid);
	if (pid < 0)
		return err_set(e, ERR_SYSTEM, "there is no process %d", tid);
	int rc = starting ? 0 : process_check_attach(pid, e);
	if (!rc)
		rc = whole ? seize_process(s, pid, e) : seize(s, pid, tid, false, e);
	struct stop_thread *t = stop_threads_find(&s->threads, tid);
	if (!rc && t)
		t->starting = starting;
	return rc;
}

static bool hold(struct sampler *sampler, int pid, int tid,
		 void (*inside)(void *ctx, const struct registers *regs), void *ctx)
{
	struct stop_sampler *s = of(sampler);
	struct stop_thread *t = stop_threads_find(&s->threads, tid);
	if (!t || t->pid != pid)
		return false;
	if (s->stopped == t) {
		inside(ctx, &s->stopped_at);
		return true;
	}
	/* While another is stopped this would keep it so; and one that waits is not to be woken. */
	if (s->stopped || !stop_thread_runs(&s->threads, t))
		return false;
	s->hold.tid = tid;
	s->hold.done = false;
	s->hold.inside = inside;
	s->hold.ctx = ctx;
	ask(t);
	for (uint64_t end = now_ns() + HOLD_NS; !s->hold.done && now_ns() < end;) {
		wait_until(s, end);
		handle_all(s);
	}
	s->hold.tid = 0;
	return s->hold.done;
}

/* End. */

/* A thread in a sleep that nothing interrupts would stop later, when we are not there any more to
 * let it go on: it is asked when it has woken up. */
static void ask_who_can(struct stop_sampler *s)
{
	for (uint32_t i = 0; i < s->threads.list.len; i++) {
		struct stop_thread *t = s->threads.list.data[i];
		char state = t->asked ? 0 : thread_state(t->tracee.tid);
		if (state && state != 'D' && state != 'Z' && state != 'X')
			ask(t);
	}
}

static void finish(struct sampler *sampler)
{
	struct stop_sampler *s = of(sampler);
	uint64_t end = now_ns() + FINISH_NS;
	s->finishing = true;
	for (handle_all(s); s->threads.list.len && now_ns() < end; handle_all(s)) {
		ask_who_can(s);
		wait_until(s, now_ns() + FINISH_STEP_NS);
	}
	debug(LOG_SAMPLE, 1, "detached, %u threads left to the kernel", s->threads.list.len);
}

/* Processes that ended are known here: the kernel tells a tracer first, and once. */
static bool ended(struct sampler *sampler, int pid, int *status)
{
	struct stop_sampler *s = of(sampler);
	vec_each (p, &s->ended) {
		if (p->pid != pid)
			continue;
		*status = p->status;
		return true;
	}
	return !stop_threads_find(&s->threads, pid) && waitpid(pid, status, WNOHANG) == pid;
}

static void stop_sampler_free(struct sampler *sampler)
{
	struct stop_sampler *s = of(sampler);
	stop_threads_release(&s->threads);
	vec_free(&s->ended);
	close(s->child_fd);
	sigaction(SIGCHLD, &s->child_before, NULL);
	pthread_sigmask(SIG_SETMASK, &s->mask_before, NULL);
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

/* Blocked, SIGCHLD is kept for us even if it would be ignored; but were it set to be ignored,
 * children would vanish without telling their status. */
static int take_child_signal(struct stop_sampler *s, struct err *e)
{
	sigset_t child;
	struct sigaction action = {.sa_handler = SIG_DFL};
	launch_remember_signals();
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	s->child_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->child_fd < 0)
		return err_errno(e, "the end of child processes cannot be waited for");
	pthread_sigmask(SIG_BLOCK, &child, &s->mask_before);
	pthread_sigmask(SIG_BLOCK, NULL, &s->mask_waiting);
	sigaction(SIGCHLD, &action, &s->child_before);
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
	rc = take_child_signal(s, e);
	if (rc) {
		free(s);
		return rc;
	}
	s->stack = o->wall ? xmalloc(o->max_stack + 1) : NULL;
	*out = &s->base;
	return 0;
}
