/* Detaching from threads and processes, which then run without us. */
#include <errno.h>
#include <signal.h>

#include "base/clock.h"
#include "base/log.h"
#include "process/control_inner.h"

/* Pause between looks at threads that have not stopped yet. */
enum { LOOK_NS = 500000 };

/* A thread in an uninterruptible sleep (D) is asked after it has woken up. */
static void ask_if_interruptible(struct control_thread *t)
{
	char state = t->asked ? 0 : thread_state(t->tracee.tid);
	if (state && state != 'D' && state != 'Z' && state != 'X')
		control_ask(t);
}

/* Whether the thread is detached or has ended, or sleeps in a call and will be detached when it
 * wakes up. */
static bool is_detached_or_asleep(struct control *c, int tid)
{
	const struct control_thread *t = control_thread(c, tid);
	return !t || t->tracee.interrupted.sleeping;
}

/* Whether the process has ended and somebody else has waited for it: launch_go() does so if exec
 * fails. Only the first thread shows this, because the numbers of other threads may also vanish by
 * exec. */
static bool is_reaped(const struct control_thread *t)
{
	return t->tracee.tid == t->pid && kill(t->pid, 0) && errno == ESRCH;
}

/* Detaches the leaving threads that are stopped, and asks the others to stop. Returns how many of
 * these we have to wait for. */
static uint32_t leave_threads(struct control *c)
{
	uint32_t awaited = 0;
	for (uint32_t i = c->threads.len; i-- > 0;) {
		struct control_thread *t = c->threads.data[i];
		int tid = t->tracee.tid;
		if (!control_is_leaving(c, t))
			continue;
		if (t->stopped)
			control_release(c, t);
		else if (is_reaped(t))
			control_remove(c, t);
		else if (!t->tracee.interrupted.sleeping)
			ask_if_interruptible(t);
		awaited += !is_detached_or_asleep(c, tid);
	}
	return awaited;
}

static void leave_marked(struct control *c, uint64_t then)
{
	for (; leave_threads(c) && now_ns() < then; control_drain(c))
		control_sleep_until(c, now_ns() + LOOK_NS, false);
}

/* The processes that share its memory are left as well: a thread that waits in vfork cannot be
 * detached before its child. */
void control_detach(struct control *c, int pid)
{
	const struct control_process *p = control_find_process(c, pid);
	if (!p)
		return;
	uint32_t memory = p->memory;
	vec_each (q, &c->processes)
		q->leaving |= q->memory == memory;
	control_release_sleepers(c, memory);
	control_note_running(c, memory);
	leave_marked(c, now_ns() + LEAVE_NS);
	debug(LOG_PROBE, 1, "process %d: detached, %u threads left to the kernel", pid,
	      control_threads(c, pid, NULL, 0));
}

bool control_leave(struct control *c, int tid)
{
	struct control_thread *t = control_thread(c, tid);
	if (!t || !t->stopped)
		return false;
	t->held = false;
	t->leaving = true;
	control_release(c, t);
	return true;
}

void control_leave_all(struct control *c, uint64_t then)
{
	vec_each (p, &c->processes)
		p->leaving = true;
	leave_marked(c, then);
	c->left = true;
}
