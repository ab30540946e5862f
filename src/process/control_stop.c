/* Stopping and resuming whole processes. */
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/control_inner.h"

enum {
	MILLISECOND = 1000000,
	LOOK_NS = MILLISECOND / 2,           /* pause between looks at threads that do not stop */
	PATIENCE_NS = 50 * MILLISECOND,      /* then threads in the kernel count as stopped */
	SLEEP_AGAIN_NS = 2000 * MILLISECOND, /* within which sleepers must be asleep again */
	SPIN_MAX_NS = MILLISECOND / 5, /* longer waits use a timer; its delay matters less there */
	SLEEP_AGAIN_CPU_NS = MILLISECOND / 5, /* CPU time that they need for it at most */
};

static bool uses_memory(struct control *c, const struct control_thread *t, uint32_t memory)
{
	return control_find_process(c, t->pid)->memory == memory;
}

/* Whether the thread executes nothing until it is resumed. */
static bool is_halted(const struct control_thread *t)
{
	return t->stopped || t->in_kernel || t->dead;
}

/* Looks at a thread that was asked to stop and has not. There are three cases:
 *
 * 1. It runs, though maybe not at this moment.
 * 2. It has stopped, but the kernel has not reported that yet.
 * 3. It waits for something that no signal ends. A parent in vfork may do so for as long as its
 *    child likes. Page faults and disks are quick as a rule, so that a `patient` caller waits for
 *    those. */
static void update_state(struct control_thread *t, bool patient)
{
	char state = thread_state(t->tracee.tid);
	t->dead = !state || state == 'Z' || state == 'X';
	t->in_kernel = state == 'D' && (!patient || t->vforked);
}

static bool all_halted(struct control *c, uint32_t memory, bool look, bool patient)
{
	bool halted = true;
	vec_each (t, &c->threads) {
		if (is_halted(*t) || !uses_memory(c, *t, memory))
			continue;
		if (!(*t)->asked)
			control_ask(*t);
		if (look || (*t)->vforked)
			update_state(*t, patient);
		halted &= is_halted(*t);
	}
	return halted;
}

/* A thread that was creating another one when it was seized has created it untraced, and later ones
 * are not traced if births are ignored. After all known threads have stopped, /proc shows every
 * such thread. Seizes them; sets *all if there are none. */
static int seize_missed_threads(struct control *c, struct control_process *p, bool *all,
				struct err *e)
{
	int found = p->complete ? 0 : control_seize_threads(c, p->pid, c->extent, e);
	*all = !found;
	if (*all)
		p->complete = c->extent == TRACEE_ENDS;
	return found < 0 ? found : 0;
}

static void set_stopped(struct control *c, uint32_t memory, bool stopped)
{
	uint64_t now = now_ns();
	vec_each (p, &c->processes) {
		if (p->memory != memory)
			continue;
		if (stopped && !p->stopped)
			p->stop_began = now;
		p->stopped = stopped;
	}
}

void control_note_running(struct control *c, uint32_t memory)
{
	uint64_t now = now_ns(), longest = 0;
	vec_each (p, &c->processes) {
		if (p->memory != memory || !p->stop_began)
			continue;
		longest = now - p->stop_began > longest ? now - p->stop_began : longest;
		p->stop_began = 0;
	}
	c->stopped_ns += longest;
}

uint64_t control_stopped_ns(const struct control *c)
{
	return c->stopped_ns;
}

int control_stop(struct control *c, int pid, struct err *e)
{
	bool all = false;
	int rc = 0;
	control_block_signals(c);
	control_drain(c); /* the end of a thread that was seen dead may be reported by now */
	uint64_t start = now_ns(), look = start + LOOK_NS;
	struct control_process *p = control_find_process(c, pid);
	uint32_t memory = p ? p->memory : 0;
	set_stopped(c, memory, true);
	for (; p; p = control_find_process(c, pid)) {
		uint64_t now = now_ns();
		memory = p->memory; /* exec changes it */
		if (all_halted(c, memory, now >= look, now < start + PATIENCE_NS) &&
		    ((rc = seize_missed_threads(c, p, &all, e)) || all))
			break;
		if (now >= look)
			look = now + LOOK_NS;
		control_sleep_until(c, look, false);
		control_drain(c);
	}
	control_unblock_signals(c);
	if (rc) /* a thread that is not stopped may be in code that is to be changed */
		control_resume(c, pid);
	return p ? rc : err_set(e, ERR_ENDED, "process %d has ended", pid);
}

