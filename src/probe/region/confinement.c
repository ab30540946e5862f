/* Programs with seccomp filters: what we may still do, and when.
 *
 * A program is not probed if its filter might forbid a call that we need, or if we cannot read the
 * filter. A program that installs such a filter while it is probed is left. In between:
 *
 * - A call that a thread makes for us is checked against its filters (process/remote.c) while all
 *   threads that could give it another filter are stopped.
 * - A call of the runtime's own needs a permission in the header (runtime/permit.h). It is given
 *   here, with all threads stopped and their filters known, and only once there are probes at all
 *   system calls that could install a filter (blocking_guard()). These probes withdraw it before
 *   the program's call is made, and wait for calls in progress.
 *
 * After such a call, the permission is given again if the filters are known and harmless, and no
 * thread is between its probe and its call. */
#include "probe/region/confinement.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "isa/calls.h"
#include "process/memory.h"
#include "process/seccomp.h"

/* The time between two readings of /proc: normally, and while a check of the filters is due. */
enum { CHECK_MS = 250, RECHECK_MS = 20 };

/* Marks calls without which probes are impossible: they have to succeed. The other calls may fail
 * with an error, but must not harm the program. */
enum { ESSENTIAL = 1 << 16 };

#define ARG(n) (1 << (n))

static const struct need {
	uint32_t groups; /* set of enum rt_may and ESSENTIAL */
	struct asked_call call;
} needs[] = {
	{ESSENTIAL, {SYS_memfd_create, {0, MFD_CLOEXEC}, ARG(1)}},
	{ESSENTIAL,
	 {SYS_mmap, {0, 0, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE}, ARG(2) | ARG(3)}},
	{ESSENTIAL,
	 {SYS_mmap, {0, 0, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS}, ARG(2) | ARG(3)}},
	{ESSENTIAL,
	 {SYS_mmap, {0, 0, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS}, ARG(2) | ARG(3)}},
	{ESSENTIAL,
	 {SYS_mmap,
	  {0, 0, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE},
	  ARG(2) | ARG(3)}},
	{ESSENTIAL | RT_MAY_OPEN_CLOCK, {SYS_munmap, {0}, 0}},
	{ESSENTIAL | RT_MAY_OPEN_CLOCK | RT_MAY_EVENTS | RT_MAY_INSPECT, {SYS_close, {0}, 0}},
	{ESSENTIAL, {SYS_madvise, {0, 0, MADV_DONTDUMP}, ARG(2)}},
	{ESSENTIAL, {SYS_madvise, {0, 0, MADV_WIPEONFORK}, ARG(2)}},
	{ESSENTIAL, {SYS_rt_sigreturn, {0}, 0}},
	{ESSENTIAL, {SYS_restart_syscall, {0}, 0}},
	/* For the signal by which the runtime reports that modules were loaded. */
	{ESSENTIAL, {SYS_getpid, {0}, 0}},
	{ESSENTIAL | RT_MAY_GETTID, {SYS_gettid, {0}, 0}},
	{ESSENTIAL, {SYS_kill, {0, 0}, ARG(1)}},
	{ESSENTIAL, {SYS_rt_tgsigqueueinfo, {0, 0, CONTROL_SIGNAL}, ARG(2)}},
	{RT_MAY_SIGNAL | RT_MAY_INSPECT, {SYS_pidfd_open, {0, 0}, ARG(1)}},
	{RT_MAY_SIGNAL | RT_MAY_INSPECT, {SYS_ppoll, {0}, 0}},

	{RT_MAY_OPEN_CLOCK | RT_MAY_EVENTS,
	 {SYS_perf_event_open,
	  {0, 0, UINT64_MAX, UINT64_MAX, PERF_FLAG_FD_CLOEXEC},
	  ARG(1) | ARG(2) | ARG(3) | ARG(4)}},
	{RT_MAY_OPEN_CLOCK, {SYS_mmap, {0, 0, PROT_READ, MAP_SHARED}, ARG(2) | ARG(3)}},
	{RT_MAY_OPEN_CLOCK, {SYS_mmap, {0, 0, PROT_READ, MAP_SHARED | MAP_FIXED}, ARG(2) | ARG(3)}},
	{RT_MAY_ASK_CLOCK, {SYS_clock_gettime, {CLOCK_THREAD_CPUTIME_ID}, ARG(0)}},
	{RT_MAY_EVENTS, {SYS_fcntl, {0}, 0}},
	{RT_MAY_EVENTS, {SYS_ioctl, {0, PERF_EVENT_IOC_ID}, ARG(1)}},
	{RT_MAY_EVENTS, {SYS_read, {0}, 0}},
	{RT_MAY_INSPECT, {SYS_process_vm_readv, {0}, 0}},
};

