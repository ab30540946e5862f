#include "probe/engine/events.h"

#include <stdlib.h>

#include "base/log.h"
#include "probe/code/moved.h"
#include "probe/code/rendezvous.h"
#include "probe/code/traps.h"
#include "probe/code/unload.h"
#include "probe/engine/fork_contexts.h"
#include "probe/engine/inherit.h"
#include "probe/engine/overhead.h"
#include "probe/region/areas.h"
#include "probe/region/confinement.h"
#include "probe/region/inject.h"
#include "probe/region/layout.h"
#include "probe/region/read.h"
#include "probe/region/retire.h"
#include "probe/region/steps.h"
#include "probe/stop/abandon.h"
#include "probe/stop/batch.h"
#include "process/memory.h"

void event_report(struct engine *g, enum engine_happening what, struct target *t,
		  struct target *parent, int status)
{
	vec_push(&g->events, (struct engine_event){what, t->pid, t, parent, status});
}

void target_end(struct target *t, uint64_t cpu_ns)
{
	t->hits.ended_run_ns = cpu_ns;
	threads_retire_all(t);
	keep_made(t);
	t->alive = false;
	target_unmap(t);
}

/* The child's memory has the parent's probes; it is measured separately from now on, or later. */
static struct target *fork_target(struct engine *g, struct target *parent, int pid, int tid)
{
	struct err e;
	struct target *t = target_new(g, pid);
	space_free(t->space);
	t->space = space_copy(parent->space, pid);
	if ((g->shared.options.lazy && target_inherit_later(t, parent)) || !parent->region.in)
		return t;
	if (target_inject_child(t, parent, tid, &e)) {
		debug(LOG_PROBE, 1, "process %d: %s", pid, e.text);
		return t;
	}
	target_inherit(t, parent, tid);
	target_set_guard(t);
	return t;
}

static void on_forked(struct engine *g, const struct control_event *ev)
{
	struct target *parent = target_of(g, ev->parent);
	if (!parent && !ev->shared) { /* the parent is gone, or was not traced yet */
		control_detach(g->shared.control, ev->pid);
		return;
	}
	if (parent && !ev->shared) {
		struct target *t = fork_target(g, parent, ev->pid, ev->tid);
		event_report(g, ENGINE_FORKED, t, parent, 0);
	}
	control_go(g->shared.control, ev->tid);
}

int target_prepare(struct target *t, struct err *e)
{
	struct batch_result ignored = {0};
	int rc = confinement_check(t, e);
	if (!rc)
		rc = target_inject(t, e);
	if (!rc)
		rc = layout_refresh(t, e);
	if (rc)
		return rc;
	overhead_begin(t);
	rendezvous_add(t);
	t->stopped = true;
	rc = batch_commit(t, &ignored, e);
	t->stopped = false;
	return rc;
}

/* A new program, stopped at its first instruction. If it is dynamically linked, it runs on until
 * its libraries are loaded. */
static void on_executed(struct engine *g, const struct control_event *ev)
{
	struct err e;
	struct target *old = target_of(g, ev->pid);
	if (old)
		target_end(old, process_cpu_ns(ev->pid));
	if (g->shared.options.on_demand) {
		control_detach(g->shared.control, ev->pid);
		vec_push(&g->events, (struct engine_event){.what = ENGINE_EXECUTED,
							   .pid = ev->pid,
							   .parent = old});
		return;
	}
	struct target *t = target_new(g, ev->pid);
	t->lineage->before = old;
	t->code->watch_waits = old && old->code->watch_waits;
	if (g->shared.options.lazy && ev->pid != g->launched) {
		t->lineage->held = ev->tid;
		event_report(g, ENGINE_EXECUTED, t, old, 0);
		return;
	}
	if (target_prepare(t, &e)) {
		debug(LOG_PROBE, 1, "process %d: %s", ev->pid, e.text);
		t->problem = e;
	}
	if (t->region.in)
		confinement_begin(t);
	if (t->region.in && rendezvous_comes(t)) {
		t->lineage->loading = true;
		control_go(g->shared.control, ev->tid);
		return;
	}
	t->lineage->held = ev->tid;
	event_report(g, ENGINE_EXECUTED, t, old, 0);
}

static void on_signalled(struct engine *g, const struct control_event *ev)
{
	struct target *t = target_of(g, ev->pid);
	struct err ignored;
	if (!t || !rendezvous_consistent(t)) {
		control_go(g->shared.control, ev->tid);
		return;
	}
	layout_refresh(t, &ignored);
	forget_unloaded(t);
	steps_forget(t);
	areas_introduce(t);
	t->lineage->held = ev->tid;
	event_report(g, t->lineage->loading ? ENGINE_EXECUTED : ENGINE_LOADED, t,
		     t->lineage->loading ? t->lineage->before : NULL, 0);
	t->lineage->loading = false;
}

