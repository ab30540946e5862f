/* Waiting for events of threads, and stopping single threads.
 *
 * The kernel sends SIGCHLD for everything that happens to a traced thread. SIGCHLD is kept blocked,
 * and we sleep by waiting for it. Other signals to Sonde are let in only while we sleep, so that
 * none arrives unnoticed just before. control_events.c handles what has happened. */
#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/control_inner.h"

enum {
	MILLISECOND = 1000000,
	SLEEP_MAX_NS = 100 * MILLISECOND, /* another thread of Sonde may have got the SIGCHLD */
	LOOK_NS = MILLISECOND / 2, /* pause between looks at children that have not reported */
};

/* Signals that an instruction of Sonde raises are not blocked: the kernel would kill Sonde instead
 * of calling a handler. */
void control_block_signals(struct control *c)
{
	sigset_t all;
	if (c->blocking++)
		return;
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGFPE);
	pthread_sigmask(SIG_BLOCK, &all, &c->mask);
}

void control_unblock_signals(struct control *c)
{
	if (!--c->blocking)
		pthread_sigmask(SIG_SETMASK, &c->mask, NULL);
}

bool control_sleep_until(const struct control *c, uint64_t then, bool let_in)
{
	struct signalfd_siginfo info;
	struct pollfd p = {.fd = c->child_fd, .events = POLLIN};
	uint64_t now = now_ns(), wait = then > now && !c->more ? then - now : 0;
	struct timespec t = {0, (long)(wait < SLEEP_MAX_NS ? wait : SLEEP_MAX_NS)};
	int n = ppoll(&p, 1, &t, let_in ? &c->mask : NULL);
	return n < 0 ? errno != EINTR : !n || read(c->child_fd, &info, sizeof(info)) >= 0;
}

/* Without a thread, nothing happens: nobody waits for ever then. */
bool control_sleep(struct control *c, uint64_t then)
{
	bool undisturbed = true;
	control_block_signals(c);
	control_drain(c);
	while (undisturbed && !control_known(c) &&
	       (c->threads.len || c->expecting || then != UINT64_MAX) && now_ns() < then) {
		undisturbed = control_sleep_until(c, then, true);
		control_drain(c);
	}
	control_unblock_signals(c);
	return undisturbed;
}

/* Known events. */

uint32_t control_known(const struct control *c)
{
	return c->events.len - c->reported;
}

void control_expect_end(struct control *c)
{
	c->expecting = true;
}

bool control_next(struct control *c, struct control_event *out)
{
	if (!control_known(c))
		return false;
	*out = c->events.data[c->reported++];
	return true;
}

bool control_wait(struct control *c, int timeout_ms, struct control_event *out)
{
	uint64_t end = timeout_ms < 0 ? UINT64_MAX : now_ns() + (uint64_t)timeout_ms * MILLISECOND;
	if (!control_known(c))
		control_sleep(c, end);
	return control_next(c, out);
}

/* Events that are taken out of order. */

/* Takes the next event of this kind: of thread `id`, or of a child of process `id`. */
static bool take_event(struct control *c, enum control_happening what, int id,
		       struct control_event *out)
{
	for (uint32_t i = c->reported; i < c->events.len; i++) {
		const struct control_event *ev = &c->events.data[i];
		if (ev->what != what || (what == CONTROL_FORKED ? ev->parent : ev->tid) != id)
			continue;
		*out = *ev;
		vec_remove(&c->events, i);
		return true;
	}
	return false;
}

/* Whether a child of the process has not reported CONTROL_FORKED yet. */
static bool is_forking(struct control *c, int pid)
{
	vec_each (t, &c->threads)
		if ((*t)->report == CONTROL_FORKED &&
		    control_find_process(c, (*t)->pid)->parent == pid)
			return true;
	return false;
}

bool control_next_forked(struct control *c, int pid, struct control_event *out)
{
	control_block_signals(c);
	for (; is_forking(c, pid); control_drain(c))
		control_sleep_until(c, now_ns() + LOOK_NS, false);
	control_unblock_signals(c);
	return take_event(c, CONTROL_FORKED, pid, out);
}

/* Single threads. */

void control_go(struct control *c, int tid)
{
	struct control_thread *t = control_thread(c, tid);
	if (!t || !t->held)
		return;
	t->held = false;
	if (t->stopped && !control_find_process(c, t->pid)->stopped)
		control_release(c, t);
}

void control_interrupt(struct control *c, int tid)
{
	struct control_thread *t = control_thread(c, tid);
	if (!t || t->stopped)
		return;
	if (!t->asked)
		control_ask(t);
	if (t->asked && t->report == REPORT_NOTHING)
		t->report = CONTROL_INTERRUPTED;
}

/* Whether the thread was asked to stop, and has not reported that yet. */
static bool is_awaited(struct control *c, int tid)
{
	const struct control_thread *t = control_thread(c, tid);
	return t && t->report == CONTROL_INTERRUPTED;
}

bool control_await_stop(struct control *c, int tid, uint64_t ns)
{
	struct control_event ev;
	uint64_t end = now_ns() + ns;
	control_block_signals(c);
	control_drain(c);
	while (is_awaited(c, tid) && now_ns() < end) {
		control_sleep_until(c, end, false);
		control_drain(c);
	}
	control_unblock_signals(c);
	return take_event(c, CONTROL_INTERRUPTED, tid, &ev);
}
