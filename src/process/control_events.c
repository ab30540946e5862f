/* What happens to threads, and what follows from it.
 *
 * A thread is only kept in the one kind of stop that an interrupt leads to: the kernel has finished
 * whatever call it was in, has set up the handler of a signal that was due, and nothing is left
 * that would be lost if we died. All other stops (signals, clone, exec) are passed at once; if the
 * thread is to stay stopped it is asked again before, because any stop answers a question. The
 * exception is the signal by which the runtime calls us: it is ours, and nobody misses it.
 *
 * A new thread is ours from the beginning, and stops before its first instruction. That stop may be
 * told before or after the event of its maker; who comes first enters it, so that control_stop()
 * knows of everything that was made before. */
#include <linux/kcmp.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "isa/arch.h"
#include "process/control_inner.h"

static void report(struct control *c, struct control_event ev)
{
	if (c->reported == c->events.len)
		c->reported = 0, vec_clear(&c->events);
	vec_push(&c->events, ev);
}

/* Threads that come. */

static bool same_memory(int a, int b)
{
	return syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0) == 0;
}

static struct control_process *new_process(struct control *c, int pid, int parent, bool vfork)
{
	struct control_process p = {.pid = pid, .parent = parent, .memory = ++c->memories};
	const struct control_process *maker = control_find_process(c, parent);
	p.shared = maker && (vfork || same_memory(pid, parent));
	if (p.shared) {
		p.memory = maker->memory;
		p.stopped = maker->stopped;
	}
	p.leaving = maker && maker->leaving;
	vec_push(&c->processes, p);
	return &vec_last(&c->processes);
}

/* A thread that came by itself, from a thread of process `maker`, or unknown (0). */
static struct control_thread *meet(struct control *c, int tid, int maker, bool vfork)
{
	int pid = thread_process(tid);
	if (pid < 0)
		return NULL;
	bool process = !control_find_process(c, pid);
	if (process)
		new_process(c, pid, maker ? maker : process_parent(pid), vfork);
	struct control_thread *t = control_add(c, pid, tid);
	t->asked = true;
	t->report = process ? CONTROL_FORKED : CONTROL_BORN;
	return t;
}

/* The event of the maker: what it made may be known, or have come and gone already. */
static void maker_reported(struct control *c, struct control_thread *t,
			   const struct tracee_event *ev)
{
	const struct control_thread *made = control_thread(c, ev->other);
	t->vforked = ev->vfork;
	if (!made && thread_lives(ev->other))
		made = meet(c, ev->other, t->pid, ev->vfork);
	if (made && made->pid != t->pid && !control_find_process(c, made->pid)->shared &&
	    c->fork_watcher)
		c->fork_watcher(c->watcher_ctx, t->pid, t->tracee.tid, made->pid);
}

/* Threads that go. */

static void thread_ended(struct control *c, const struct tracee_event *ev)
{
	struct control_thread *t = control_thread(c, ev->tid);
	struct control_event reported = {.tid = ev->tid, .pid = t ? t->pid : ev->tid, .status = -1};
	if (reported.pid == reported.tid) {
		reported.status = ev->status;
		reported.cpu_ns = ev->cpu_ns;
	}
	reported.what = CONTROL_ENDED;
	if (t) {
		if (!control_is_leaving(c, t))
			report(c, reported);
		control_remove(c, t);
	}
	if (control_threads(c, reported.pid, NULL, 0))
		return;
	/* The first thread had ended before we came: if it is our child its end is reported now,
	 * with the status. */
	if (reported.tid != reported.pid && process_parent(reported.pid) == getpid())
		return;
	/* Also for children of ours that are not, or no longer, traced. */
	reported.what = CONTROL_GONE;
	report(c, reported);
}

/* The executing thread becomes the first of its process; its old number just vanishes, all others
 * have told their end before. What a vfork child shared with its parent is over. */
static struct control_thread *thread_executed(struct control *c, const struct tracee_event *ev)
{
	struct control_thread *t = control_thread(c, ev->tid);
	struct control_thread *former = control_thread(c, ev->other);
	if (!t)
		t = control_add(c, ev->tid, ev->tid);
	if (former && former != t)
		control_remove(c, former);
	struct control_process *p = control_find_process(c, t->pid);
	if (!p)
		p = new_process(c, t->pid, 0, false);
	p->memory = ++c->memories;
	p->stopped = false;
	t->dead = t->held = false;
	t->report = CONTROL_EXECUTED;
	memset(&t->tracee.interrupted, 0, sizeof(t->tracee.interrupted));
	return t;
}

/* Stops. */

/* The sender that is named in it is not compared: a program in a container knows other numbers. */
static bool is_ours(const struct tracee_event *ev, uint64_t *value)
{
	siginfo_t info;
	if (ev->signal != CONTROL_SIGNAL || ptrace(PTRACE_GETSIGINFO, ev->tid, NULL, &info))
		return false;
	*value = (uint64_t)(uintptr_t)info.si_value.sival_ptr;
	return info.si_code == SI_QUEUE && (*value ^ CONTROL_MAGIC) >> 32 == 0;
}

static void report_of(struct control *c, struct control_thread *t, uint64_t value)
{
	const struct control_process *p = control_find_process(c, t->pid);
	struct control_event ev = {
		.what = (enum control_happening)t->report,
		.pid = t->pid,
		.tid = t->tracee.tid,
		.status = -1,
		.value = value,
	};
	if (t->report == CONTROL_FORKED) {
		ev.parent = p->parent;
		ev.shared = p->shared;
	}
	t->report = REPORT_NOTHING;
	t->held = true;
	report(c, ev);
}

