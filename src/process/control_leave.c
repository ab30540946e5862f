/* Leaving threads and processes, which run on by themselves. */
#include <errno.h>
#include <signal.h>

#include "base/clock.h"
#include "base/log.h"
#include "process/control_inner.h"

enum { LOOK_NS = 500000 };

/* A thread in a sleep that nothing interrupts is asked when it has woken up. */
static void ask_who_can(struct control_thread *t)
{
	char state = t->asked ? 0 : thread_state(t->tracee.tid);
	if (state && state != 'D' && state != 'Z' && state != 'X')
		control_ask(t);
}

/* Whether it is gone, or sleeps and leaves us when it wakes up. */
static bool is_left_alone(struct control *c, int tid)
{
	const struct control_thread *t = control_thread(c, tid);
	return !t || t->tracee.interrupted.sleeping;
}

/* Whether a process is gone that somebody else has waited for: launch_go() does if the program
 * cannot be executed. Only the first thread tells: numbers of others may also vanish by exec. */
static bool is_reaped(const struct control_thread *t)
{
	return t->tracee.tid == t->pid && kill(t->pid, 0) && errno == ESRCH;
}

/* Returns how many threads that we leave are still to be waited for. */
static uint32_t leave_threads(struct control *c)
{
	uint32_t left = 0;
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
			ask_who_can(t);
		left += !is_left_alone(c, tid);
	}
	return left;
}

static void leave_marked(struct control *c, uint64_t then)
{
	for (; leave_threads(c) && now_ns() < then; control_drain(c))
		control_sleep_until(c, now_ns() + LOOK_NS, false);
}

/* With it goes who shares its memory: a thread in vfork cannot be left before its child is. */
void control_detach(struct control *c, int pid)
{
	const struct control_process *p = control_find_process(c, pid);
	if (!p)
		return;
	uint32_t memory = p->memory;
	vec_each (q, &c->processes)
		q->leaving |= q->memory == memory;
	control_release_sleepers(c, memory);
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
