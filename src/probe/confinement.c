/* Programs that may not make all system calls (seccomp): what is left for us, and from when on.
 *
 * A program whose filter may forbid a call that we need, or whose filter we cannot read, is not
 * probed, and one that confines itself while it is probed is left. In between:
 *
 *	- a call that a thread makes for us is checked against its filters (process/remote.c) while
 *	  all threads that could give it another one are stopped;
 *	- a call of the runtime's own needs a permission in the header (runtime/permit.h). That is
 *	  given here, with all threads stopped and their filters known, and only once there are
 *	  probes at all system calls that could put a filter on (blocking_guard()). These take it
 *	  back before the program's call is made, and wait for calls that are in progress.
 *
 * After such a call the permission is given again if the filters are known and harmless, and no
 * thread is between its probe and its call. */
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "isa/calls.h"
#include "probe/target.h"
#include "process/memory.h"
#include "process/seccomp.h"

enum { LOOK_MS = 250, SOON_MS = 20 };

/* What has to pass for there to be probes at all; with the rest, an error does no harm. */
enum { ESSENTIAL = 1 << 16 };

#define ARG(n) (1 << (n))

static const struct need {
	uint32_t groups; /* of enum rt_may, and ESSENTIAL */
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
	{ESSENTIAL | RT_MAY_OPEN_CLOCK | RT_MAY_EVENTS | RT_MAY_LOOK, {SYS_close, {0}, 0}},
	{ESSENTIAL, {SYS_madvise, {0, 0, MADV_DONTDUMP}, ARG(2)}},
	{ESSENTIAL, {SYS_madvise, {0, 0, MADV_WIPEONFORK}, ARG(2)}},
	{ESSENTIAL, {SYS_rt_sigreturn, {0}, 0}},
	{ESSENTIAL, {SYS_restart_syscall, {0}, 0}},
	/* Being told of images. */
	{ESSENTIAL, {SYS_getpid, {0}, 0}},
	{ESSENTIAL | RT_MAY_NUMBER, {SYS_gettid, {0}, 0}},
	{ESSENTIAL, {SYS_kill, {0, 0}, ARG(1)}},
	{ESSENTIAL, {SYS_rt_tgsigqueueinfo, {0, 0, CONTROL_SIGNAL}, ARG(2)}},
	{RT_MAY_TELL | RT_MAY_LOOK, {SYS_pidfd_open, {0, 0}, ARG(1)}},
	{RT_MAY_TELL | RT_MAY_LOOK, {SYS_ppoll, {0}, 0}},

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
	{RT_MAY_LOOK, {SYS_process_vm_readv, {0}, 0}},
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
	/* One that cannot be stopped now may be in the very call that confines it. */
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
			       "process %d restricts its system calls (seccomp), and only root "
			       "could find out whether probes would be safe in it",
			       t->pid);
	return err_set(e, ERR_CONFINED,
		       "process %d restricts its system calls (seccomp) and may not make all "
		       "those that probes need",
		       t->pid);
}

int confinement_check(struct target *t, struct err *e)
{
	struct control_thread *threads[RT_AREAS];
	uint32_t count = control_users(t->engine->control, t->pid, threads, RT_AREAS);
	uint32_t may = RT_MAY_ALL | ESSENTIAL, clocks = RT_MAY_OPEN_CLOCK | RT_MAY_ASK_CLOCK;
	for (uint32_t i = 0; i < count && i < RT_AREAS && may; i++)
		may &= permitted_to(threads[i]);
	t->permitted = may & ESSENTIAL && may & clocks ? may & RT_MAY_ALL : 0;
	if (t->permitted)
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
	target_header(t)->may = t->permitted & (RT_MAY_TELL | RT_MAY_NUMBER);
}

static bool makes_call_at(const struct target *t, uint64_t pc)
{
	const struct arch_calls *k = arch_calls(t->engine->arch);
	uint8_t insn[sizeof(k->insn)];
	return memory_read(t->pid, pc, insn, k->insn_size) == k->insn_size &&
	       !memcmp(insn, k->insn, k->insn_size);
}

/* Whether the thread may have passed a probe and not yet made the call. */
static bool has_passed(const struct target *t, const struct stopped_walk *w)
{
	if (!w->known || w->unsettled || w->interrupted)
		return true;
	bool passed_on = engine_calling_frame(&w->walk) != w->walk.frames.data;
	return !w->in_call && (passed_on || (w->probed && makes_call_at(t, w->registers.pc)));
}

static bool is_pending(const struct target *t, uint32_t first)
{
	const struct engine *g = t->engine;
	bool passed = target_header(t)->confined != t->confined_before;
	for (uint32_t i = first; i < g->walks.len; i++) {
		const struct stopped_walk *w = g->walks.data[i];
		if (w->target == t &&
		    ((w->in_call && call_confines(&w->call)) || (passed && has_passed(t, w))))
			return true;
	}
	return false;
}

static bool is_settled(const struct target *t)
{
	const struct rt_header *h = target_header(t);
	return t->permitted && h->may == t->permitted && h->confined == t->confined_before;
}

/* Not even probes that make no call are harmless in strict mode: on x86-64, reading the time-stamp
 * counter raises a signal then. */
int confinement_check_batch(struct target *t, struct err *e)
{
	if (t->leaving || is_settled(t))
		return 0;
	int rc = confinement_check(t, e);
	if (rc)
		target_header(t)->may = 0;
	return rc;
}

bool confinement_look(struct target *t, uint32_t first_walk)
{
	struct rt_header *h = target_header(t);
	struct err e;
	if (!t->guarded)
		return true;
	if (h->may == t->permitted && h->confined == t->confined_before)
		return t->permitted;
	h->may = 0;
	if (is_pending(t, first_walk))
		return true;
	if (confinement_check(t, &e))
		return false;
	t->confined_before = h->confined;
	h->calling = 0; /* whoever was in a call has come out, or never will */
	__atomic_store_n(&h->may, t->permitted, __ATOMIC_SEQ_CST);
	return true;
}

/* A filter may have come by a call that has no probe. */
bool confinement_is_due(struct target *t)
{
	const struct rt_header *h = target_header(t);
	uint64_t now = now_ns();
	bool due = t->guarded &&
		   (!t->permitted || __atomic_load_n(&h->may, __ATOMIC_SEQ_CST) != t->permitted ||
		    __atomic_load_n(&h->confined, __ATOMIC_SEQ_CST) != t->confined_before);
	if (now - t->confined_looked < (due ? SOON_MS : LOOK_MS) * UINT64_C(1000000))
		return false;
	t->confined_looked = now;
	bool confined = thread_is_confined(t->pid);
	bool new = confined && !t->confined_known;
	t->confined_known = confined;
	if (new && !due)
		__atomic_store_n(&target_header(t)->may, 0, __ATOMIC_SEQ_CST);
	return due || new;
}