static void on_gone(struct engine *g, const struct control_event *ev)
{
	struct target *t = target_of(g, ev->pid);
	struct control_event forked;
	if (!t && ev->pid == g->launched)
		vec_push(&g->events, (struct engine_event){.what = ENGINE_ENDED,
							   .pid = ev->pid,
							   .status = ev->status});
	if (!t)
		return;
	/* Its last children are handled while their parent is still a target. */
	while (control_next_forked(g->shared.control, ev->pid, &forked))
		on_forked(g, &forked);
	target_end(t, ev->cpu_ns);
	event_report(g, ENGINE_ENDED, t, NULL, ev->status);
}

/* The thread may have been killed since. */
static void on_born(struct engine *g, struct target *t, int tid)
{
	struct control_thread *th = control_thread(g->shared.control, tid);
	if (t && t->region.in && th)
		areas_prepare(t, th);
	control_go(g->shared.control, tid);
}

void event_happened(struct engine *g, const struct control_event *ev)
{
	struct target *t = target_of(g, ev->pid);
	switch (ev->what) {
	case CONTROL_BORN: on_born(g, t, ev->tid); break;
	case CONTROL_FORKED: on_forked(g, ev); break;
	case CONTROL_EXECUTED: on_executed(g, ev); break;
	case CONTROL_SIGNALLED_US: on_signalled(g, ev); break;
	case CONTROL_ENDED:
		if (t)
			threads_retire(t, ev->tid);
		break;
	case CONTROL_GONE: on_gone(g, ev); break;
	case CONTROL_INTERRUPTED: break; /* the engine interrupts no single threads */
	}
}

bool events_handle_known(struct engine *g, int wait_ms)
{
	struct control_event ev;
	if (!control_wait(g->shared.control, wait_ms, &ev))
		return false;
	event_happened(g, &ev);
	for (uint32_t n = control_known(g->shared.control);
	     n-- && control_wait(g->shared.control, 0, &ev);)
		event_happened(g, &ev);
	return true;
}

void target_go(struct target *t)
{
	struct control *c = t->shared->control;
	int tid = t->lineage->held;
	t->lineage->held = 0;
	if (tid && t->untouched)
		control_detach(c, t->pid);
	else if (tid)
		control_go(c, tid);
}

void events_drain(struct engine *g)
{
	events_handle_known(g, 0);
	if (g->goes_on)
		return;
	for (uint32_t i = 0; i < g->targets.len; i++)
		target_go(g->targets.data[i]);
	vec_clear(&g->events);
}

/* ---- what the layers below report ---- */

static void forked(void *engine, const struct control_event *ev)
{
	on_forked(engine, ev);
}

static void changing(void *engine, struct target *t)
{
	(void)engine;
	snapshot_forget(t);
}

/* A counter's code reads, adds and writes. If a signal handler hits the same counter in between,
 * its count would be overwritten. So the interrupted thread starts the probe again when the handler
 * returns. */
static uint64_t restart_probe(const struct target *t, uint64_t pc)
{
	struct moved_code m;
	struct placed_probe p;
	if (!is_code_memory(t, pc) || !moved_code_at(t, pc, &m))
		return pc;
	uint32_t at = (uint32_t)(pc - m.start);
	if (!fragment_probe_around(m.fragment, at, &p))
		return pc;
	uint8_t *code = xmalloc(p.size);
	if (memory_read(t->pid, m.start + p.offset, code, p.size) == p.size)
		pc = m.start + p.offset +
		     t->shared->arch->emit->restart(code, p.size, at - p.offset);
	free(code);
	return pc;
}

static bool on_signal(void *ctx, struct control_signal *s)
{
	const struct target *t = target_of(ctx, s->pid);
	if (!t || (!t->region.in && !t->lineage->inherited))
		return true;
	const struct target *whose = t->lineage->inherited ? t->lineage->inherited : t;
	uint64_t to = s->trapped ? trap_leads_to(whose, s->pc) : 0;
	if (to)
		s->pc = to;
	else if (t->region.in)
		s->pc = restart_probe(t, s->pc);
	return !to;
}

static void on_forking(void *ctx, int pid, int tid, int child)
{
	struct target *t = target_of(ctx, pid);
	if (t && t->counting.on && !target_of(ctx, child))
		contexts_forked(t, tid, child);
}

static void on_ending(void *ctx, struct control_thread *th)
{
	struct target *t = target_of(ctx, th->pid);
	if (t && t->counting.on)
		counting_end_thread(t, th);
}

void events_watch(struct engine *g)
{
	g->shared.forked = forked;
	g->shared.changing = changing;
	g->shared.ctx = g;
	if (g->shared.arch)
		control_watch(g->shared.control, on_signal, on_forking, on_ending, g);
}
