/* Stopping processes as a whole, and letting them go on. */
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/control_inner.h"

enum {
	MILLISECOND = 1000000,
	LOOK_NS = MILLISECOND / 2,      /* when threads do not stop, between looks at them */
	PATIENCE_NS = 50 * MILLISECOND, /* with threads that wait in the kernel */
	ENTER_NS = 2000 * MILLISECOND,  /* for threads that were asleep to be so again */
	ENTERED_NS = MILLISECOND / 5,   /* on a CPU, after which they must have been */
};

static bool is_of(struct control *c, const struct control_thread *t, uint32_t memory)
{
	return control_find_process(c, t->pid)->memory == memory;
}

/* Whether the thread will not execute anything. */
static bool is_quiet(const struct control_thread *t)
{
	return t->stopped || t->in_kernel || t->dead;
}

/* A thread that has been asked and does not stop: it runs, though not at this moment; it has
 * stopped, but that was not told yet; or it waits for something that no signal ends. A parent in
 * vfork does so for as long as its child likes, page faults and disks are quick as a rule. */
static void look_at(struct control_thread *t, bool patient)
{
	char state = thread_state(t->tracee.tid);
	t->dead = !state || state == 'Z' || state == 'X';
	t->in_kernel = state == 'D' && (!patient || t->vforked);
}

static bool all_quiet(struct control *c, uint32_t memory, bool look, bool patient)
{
	bool quiet = true;
	vec_each (t, &c->threads) {
		if (is_quiet(*t) || !is_of(c, *t, memory))
			continue;
		if (!(*t)->asked)
			control_ask(*t);
		if (look || (*t)->vforked)
			look_at(*t, patient);
		quiet &= is_quiet(*t);
	}
	return quiet;
}

/* A thread that was making another one when it became ours made it without telling us; once all
 * have stopped, everyone is to be seen. */
static int are_all_ours(struct control *c, struct control_process *p, bool *all, struct err *e)
{
	int found = p->complete ? 0 : control_seize_threads(c, p->pid, TRACEE_ENDS, e);
	*all = !found;
	if (*all)
		p->complete = true;
	return found < 0 ? found : 0;
}

static void set_stopped(struct control *c, uint32_t memory, bool stopped)
{
	vec_each (p, &c->processes)
		if (p->memory == memory)
			p->stopped = stopped;
}

int control_stop(struct control *c, int pid, struct err *e)
{
	bool all = false;
	int rc = 0;
	control_block_signals(c);
	control_drain(c); /* one that was seen dead earlier may be told by now */
	uint64_t start = now_ns(), look = start + LOOK_NS;
	struct control_process *p = control_find_process(c, pid);
	uint32_t memory = p ? p->memory : 0;
	set_stopped(c, memory, true);
	for (; p; p = control_find_process(c, pid)) {
		uint64_t now = now_ns();
		memory = p->memory; /* another one, after exec */
		if (all_quiet(c, memory, now >= look, now < start + PATIENCE_NS) &&
		    ((rc = are_all_ours(c, p, &all, e)) || all))
			break;
		if (now >= look)
			look = now + LOOK_NS;
		control_sleep_until(c, look, false);
		control_drain(c);
	}
	control_unblock_signals(c);
	if (rc) /* a thread that runs on may be where code is to change */
		control_resume(c, pid);
	return p ? rc : err_set(e, ERR_ENDED, "process %d has ended", pid);
}

static bool can_go(struct control *c, const struct control_thread *t, uint32_t memory)
{
	return t->stopped && !t->held && is_of(c, t, memory);
}

/* A thread that goes on from a stop in a call that it sleeps in. */
struct sleeper {
	int pid, tid;
	uint64_t cpu_ns; /* that it had used up to then */
};

/* Whether it is asleep again, or was: the time may be over. On a busy machine it may take long to
 * get a CPU for that. One that a signal has stopped waits for us. */
static bool has_entered(const struct sleeper *s)
{
	char state = thread_state(s->tid);
	return !state || strchr("tTZX", state) || thread_call(s->pid, s->tid).number >= 0 ||
	       thread_cpu_ns(s->pid, s->tid) > s->cpu_ns + ENTERED_NS;
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

/* Threads that sleep go first, and are asleep again before the others run: one of these might put
 * a filter on all (seccomp) that does not know restart_syscall(), while a sleeper is on its way
 * there. */
void control_release_sleepers(struct control *c, uint32_t memory)
{
	VEC(struct sleeper) sleepers = {0};
	uint64_t end = now_ns() + ENTER_NS;
	uint32_t others = 0;
	for (uint32_t i = c->threads.len; i-- > 0;) { /* they may leave us */
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
		if (is_of(c, *t, memory))
			(*t)->in_kernel = false; /* its stop will be passed */
		if (can_go(c, *t, memory))
			control_release(c, *t);
	}
}

/* It may have ended as the first thread, or wait for a vfork child of its own. */
static bool is_quiet_again(struct control_thread *t, bool patient)
{
	if (!t || is_quiet(t))
		return true;
	if (!t->asked)
		control_ask(t);
	look_at(t, patient);
	return is_quiet(t);
}

/* The kernel's timers take 50 us more than they are told; giving the CPU away, milliseconds.
 */
static void sleep_shortly(uint64_t ns)
{
	uint64_t end = now_ns() + ns;
	bool alone = sysconf(_SC_NPROCESSORS_ONLN) < 2;
	if (ns > 200000 || alone)
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
	for (uint32_t quiet = 0; quiet < count;) {
		quiet = 0;
		for (uint32_t i = 0; i < count; i++)
			quiet += is_quiet_again(control_thread(c, tids[i]),
						now_ns() < start + PATIENCE_NS);
		if (quiet < count)
			control_sleep_until(c, now_ns() + LOOK_NS, false);
		control_drain(c);
	}
	control_unblock_signals(c);
}
