/* Creating and freeing an engine, and the functions that others call on targets. */
#include "probe/engine/engine.h"

#include <stdlib.h>

#include "flow/entry.h"
#include "isa/calls.h"
#include "probe/code/blocking.h"
#include "probe/code/module_facts.h"
#include "probe/code/moved.h"
#include "probe/code/rendezvous.h"
#include "probe/engine/leave.h"
#include "probe/region/areas.h"
#include "probe/region/calls.h"
#include "probe/region/inject.h"
#include "probe/region/read.h"
#include "probe/stop/adopt_measured.h"
#include "probe/stop/batch.h"
#include "probe/stop/rehearse.h"
#include "process/memory.h"

struct engine *engine_new(const struct engine_options *o)
{
	struct engine *g = xcalloc(1, sizeof(*g));
	struct shared *s = &g->shared;
	if (o)
		s->options = *o;
	s->arch = arch_native();
	s->control = control_new();
	s->codes = codes_new(NULL);
	s->walker = walker_new();
	s->window = xcalloc(1, sizeof(*s->window));
	s->facts = module_facts_new();
	arena_init(&s->arena);
	arena_init(&s->tmp);
	events_watch(g);
	return g;
}

void engine_on_demand(struct engine *g)
{
	g->shared.options.on_demand = true;
	control_ignore_births(g->shared.control);
}

struct studying {
	struct shared *shared;
	bool known;
};

static void study_code(void *ctx, struct code *code, uint64_t bias)
{
	struct studying *s = ctx;
	(void)bias;
	if (code->flow && !call_sites_known(s->shared, code))
		s->known = false;
}

bool engine_study(struct engine *g, struct space *s)
{
	struct studying study = {&g->shared, true};
	space_codes(s, study_code, &study);
	return study.known;
}

static void shared_release(struct shared *s)
{
	module_facts_free(s->facts);
	walker_free(s->walker);
	codes_free(s->codes);
	free(s->window);
	arena_release(&s->arena);
	arena_release(&s->tmp);
}

void engine_free(struct engine *g)
{
	/* Targets may be added while we leave the first ones. */
	for (uint32_t i = 0; i < g->targets.len; i++)
		target_leave(g->targets.data[i]);
	control_free(g->shared.control);
	walks_report(&g->shared, NULL, NULL);
	while (g->targets.len)
		engine_drop(g, g->targets.data[0]);
	vec_free(&g->targets);
	vec_free(&g->events);
	shared_release(&g->shared);
	free(g);
}

struct codes *engine_codes(struct engine *g)
{
	return g->shared.codes;
}

void engine_define_event(struct engine *g, uint32_t slot, uint32_t type, uint64_t config)
{
	struct shared *s = &g->shared;
	s->perf_events[slot].type = type;
	s->perf_events[slot].config = config;
	if (slot >= s->perf_event_count)
		s->perf_event_count = slot + 1;
	vec_each (t, &g->targets)
		if ((*t)->region.in)
			target_set_events(*t);
}

/* ---- changes ---- */

static uint32_t metrics_in_use(const struct target *t)
{
	uint32_t all = 0;
	vec_each (s, &t->code->subjects)
		if (s->wanted)
			all |= s->request.metrics;
	return all;
}

int target_commit(struct target *t, struct batch_result *result, struct err *e)
{
	struct batch_result ignored;
	result = result ? result : &ignored;
	*result = (struct batch_result){0};
	if (!t->alive || !t->region.in)
		return target_unusable(t, e);
	rendezvous_add(t);
	blocking_guard(t);
	t->confinement.guarded = true;
	bool watched = t->code->watch_waits;
	if (watched || metrics_in_use(t) & (1 << RT_SYNC | 1 << RT_IO | 1 << RT_BYTES))
		blocking_add(t);
	target_header(t)->watch_waits = watched;
	waits_forget_removed(t);
	return batch_commit(t, result, e);
}

void target_leave(struct target *t)
{
	if (t->alive)
		leave(t);
}

void target_rest(struct target *t)
{
	struct engine *g = engine_of(t);
	g->goes_on = true;
	target_leave(t);
	g->goes_on = false;
}

void engine_expect_end(struct engine *g, int pid)
{
	g->launched = pid;
	control_expect_end(g->shared.control);
}

/* ---- where threads are ---- */

int target_look(struct target *t, struct err *e)
{
	struct stop stop = {.target = t};
	if (!t->alive || !t->region.in)
		return target_unusable(t, e);
	int rc = stop_to_walk(t, NULL, e);
	if (rc)
		return rc;
	stop_settle(&stop);
	stop_introduce(&stop);
	adopt_newborn(&stop);
	stop_publish(&stop);
	control_resume(t->shared->control, t->pid);
	return 0;
}

void engine_walks(struct engine *g, walk_visitor visit, void *ctx)
{
	walks_report(&g->shared, visit, ctx);
}

bool target_original(const struct target *t, uint64_t *pc)
{
	const struct target *inherited = t->lineage->inherited;
	return to_nearest_original(inherited ? inherited : t, pc);
}

/* Whether the area's last call is the one that a thread is in. The thread is at the call
 * instruction or after it. */
static bool is_in_call(const struct target *t, const struct rt_area *a, uint64_t pc, uint64_t sp)
{
	uint64_t size = arch_calls(t->shared->arch)->insn_size;
	return a->call_sp == sp && (a->call_pc == pc || a->call_pc + size == pc);
}

/* Where the call instruction at `from` returns to, if it calls the pinned function that contains
 * pc; 0: it does not. */
static uint64_t return_from_pinned(const struct target *t, uint64_t from, uint64_t pc)
{
	struct place call = space_find(t->space, from), at = space_find(t->space, pc);
	uint64_t callee = at.code == call.code ? pinned_around(at.code, at.va) : 0;
	struct insn in;
	return callee && decode_at(call.code->module, call.code->arch, call.va, DECODE_FLOW, &in) &&
			       in.kind == INSN_CALL && in.target == callee
		       ? from + in.length
		       : 0;
}

/* Adds the registers that the area has noted, if they are those of the call that the thread is in.
 * A blocked thread does not change them. If it has continued after they were read here, the checks
 * that follow fail, because its area has another call by then. */
static bool add_call_registers(const struct target *t, const struct rt_area *a, uint64_t pc,
			       struct registers *r)
{
	const struct arch *arch = t->shared->arch;
	uint64_t fp = a->call_fp, link = a->call_link, from = a->call_pc, sp = a->call_sp;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (pc == r->pc) {
		link = return_from_pinned(t, from, pc);
		sp -= arch->link == REG_NONE ? sizeof(uint64_t) : 0; /* the return address */
		if (!link || sp != r->reg[arch->sp] || !a->wait_since)
			return false;
	} else if (!is_in_call(t, a, pc, r->reg[arch->sp])) {
		return false;
	}
	registers_set(r, arch->fp, fp);
	if (arch->link != REG_NONE)
		registers_set(r, arch->link, link);
	return true;
}

/* Either probes in moved code have recorded the registers, or probes around calls of pinned code.
 * The second area is for probes that a signal handler hit. */
void target_call_registers(const struct target *t, int tid, struct registers *r)
{
	uint64_t pc = r->pc;
	uint32_t i = t->region.in ? areas_number(t, tid) : RT_AREAS;
	if (i < RT_AREAS && target_original(t, &pc) &&
	    !add_call_registers(t, target_area(t, i), pc, r))
		add_call_registers(t, target_area(t, i + RT_AREAS), pc, r);
}