/* ---- what filters leave ---- */

static uint32_t permitted_by(const struct thread_filters *f)
{
	uint32_t may = RT_MAY_ALL | ESSENTIAL;
	for (uint32_t i = 0; i < ARRAY_SIZE(needs); i++) {
		enum call_verdict v = filters_verdict(f, &needs[i].call);
		if (v == CALL_HARMS)
			may &= ~needs[i].groups;
		else if (v == CALL_FAILS)
			may &= ~(needs[i].groups & ESSENTIAL);
	}
	return may;
}

static uint32_t permitted_to(const struct control_thread *th)
{
	struct thread_filters f;
	/* A thread that cannot be stopped now may be in the very call that installs a filter. */
	if (!th->stopped)
		return thread_may_be_confined(th->pid, th->tracee.tid) ? 0 : RT_MAY_ALL | ESSENTIAL;
	filters_read(&f, th->tracee.tid);
	uint32_t may = permitted_by(&f);
	filters_release(&f);
	return may;
}

static int refuse(const struct target *t, struct err *e)
{
	if (!filters_are_readable())
		return err_set(e, ERR_CONFINED,
			       "process %d restricts its system calls (seccomp), and only root can "
			       "find out whether probes are safe in it; try again with sudo",
			       t->pid);
	return err_set(e, ERR_CONFINED,
		       "process %d restricts its system calls (seccomp) and may not make all "
		       "system calls that probes need",
		       t->pid);
}

int confinement_check(struct target *t, struct err *e)
{
	struct control_thread *threads[RT_AREAS];
	uint32_t count = control_users(t->shared->control, t->pid, threads, RT_AREAS);
	uint32_t may = RT_MAY_ALL | ESSENTIAL, clocks = RT_MAY_OPEN_CLOCK | RT_MAY_ASK_CLOCK;
	for (uint32_t i = 0; i < count && i < RT_AREAS && may; i++)
		may &= permitted_to(threads[i]);
	t->confinement.permitted = may & ESSENTIAL && may & clocks ? may & RT_MAY_ALL : 0;
	if (t->confinement.permitted)
		return 0;
	int rc = refuse(t, e);
	t->problem = *e;
	return rc;
}

int confinement_check_untouched(const struct target *t, struct err *e)
{
	return process_is_confined(t->pid) && !filters_are_readable() ? refuse(t, e) : 0;
}

/* ---- permissions ---- */

void confinement_begin(struct target *t)
{
	target_header(t)->may = t->confinement.permitted & (RT_MAY_SIGNAL | RT_MAY_GETTID);
}

static bool is_permission_current(const struct target *t)
{
	const struct confinement *c = &t->confinement;
	const struct rt_header *h = target_header(t);
	return c->permitted && h->may == c->permitted && h->confined == c->before;
}

/* In strict mode, even probes that make no call do harm: on x86-64, reading the time-stamp counter
 * raises a signal. */
int confinement_check_batch(struct target *t, struct err *e)
{
	if (t->leaving || is_permission_current(t))
		return 0;
	int rc = confinement_check(t, e);
	if (rc)
		target_header(t)->may = 0;
	return rc;
}

/* /proc is read as well, because a filter may have been installed by a call that has no probe. */
bool confinement_is_due(struct target *t)
{
	struct confinement *c = &t->confinement;
	const struct rt_header *h = target_header(t);
	uint64_t now = now_ns();
	bool due = c->guarded &&
		   (!c->permitted || __atomic_load_n(&h->may, __ATOMIC_SEQ_CST) != c->permitted ||
		    __atomic_load_n(&h->confined, __ATOMIC_SEQ_CST) != c->before);
	if (now - c->looked < (due ? RECHECK_MS : CHECK_MS) * UINT64_C(1000000))
		return false;
	c->looked = now;
	bool confined = thread_is_confined(t->pid);
	bool new = confined && !c->known;
	c->known = confined;
	if (new && !due)
		__atomic_store_n(&target_header(t)->may, 0, __ATOMIC_SEQ_CST);
	return due || new;
}
