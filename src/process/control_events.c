/* Handles what happens to threads, and reports it.
 *
 * A thread is kept only in the stop that PTRACE_INTERRUPT leads to. In that stop the kernel has
 * finished the call that the thread was in and has set up the handler of a pending signal, so that
 * nothing is lost if Sonde dies. In all other stops (signals, clone, exec) the thread is resumed at
 * once. If it is to stay stopped, it is asked again before that, because any stop fulfils an
 * earlier request. The exception is the signal by which the runtime calls us: the thread may stay
 * in that stop, because the program does not miss the signal.
 *
 * A new thread is traced from its beginning, and stops before its first instruction. The kernel may
 * report this stop before or after the event of the creator. Whichever comes first adds the thread,
 * so that control_stop() knows all threads that were created before it. */
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

/* New threads. */

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
		p.stop_began = maker->stop_began;
	}
	p.leaving = maker && maker->leaving;
	vec_push(&c->processes, p);
	return &vec_last(&c->processes);
}

/* Adds a new thread, which is traced because its creator is. `creator` is the process that created
 * it, or 0 if that is unknown. */
static struct control_thread *add_new_thread(struct control *c, int tid, int creator, bool vfork)
{
	int pid = thread_process(tid);
	if (pid < 0)
		return NULL;
	bool process = !control_find_process(c, pid);
	if (process)
		new_process(c, pid, creator ? creator : process_parent(pid), vfork);
	struct control_thread *t = control_add(c, pid, tid);
	t->asked = true;
	t->report = process ? CONTROL_FORKED : CONTROL_BORN;
	return t;
}

/* Handles the event of the creator. The new thread may be known by now, or have ended already. */
static void handle_clone(struct control *c, struct control_thread *t, const struct tracee_event *ev)
{
	const struct control_thread *made = control_thread(c, ev->other);
	t->vforked = ev->vfork;
	if (!made && thread_lives(ev->other))
		made = add_new_thread(c, ev->other, t->pid, ev->vfork);
	if (made && made->pid != t->pid && !control_find_process(c, made->pid)->shared &&
	    c->fork_watcher)
		c->fork_watcher(c->watcher_ctx, t->pid, t->tracee.tid, made->pid);
}

/* Ends of threads. */

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
	/* The first thread of the process ended before we attached. If the process is our child,
	 * the kernel reports that end next, with the status. */
	if (reported.tid != reported.pid && process_parent(reported.pid) == getpid())
		return;
	/* Children of ours that are not traced, or no longer, are reported, too. */
	reported.what = CONTROL_GONE;
	report(c, reported);
}

/* The executing thread becomes the first thread of its process. Its old number vanishes without an
 * event; the ends of all other threads were reported before. A vfork child no longer uses the
 * memory of its parent. */
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
	p->shared = p->stopped = false;
	t->dead = t->held = false;
	t->report = CONTROL_EXECUTED;
	memset(&t->tracee.interrupted, 0, sizeof(t->tracee.interrupted));
	return t;
}

/* Stops. */

/* The sender in siginfo is not compared: a program in a container has another pid there. */
static bool is_runtime_signal(const struct tracee_event *ev, uint64_t *value)
{
	siginfo_t info;
	if (ev->signal != CONTROL_SIGNAL || ptrace(PTRACE_GETSIGINFO, ev->tid, NULL, &info))
		return false;
	*value = (uint64_t)(uintptr_t)info.si_value.sival_ptr;
	return info.si_code == SI_QUEUE && (*value ^ CONTROL_MAGIC) >> 32 == 0;
}

static void report_stop(struct control *c, struct control_thread *t, uint64_t value)
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

/* Handles a stop in which a thread may stay. Resumes it if nobody wants it to be stopped. */
static void handle_lasting_stop(struct control *c, struct control_thread *t,
				const struct tracee_event *ev, uint64_t value)
{
	bool leaving = control_is_leaving(c, t);
	tracee_take(t->tracee.tid);
	t->stop = *ev;
	t->stopped = true;
	t->resumed = -1;
	if (t->report != REPORT_NOTHING && !leaving)
		report_stop(c, t, value);
	if (leaving || (!t->held && !control_find_process(c, t->pid)->stopped))
		control_release(c, t);
}

/* Handles a stop in which a thread must not stay. */
static void handle_passing_stop(struct control *c, struct control_thread *t,
				const struct tracee_event *ev)
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

/* Calls the signal watcher. Returns false if the thread must not receive the signal. It receives
 * the signal nevertheless if Sonde is killed after the pc was changed. */
static bool call_signal_watcher(struct control *c, struct control_thread *t, int signal)
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

/* The thread counts as stopped during the call, so that its registers can be read. */
static void call_end_watcher(struct control *c, struct control_thread *t)
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
		t = add_new_thread(c, ev->tid, 0, false);
	if (!t) { /* killed while it was stopped; its end will be reported */
		struct tracee gone;
		tracee_adopt(&gone, ev->tid);
		tracee_resume(&gone, ev);
		return;
	}
	t->stopped = false; /* it was, if SIGKILL has ended the stop that we kept it in */
	t->asked = t->in_kernel = t->vforked = false;
	if (ev->what == TRACEE_CLONED && ev->other)
		handle_clone(c, t, ev);
	if (ev->what == TRACEE_SIGNALLED && is_runtime_signal(ev, &value)) {
		struct tracee_event ours = {.tid = ev->tid, .what = TRACEE_TRAPPED};
		if (t->report == REPORT_NOTHING)
			t->report = CONTROL_SIGNALLED_US;
		handle_lasting_stop(c, t, &ours, value);
	} else if (ev->what == TRACEE_TRAPPED || ev->what == TRACEE_SUSPENDED) {
		handle_lasting_stop(c, t, ev, 0);
	} else {
		struct tracee_event passed = *ev;
		if (ev->what == TRACEE_SIGNALLED && c->watcher &&
		    !call_signal_watcher(c, t, ev->signal))
			passed.signal = 0;
		if (ev->what == TRACEE_ENDING)
			call_end_watcher(c, t);
		handle_passing_stop(c, t, &passed);
	}
}

static void handle(struct control *c, const struct tracee_event *ev)
{
	if (ev->what == TRACEE_ENDED)
		thread_ended(c, ev);
	else
		handle_stop(c, ev);
}

/* Handles one event of each thread that has had none in this turn. The kernel reports the newest
 * thread first: as long as that one causes events, those of older threads would never be
 * handled. */
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
		bool may_recur = ev.what == TRACEE_SIGNALLED || ev.what == TRACEE_CLONED;
		c->more = t && may_recur && t->turn == c->turn;
		if (c->more)
			break;
		if (t && may_recur)
			t->turn = c->turn;
		handle(c, &ev);
	}
	if (c->more)
		handle_others(c);
}
