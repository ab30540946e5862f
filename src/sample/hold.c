#include "sample/hold.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

/* A thread stops within some 10 us, or when it gets a CPU. So it is looked at EAGER_TRIES times at
 * once, and then PAUSED_TRIES times with pauses. */
enum { EAGER_TRIES = 50, PAUSED_TRIES = 200, PAUSE_NS = 50000 };

enum stop { STOPPED, ENDED, NOT_YET };

/* Reports the stop, but does not consume it (WNOWAIT): tracee.c says why. */
static enum stop look(const struct tracee *t, struct tracee_event *out)
{
	siginfo_t info = {0};
	*out = (struct tracee_event){.tid = t->tid};
	if (waitid(P_PID, (id_t)t->tid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL))
		return ENDED;
	if (!info.si_pid || info.si_code == CLD_STOPPED)
		return NOT_YET;
	if (info.si_code != CLD_TRAPPED)
		return ENDED;
	int event = info.si_status >> 8, sig = info.si_status & 0x7f;
	if (!event) {
		out->what = TRACEE_SIGNALLED;
		out->signal = sig;
	} else if (event == PTRACE_EVENT_STOP) {
		out->what = sig == SIGTRAP ? TRACEE_TRAPPED : TRACEE_SUSPENDED;
	} else {
		out->what = TRACEE_EXECUTED;
	}
	return STOPPED;
}

static enum stop await(const struct tracee *t, struct tracee_event *out)
{
	enum stop stop = look(t, out);
	for (int i = 0; stop == NOT_YET && i < EAGER_TRIES + PAUSED_TRIES; i++) {
		if (i >= EAGER_TRIES)
			nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
		stop = look(t, out);
	}
	return stop;
}

/* A traced thread that has ended stays a zombie until its tracer has waited for it. A child of ours
 * is left to the caller, which waits for its status. */
static void reap(int tid, bool child)
{
	if (!child)
		waitpid(tid, NULL, WNOHANG | __WALL);
}

static bool stop_thread(struct holds *h, int tid, bool child, inside_fn inside, void *ctx)
{
	struct tracee t;
	struct tracee_event stop;
	struct registers regs;
	struct err ignored;
	bool in_call;
	if (tracee_seize(&t, tid, TRACEE_ALONE, &ignored))
		return false;
	tracee_interrupt(&t);
	switch (await(&t, &stop)) {
	case ENDED: reap(tid, child); return false;
	case NOT_YET: vec_push(&h->late, (struct late_hold){t, child}); return false;
	case STOPPED: break;
	}
	/* After an exec, nothing is left of what the caller wanted to see. */
	bool seen = stop.what != TRACEE_EXECUTED && tracee_registers(&t, &regs, &in_call);
	if (seen)
		inside(ctx, &regs);
	tracee_detach(&t, &stop);
	return seen;
}

bool hold_thread(struct holds *h, int pid, int tid, bool child, inside_fn inside, void *ctx)
{
	vec_each (l, &h->late)
		if (l->tracee.tid == tid)
			return false;
	enum held held = waiting_hold(pid, tid, inside, ctx);
	if (held != HELD_NOT)
		return held == HELD;
	return stop_thread(h, tid, child, inside, ctx);
}

void holds_let_go(struct holds *h)
{
	for (uint32_t i = h->late.len; i-- > 0;) {
		struct late_hold *l = &h->late.data[i];
		struct tracee_event stop;
		enum stop found = look(&l->tracee, &stop);
		if (found == NOT_YET)
			continue;
		if (found == STOPPED)
			tracee_detach(&l->tracee, &stop);
		else
			reap(l->tracee.tid, l->child);
		*l = vec_pop(&h->late);
	}
}

/* A thread in uninterruptible sleep stops as soon as it returns from the kernel, and would then
 * stay stopped until we exit. So this waits for the stop, for 5 s at most. */
void holds_release(struct holds *h)
{
	enum { ROUNDS = 500, ROUND_NS = 10000000 };
	holds_let_go(h);
	for (int i = 0; h->late.len && i < ROUNDS; i++) {
		nanosleep(&(struct timespec){.tv_nsec = ROUND_NS}, NULL);
		holds_let_go(h);
	}
	vec_free(&h->late);
}
