/* The kernel sends SIGCHLD for everything that happens to a traced thread; it is kept blocked, and
 * waiting for it is how we sleep. What happens is dealt with in control_events.c. */
#include "process/control.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "process/control_inner.h"
#include "process/launch.h"

enum {
	MILLISECOND = 1000000,
	SLEEP_MAX_NS = 100 * MILLISECOND, /* another thread of ours may have got the signal */
	LOOK_NS = MILLISECOND / 2,        /* when threads do not stop, between looks at them */
	PATIENCE_NS = 50 * MILLISECOND,   /* with threads that wait in the kernel */
	LEAVE_NS = 1000 * MILLISECOND,
	ENTER_NS = 2000 * MILLISECOND, /* for threads that were asleep to be so again */
	ENTERED_NS = MILLISECOND / 5,  /* on a processor, after which they must have been */
};

void control_watch(struct control *c, signal_watcher signals, fork_watcher forks, end_watcher ends,
		   void *ctx)
{
	c->watcher = signals;
	c->fork_watcher = forks;
	c->end_watcher = ends;
	c->watcher_ctx = ctx;
}

/* Waiting. */

/* Sleeps until something happens to a thread or the time has come; false after another signal. */
static bool sleep_until(const struct control *c, uint64_t then, const sigset_t *mask)
{
	struct signalfd_siginfo info;
	struct pollfd p = {.fd = c->child_fd, .events = POLLIN};
	uint64_t now = now_ns(), wait = then > now && !c->more ? then - now : 0;
	struct timespec t = {0, (long)(wait < SLEEP_MAX_NS ? wait : SLEEP_MAX_NS)};
	int n = ppoll(&p, 1, &t, mask);
	return n < 0 ? errno != EINTR : !n || read(c->child_fd, &info, sizeof(info)) >= 0;
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

static bool next_event(struct control *c, struct control_event *out)
{
	if (c->told == c->events.len)
		return false;
	*out = c->events.data[c->told++];
	return true;
}

uint32_t control_known(const struct control *c)
{
	return c->events.len - c->told;
}

void control_expect_end(struct control *c)
{
	c->expecting = true;
}

/* Signals of ours are let in only while we sleep, so that none comes unnoticed just before. */
bool control_wait(struct control *c, int timeout_ms, struct control_event *out)
{
	sigset_t before;
	uint64_t end = timeout_ms < 0 ? UINT64_MAX : now_ns() + (uint64_t)timeout_ms * MILLISECOND;
	if (next_event(c, out))
		return true;
	block_signals(&before);
	control_drain(c);
	bool found = next_event(c, out), undisturbed = true;
	while (!found && undisturbed && (c->threads.len || c->expecting) && now_ns() < end) {
		undisturbed = sleep_until(c, end, &before);
		control_drain(c);
		found = next_event(c, out);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return found;
}

void control_go(struct control *c, int tid)
{
	struct control_thread *t = control_thread(c, tid);
	if (!t || !t->held)
		return;
	t->held = false;
	if (t->stopped && !control_find_process(c, t->pid)->stopped)
		control_release(c, t);
}

/* Threads that become ours. */

static int seize(struct control *c, int pid, int tid, struct err *e)
{
	struct tracee tracee;
	int rc = tracee_seize(&tracee, tid, TRACEE_ENDS, e);
	if (rc)
		return rc;
	if (!control_find_process(c, pid))
		vec_push(&c->processes,
			 (struct control_process){.pid = pid, .memory = ++c->memories});
	control_add(c, pid, tid);
	return 0;
}

/* One pass over the threads of a process; returns how many were new to us, or an error if one runs
 * that cannot be ours. Some end meanwhile, some are ours already because a thread of ours made
 * them, which their first stop will tell. */
static int seize_threads(struct control *c, int pid, struct err *e)
{
	tid_list tids = {0};
	int count = 0, rc = threads_list(pid, &tids, e);
	vec_each (tid, &tids) {
		if (rc || control_thread(c, *tid))
			continue;
		int refused = seize(c, pid, *tid, e);
		count += !refused;
		if (refused && thread_lives(*tid) && thread_tracer(*tid) != getpid())
			rc = refused;
	}
	vec_free(&tids);
	return rc ? rc : count;
}

/* Stopping. */

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
	int found = p->complete ? 0 : seize_threads(c, p->pid, e);
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
	sigset_t before;
	bool all = false;
	int rc = 0;
	block_signals(&before);
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
		sleep_until(c, look, NULL);
		control_drain(c);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc) /* a thread that runs on may be where code is to change */
		control_resume(c, pid);
	return p ? rc : err_set(e, ERR_ENDED, "process %d has ended", pid);
}

static bool is_forking(struct control *c, int pid)
{
	vec_each (t, &c->threads)
		if ((*t)->tell == CONTROL_FORKED &&
		    control_find_process(c, (*t)->pid)->parent == pid)
			return true;
	return false;
}

