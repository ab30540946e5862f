/* Everything out and in again with a thread at every instruction that it comes to: of the program,
 * of moved code, of probes, and of what leads from one to the other. */
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>

#include "base/clock.h"
#include "base/hashmap.h"
#include "probe.h"
#include "probe/code/moved.h"
#include "probe/code/traps.h"
#include "process/control_inner.h"

enum { STEPS_MAX = 2000, FREE_MS = 3 };

struct stepping {
	struct family family;
	struct hashmap places; /* where the thread was when everything went out */
	uint32_t islands;
	double end;
};

static bool is_enough(const struct stepping *s)
{
	return now_seconds() >= s->end && s->places.len >= settings.batches;
}

/* The stop after a step is a signal's: the engine knows only the ordinary one. */
static bool step(struct control_thread *th)
{
	struct tracee_event ev;
	th->tracee.regset.size = 0;
	if (ptrace(PTRACE_SINGLESTEP, th->tracee.tid, NULL, NULL) ||
	    !tracee_wait(th->tracee.tid, &ev))
		return false;
	return ev.what == TRACEE_SIGNALLED && ev.signal != SIGTRAP ? control_pass(th, &ev)
								   : control_trap(th);
}

/* The same, or what a trap that is a patch leads to. */
static bool step_or_jump(const struct target *t, struct control_thread *th, uint64_t pc)
{
	uint64_t to = trap_leads_to(t, pc + t->shared->arch->emit->trap_advance);
	return to ? control_set_pc(th, to) : step(th);
}

/* Whether everything is to go out with the thread here: where it has not been yet, or on islands,
 * of which there are few. */
static bool is_wanted(struct stepping *s, const struct target *t, uint64_t pc)
{
	uint32_t site;
	bool island = island_leads_to(t, pc, &site);
	bool fresh = hashmap_get(&s->places, pc) == HASHMAP_NONE;
	s->islands += island;
	if (fresh)
		hashmap_put(&s->places, pc, 1);
	return island || (fresh && !settings.islands);
}

/* On to an instruction that is wanted; false if it finds none. */
static bool step_on(struct stepping *s, const struct target *t, struct control_thread *th)
{
	struct registers r;
	for (unsigned i = 0; i < STEPS_MAX; i++) {
		if (th->in_call || !control_registers(th, &r) || !step_or_jump(t, th, r.pc) ||
		    !control_registers(th, &r))
			return false;
		if (is_wanted(s, t, r.pc))
			return true;
	}
	return false;
}

static void put_in(struct member *m)
{
	vec_clear(&m->used);
	use_named(m, 0);
	commit(m);
}

static void take_out(struct member *m)
{
	vec_each (u, &m->used)
		target_remove(m->target, u->subject);
	commit(m);
}

/* One thread that runs, as far as it goes; also without probes, where it is then. */
static void step_thread(struct stepping *s, struct member *m)
{
	struct control_thread *threads[64];
	struct registers r;
	struct control *c = m->target->shared->control;
	uint32_t count = control_threads(c, m->target->pid, threads, ARRAY_SIZE(threads));
	struct control_thread *th = threads[chance(count)];
	while (step_on(s, m->target, th) && !is_enough(s)) {
		take_out(m);
		if (!control_registers(th, &r) || (!th->in_call && !step(th)))
			break;
		put_in(m);
	}
}

static void nothing_yet(struct member *m, uint32_t from)
{
	(void)m;
	(void)from;
}

int mode_steps(char **argv)
{
	struct stepping s = {.family = {.fresh = nothing_yet}};
	struct family *f = &s.family;
	struct err e;
	bool attached = settings.pid;
	if (!attached)
		settings.pid = start_untraced(argv);
	while (!has_begun(settings.pid))
		sleep_seconds(0.01);
	family_begin(f, NULL);
	struct member *m = f->members.data[0];
	struct target *t = m->target;
	s.end = now_seconds() + settings.seconds;
	put_in(m);
	while (target_alive(t) && !is_enough(&s) && !target_stop(t, &e)) {
		t->stopped = true;
		step_thread(&s, m);
		t->stopped = false;
		control_resume(t->shared->control, t->pid);
		family_poll(f, FREE_MS);
	}
	text_printf(&f->report, "places %u\nislands %u\n", s.places.len, s.islands);
	report_write(&f->report);
	bool ended = f->ended;
	int status = f->status;
	family_end(f);
	hashmap_release(&s.places);
	if (ended || attached)
		return ended ? shell_status(status) : 0;
	return end_untraced(settings.pid);
}