/* It stays, or goes on if nobody wants it to. */
static void rest(struct control *c, struct control_thread *t, const struct tracee_event *ev,
		 uint64_t value)
{
	bool leaving = control_is_leaving(c, t);
	tracee_take(t->tracee.tid);
	t->stop = *ev;
	t->stopped = true;
	t->resumed = -1;
	if (t->report != REPORT_NOTHING && !leaving)
		report_of(c, t, value);
	if (leaving || (!t->held && !control_find_process(c, t->pid)->stopped))
		control_release(c, t);
}

static void pass(struct control *c, struct control_thread *t, const struct tracee_event *ev)
{
	if (control_is_leaving(c, t)) {
		t->stop = *ev;
		control_release(c, t);
		return;
	}
	if (control_find_process(c, t->pid)->stopped || t->report != REPORT_NOTHING)
		control_ask(t);
	tracee_resume(&t->tracee, ev);
}

static int owner_of_memory(struct control *c, int pid)
{
	const struct control_process *p = control_find_process(c, pid);
	if (p->shared)
		vec_each (q, &c->processes)
			if (q->memory == p->memory && !q->shared)
				return q->pid;
	return pid;
}

/* Tells the watcher; false if the thread is not to receive the signal. If we are killed after the
 * pc is changed it receives it nevertheless. */
static bool watch(struct control *c, struct control_thread *t, int signal)
{
	unsigned at = arch_native()->layout->ptrace_pc;
	struct control_signal s = {.pid = owner_of_memory(c, t->pid), .signal = signal};
	siginfo_t info;
	bool delivered = true;
	s.trapped = signal == SIGTRAP && !ptrace(PTRACE_GETSIGINFO, t->tracee.tid, NULL, &info) &&
		    control_is_trap(&info);
	t->tracee.regset.size = 0;
	if (tracee_read(&t->tracee)) {
		uint64_t pc = s.pc = control_word(t, at);
		delivered = c->watcher(c->watcher_ctx, &s);
		control_put(t, at, s.pc);
		if (s.pc != pc)
			control_write(t);
	}
	t->tracee.regset.size = 0;
	return delivered;
}

/* It is in a stop of its own for the moment. */
static void watch_end(struct control *c, struct control_thread *t)
{
	if (!c->end_watcher)
		return;
	t->tracee.regset.size = 0;
	t->stopped = true;
	c->end_watcher(c->watcher_ctx, t);
	t->stopped = false;
	t->tracee.regset.size = 0;
}

static void handle_stop(struct control *c, const struct tracee_event *ev)
{
	uint64_t value = 0;
	struct control_thread *t =
		ev->what == TRACEE_EXECUTED ? thread_executed(c, ev) : control_thread(c, ev->tid);
	if (!t)
		t = meet(c, ev->tid, 0, false);
	if (!t) { /* killed while it was stopped; its end will be reported */
		struct tracee gone;
		tracee_adopt(&gone, ev->tid);
		tracee_resume(&gone, ev);
		return;
	}
	t->stopped = false; /* if it was: only SIGKILL takes it out of the stop it is kept in */
	t->asked = t->in_kernel = t->vforked = false;
	if (ev->what == TRACEE_CLONED && ev->other)
		maker_reported(c, t, ev);
	if (ev->what == TRACEE_SIGNALLED && is_ours(ev, &value)) {
		struct tracee_event ours = {.tid = ev->tid, .what = TRACEE_TRAPPED};
		if (t->report == REPORT_NOTHING)
			t->report = CONTROL_SIGNALLED_US;
		rest(c, t, &ours, value);
	} else if (ev->what == TRACEE_TRAPPED || ev->what == TRACEE_SUSPENDED) {
		rest(c, t, ev, 0);
	} else {
		struct tracee_event passed = *ev;
		if (ev->what == TRACEE_SIGNALLED && c->watcher && !watch(c, t, ev->signal))
			passed.signal = 0;
		if (ev->what == TRACEE_ENDING)
			watch_end(c, t);
		pass(c, t, &passed);
	}
}

static void handle(struct control *c, const struct tracee_event *ev)
{
	if (ev->what == TRACEE_ENDED)
		thread_ended(c, ev);
	else
		handle_stop(c, ev);
}

/* The kernel tells of the youngest thread first, again and again. */
static void handle_others(struct control *c)
{
	struct tracee_event ev;
	tid_list tids = {0};
	vec_each (t, &c->threads)
		if ((*t)->turn != c->turn && !(*t)->stopped)
			vec_push(&tids, (*t)->tracee.tid);
	vec_each (tid, &tids)
		if (tracee_look(*tid, &ev))
			handle(c, &ev);
	vec_free(&tids);
}

void control_drain(struct control *c)
{
	struct tracee_event ev;
	c->turn++;
	c->more = false;
	while (tracee_next(&ev)) {
		struct control_thread *t = control_thread(c, ev.tid);
		bool again = ev.what == TRACEE_SIGNALLED || ev.what == TRACEE_CLONED;
		c->more = t && again && t->turn == c->turn;
		if (c->more)
			break;
		if (t && again)
			t->turn = c->turn;
		handle(c, &ev);
	}
	if (c->more)
		handle_others(c);
}