bool control_next_forked(struct control *c, int pid, struct control_event *out)
{
	sigset_t before;
	block_signals(&before);
	for (; is_forking(c, pid); control_drain(c))
		sleep_until(c, now_ns() + LOOK_NS, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	for (uint32_t i = c->told; i < c->events.len; i++) {
		struct control_event *ev = &c->events.data[i];
		if (ev->what != CONTROL_FORKED || ev->parent != pid)
			continue;
		*out = *ev;
		memmove(ev, ev + 1, (c->events.len - i - 1) * sizeof(*ev));
		c->events.len--;
		return true;
	}
	return false;
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
 * get a processor for that. One that a signal has stopped waits for us. */
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
		else /* it needs the processor more than we do */
			nanosleep(&(struct timespec){.tv_nsec = LOOK_NS / 4}, NULL);
	}
}

/* Threads that sleep go first, and are asleep again before the others run: one of these might put
 * a filter on all (seccomp) that does not know restart_syscall(), while a sleeper is on its way
 * there. */
static void release_sleepers(struct control *c, uint32_t memory)
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
	release_sleepers(c, memory);
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

/* The kernel's timers take 50 us more than they are told; giving the processor away, milliseconds.
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
	sigset_t before;
	block_signals(&before);
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
			sleep_until(c, now_ns() + LOOK_NS, NULL);
		control_drain(c);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Leaving. */

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

/* Returns how many threads of processes that we leave are still to be waited for. */
static uint32_t leave_threads(struct control *c)
{
	uint32_t left = 0;
	for (uint32_t i = c->threads.len; i-- > 0;) {
		struct control_thread *t = c->threads.data[i];
		int tid = t->tracee.tid;
		if (!control_find_process(c, t->pid)->leaving)
			continue;
		if (t->stopped)
			control_release(c, t);
		else if (!t->tracee.interrupted.sleeping)
			ask_who_can(t);
		left += !is_left_alone(c, tid);
	}
	return left;
}

static void leave_marked(struct control *c)
{
	uint64_t end = now_ns() + LEAVE_NS;
	for (; leave_threads(c) && now_ns() < end; control_drain(c))
		sleep_until(c, now_ns() + LOOK_NS, NULL);
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
	release_sleepers(c, memory);
	leave_marked(c);
	debug(LOG_PROBE, 1, "process %d: detached, %u threads left to the kernel", pid,
	      control_threads(c, pid, NULL, 0));
}

/* Beginning. */

/* Threads that are not ours yet may make others while we go: until a pass finds none. */
int control_attach(struct control *c, int pid, struct err *e)
{
	int found, total = 0, rc = process_check_attach(pid, e);
	if (rc)
		return rc;
	if (control_find_process(c, pid))
		return err_set(e, ERR_INPUT, "process %d is observed already", pid);
	struct err why = {.code = 0};
	while ((found = seize_threads(c, pid, &why)) > 0)
		total += found;
	if (total && !found)
		return 0;
	if (total)
		control_detach(c, pid);
	*e = why;
	return found < 0 ? found : why.code;
}

static bool is_told(const struct control *c, int pid)
{
	for (uint32_t i = c->told; i < c->events.len; i++)
		if (c->events.data[i].pid == pid)
			return true;
	return false;
}

int control_launch(struct control *c, char *const *argv, int *pid, int *why, struct err *e)
{
	struct launch l;
	*why = 0;
	int rc = launch_prepare(&l, argv, e);
	if (rc)
		return rc;
	*pid = l.pid;
	rc = seize(c, l.pid, l.pid, e);
	if (rc) {
		close(l.go); /* it ends by itself */
		close(l.failed);
		waitpid(l.pid, NULL, 0);
		return rc;
	}
	rc = launch_go(&l, argv[0], why, e);
	if (rc)
		control_remove(c, control_thread(c, l.pid));
	while (!rc && !is_told(c, l.pid)) {
		sleep_until(c, now_ns() + SLEEP_MAX_NS, NULL);
		control_drain(c);
	}
	return rc;
}

/* Blocked, SIGCHLD is kept for us even if it would be ignored; but were it set to be ignored,
 * children would vanish without telling their status. */
struct control *control_new(void)
{
	sigset_t child;
	struct sigaction action = {.sa_handler = SIG_DFL};
	struct control *c = xcalloc(1, sizeof(*c));
	launch_remember_signals();
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	c->child_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	pthread_sigmask(SIG_BLOCK, &child, &c->mask_before);
	sigaction(SIGCHLD, &action, &c->child_before);
	return c;
}

void control_free(struct control *c)
{
	if (!c)
		return;
	vec_each (p, &c->processes)
		p->leaving = true;
	leave_marked(c);
	vec_each (t, &c->threads)
		free(*t);
	vec_free(&c->threads);
	vec_free(&c->processes);
	vec_free(&c->events);
	close(c->child_fd);
	sigaction(SIGCHLD, &c->child_before, NULL);
	pthread_sigmask(SIG_SETMASK, &c->mask_before, NULL);
	free(c);
}
