/* With the target stopped: finds where every thread is, in terms of the original program.
 *
 * A thread may have been stopped inside a probe or the runtime. It runs on for a moment and is
 * stopped again, until it is at the first byte of a moved instruction or back in the program; this
 * ends, because the runtime never blocks. (Single steps would be more certain, but if we were
 * killed after one, its trap would kill the program: P7.) A thread in a system call inside moved
 * code, or whose signal handler interrupted a probe, stays there, and its memory is kept. */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "isa/calls.h"
#include "probe/code/moved.h"
#include "probe/code/sites.h"
#include "probe/code/traps.h"
#include "probe/region/layout.h"
#include "probe/region/steps.h"
#include "probe/stop/stop.h"
#include "probe/stop/where.h"
#include "process/memory.h"

enum {
	CPUS_MAX = 64,
	FIRST_RUN_NS = 3000,
	LAST_RUN_NS = 300000,  /* after a run of this length, runs start short again */
	GIVE_UP_NS = 20000000, /* all runs together */
};

/* For a thread in the program's own code: whether it has just left the probes of the instruction it
 * is at. */
static bool has_left_probes(struct target *t, const struct walk *w)
{
	const struct site *s = w->frames.len ? site_of(t, &w->frames.data[0]) : NULL;
	return s && s->address && fragment_probed(&s->fragment, w->frames.data[0].va);
}

/* Moves a thread from an island to where the island's jump leads: the jump exists only as long as
 * the patches do. */
static void leave_island(const struct target *t, struct control_thread *th)
{
	uint8_t jump[16], there[sizeof(jump)];
	struct registers r;
	uint32_t site;
	uint64_t to = control_registers(th, &r) ? island_leads_to(t, r.pc, &site) : 0;
	size_t size = to ? t->shared->arch->emit->jump(jump, r.pc, to) : 0;
	if (size && memory_read(t->pid, r.pc, there, size) == size && !memcmp(there, jump, size))
		control_set_pc(th, to);
}

/* Whether the thread is inside a probe, and can get out of it. A thread that waits for target_go()
 * must not run. */
static bool is_inside_probe(const struct target *t, struct control_thread *th)
{
	struct registers r;
	bool ignored;
	leave_island(t, th);
	if (!th->stopped || th->held || !control_registers(th, &r))
		return false;
	return is_trapped(t, th, r.pc) ||
	       (!th->in_call && is_code_memory(t, r.pc) && !to_original(t, &r.pc, &ignored));
}

static uint32_t find_threads_inside(struct target *t, int *tids, uint32_t most)
{
	struct control_thread *threads[RT_AREAS];
	uint32_t found = 0, count = control_users(t->shared->control, t->pid, threads, RT_AREAS);
	for (uint32_t i = 0; i < count && i < RT_AREAS && found < most; i++)
		if (is_inside_probe(t, threads[i]))
			tids[found++] = threads[i]->tracee.tid;
	return found;
}

/* The number of CPUs that threads of the program can use while we run on another one. */
static uint32_t spare_cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN) - 1;
	return n < 1 ? 1 : n > CPUS_MAX ? CPUS_MAX : (uint32_t)n;
}

/* Lets threads run until they are outside of probes, as many at a time as there are CPUs for them.
 * It is unknown how long a thread needs to get out, and how soon it enters the next probe. So the
 * runs get longer and longer, and then start short again. */
static void run_out_of_probes(struct target *t)
{
	int tids[CPUS_MAX];
	uint64_t ns = FIRST_RUN_NS, end = now_ns() + GIVE_UP_NS;
	uint32_t count, most = spare_cpus();
	while ((count = find_threads_inside(t, tids, most)) && now_ns() < end) {
		control_run_on(t->shared->control, tids, count, ns);
		ns = ns < LAST_RUN_NS ? ns + ns / 4 : FIRST_RUN_NS;
	}
}

/* For a thread that cannot be stopped now: whether it will continue outside of code memory. */
static bool is_away(const struct target *t, const struct control_thread *th)
{
	uint64_t sp, pc;
	if (!th->in_kernel)
		return true;
	return control_kernel_place(th, &sp, &pc) && !is_code_memory(t, pc);
}

/* On aarch64, the kernel does not show the number of a call that a stop has interrupted: it has put
 * the thread back before the call, with all registers as they were there. */
static struct call_made call_of(const struct shared *g, const struct control_thread *th,
				const struct registers *r)
{
	const struct arch_calls *k = arch_calls(g->arch);
	struct call_made c = thread_call(th->pid, th->tracee.tid);
	if (c.number >= 0 || k->original != LAYOUT_ABSENT)
		return c;
	c.number = (int)calls_register(g->arch, r, k->number);
	for (size_t i = 0; i < ARRAY_SIZE(c.arguments); i++)
		c.arguments[i] = calls_register(g->arch, r, k->argument[i]);
	return c;
}

/* Finds where one thread is, and walks its stack. Returns false if the thread or its stack may be
 * in code memory. */
static bool settle_one(struct stop *s, struct control_thread *th)
{
	struct target *t = s->target;
	struct shared *g = t->shared;
	vec_push(&s->walks, (struct stopped_walk){.target = t, .tid = th->tracee.tid});
	struct stopped_walk *w = &vec_last(&s->walks);
	leave_island(t, th);
	if (!th->stopped)
		return is_away(t, th);
	if (!control_registers(th, &w->registers))
		return false; /* it was probably killed, but that is not certain */
	uint64_t at = w->registers.pc;
	w->known = true;
	w->in_call = th->in_call;
	if (is_code_memory(t, at))
		w->unsettled = !to_original(t, &w->registers.pc, &w->probed);
	else if (is_trapped(t, th, at)) {
		w->unsettled = true;
		w->registers.pc -= g->arch->emit->trap_advance;
	}
	w->call = w->in_call ? call_of(g, th, &w->registers) : (struct call_made){.number = -1};
	memory_window_init(g->window, t->pid);
	walk_stack(g->walker, t->space, &w->registers, memory_window_word, g->window, &w->walk);
	steps_learn(t, &w->walk);
	w->probed |= w->in_call || (!is_code_memory(t, at) && has_left_probes(t, &w->walk));
	bool in_memory = w->unsettled || (th->in_call && is_code_memory(t, at));
	return !in_memory && !stack_leads_to(t, target_header(t), &w->registers, &w->walk);
}

void stop_settle(struct stop *s)
{
	struct target *t = s->target;
	struct control_thread *threads[RT_AREAS];
	stop_release(s);
	run_out_of_probes(t);
	uint32_t count = control_users(t->shared->control, t->pid, threads, RT_AREAS);
	s->clean = count <= RT_AREAS;
	for (uint32_t i = 0; i < count && i < RT_AREAS; i++)
		s->clean &= settle_one(s, threads[i]);
}