static bool can_go(struct control *c, const struct control_thread *t, uint32_t memory)
{
	return t->stopped && !t->held && uses_memory(c, t, memory);
}

/* A thread that was resumed from a stop in a call that it sleeps in. */
struct sleeper {
	int pid, tid;
	uint64_t cpu_ns; /* its CPU time before that */
};

/* Whether the thread is asleep again, or has been: its time may be over. Elapsed time does not
 * prove the latter, because on a busy machine the thread may wait long for a CPU; its CPU time
 * does. A thread that a signal has stopped waits for us. */
static bool has_entered(const struct sleeper *s)
{
	char state = thread_state(s->tid);
	return !state || strchr("tTZX", state) || thread_call(s->pid, s->tid).number >= 0 ||
	       thread_cpu_ns(s->pid, s->tid) > s->cpu_ns + SLEEP_AGAIN_CPU_NS;
}

static void await_call(const struct sleeper *s, uint64_t end)
{
	uint64_t begin = now_ns(), now = begin;
	for (; now < end && !has_entered(s); now = now_ns()) {
		if (now - begin < LOOK_NS)
			sched_yield();
		else /* it needs the CPU more than we do */
			nanosleep(&(struct timespec){.tv_nsec = LOOK_NS / 4}, NULL);
	}
}

/* Sleeping threads are resumed first, and must be asleep again before the others run. Otherwise one
 * of the others might install a filter for all threads (seccomp) that does not permit
 * restart_syscall() just before a sleeper makes that call. */
void control_release_sleepers(struct control *c, uint32_t memory)
{
	VEC(struct sleeper) sleepers = {0};
	uint64_t end = now_ns() + SLEEP_AGAIN_NS;
	uint32_t others = 0;
	for (uint32_t i = c->threads.len; i-- > 0;) { /* control_release() may remove the thread */
		struct control_thread *t = c->threads.data[i];
		int pid = t->pid, tid = t->tracee.tid;
		if (!can_go(c, t, memory))
			continue;
		if (!tracee_sleeps(&t->tracee)) {
			others++;
			continue;
		}
		vec_push(&sleepers, (struct sleeper){pid, tid, thread_cpu_ns(pid, tid)});
		control_release(c, t);
	}
	vec_each (s, &sleepers)
		if (others)
			await_call(s, end);
	vec_free(&sleepers);
}

void control_resume(struct control *c, int pid)
{
	const struct control_process *p = control_find_process(c, pid);
	if (!p)
		return;
	uint32_t memory = p->memory;
	set_stopped(c, memory, false);
	control_release_sleepers(c, memory);
	vec_each (t, &c->threads) {
		if (uses_memory(c, *t, memory))
			(*t)->in_kernel = false; /* it will be resumed when it stops */
		if (can_go(c, *t, memory))
			control_release(c, *t);
	}
	control_note_running(c, memory);
}

/* Whether the thread is halted again. That may be without a stop: as the first thread it may have
 * ended, or it may wait for a vfork child. */
static bool is_halted_again(struct control_thread *t, bool patient)
{
	if (!t || is_halted(t))
		return true;
	if (!t->asked)
		control_ask(t);
	update_state(t, patient);
	return is_halted(t);
}

/* Short waits spin, because a timer of the kernel is 50 us late, and a thread that yields its CPU
 * may get it back milliseconds later. */
static void sleep_shortly(uint64_t ns)
{
	uint64_t end = now_ns() + ns;
	bool single_cpu = sysconf(_SC_NPROCESSORS_ONLN) < 2;
	if (ns > SPIN_MAX_NS || single_cpu)
		nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
	while (now_ns() < end)
		;
}

void control_run_on(struct control *c, const int *tids, uint32_t count, uint64_t ns)
{
	control_block_signals(c);
	for (uint32_t i = 0; i < count; i++)
		if (control_thread(c, tids[i]) && control_thread(c, tids[i])->stopped)
			control_release(c, control_thread(c, tids[i]));
	sleep_shortly(ns);
	uint64_t start = now_ns();
	for (uint32_t halted = 0; halted < count;) {
		halted = 0;
		for (uint32_t i = 0; i < count; i++)
			halted += is_halted_again(control_thread(c, tids[i]),
						  now_ns() < start + PATIENCE_NS);
		if (halted < count)
			control_sleep_until(c, now_ns() + LOOK_NS, false);
		control_drain(c);
	}
	control_unblock_signals(c);
}
