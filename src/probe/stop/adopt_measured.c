/* Adopts activations that were already running when their probes went in: they are found on the
 * stacks of the stopped threads, and count from now on. Ends activations of removed subjects. */
#include "probe/stop/adopt_measured.h"

#include "base/order.h"
#include "isa/calls.h"
#include "probe/code/sites.h"
#include "probe/region/calls.h"
#include "probe/stop/lists.h"

struct catching_up {
	struct target *target;
	struct lists lists;
};

static bool is_in_loop(const struct subject *s, uint64_t va)
{
	uint32_t n = ORDER_UP_TO(s->loop_code.data, s->loop_code.len, start, va);
	return n && va < s->loop_code.data[n - 1].end;
}

/* Whether the frame has a running activation of the subject. The innermost frame may be just before
 * the entry: then the entry probe will begin the activation, unless the probes there were executed
 * already. */
static bool is_active(struct catching_up *c, uint32_t number, const struct site *site,
		      const struct frame *f, bool probed)
{
	const struct subject *s = &c->target->code->subjects.data[number];
	if (!s->fresh || s->purpose != PURPOSE_MEASURE || !(s->tracked || s->request.metrics))
		return false;
	uint64_t va = f->exact ? f->va : f->va - 1;
	bool at_entry = f->exact && va == s->entry && !probed;
	if (s->loop != LOOP_NONE)
		return !at_entry && is_in_loop(s, va);
	return !f->exact || va < site->start || (va >= s->entry && !at_entry);
}

/* A fresh subject with this purpose in the frame's function; NULL: none. */
static const struct subject *fresh_in(struct target *t, const struct frame *f, enum purpose purpose)
{
	const struct site *site = site_of(t, f);
	for (uint32_t i = 0; site && i < site->subjects.len; i++) {
		const struct subject *s = &t->code->subjects.data[site->subjects.data[i]];
		if (s->fresh && s->purpose == purpose)
			return s;
	}
	return NULL;
}

/* The pc of the subject's probe of this kind that a thread in the frame has passed. If the frame
 * makes the system call itself, the thread is at the instruction or after it. If the frame has
 * called pinned code that makes it, the thread has passed the last probe before the return
 * address. */
static uint64_t probe_passed(const struct target *t, const struct subject *s,
			     enum rt_probe_kind kind, const struct frame *f)
{
	uint64_t size = arch_calls(t->shared->arch)->insn_size, found = 0;
	vec_each (number, &s->probes) {
		const struct rt_probe *p =
			(const struct rt_probe *)target_at(t, RT_PROBE_TABLE) + *number;
		bool here = f->exact ? p->pc == f->pc || p->pc + size == f->pc
				     : p->constant && p->pc < f->pc && p->pc > found;
		if (p->kind == kind && (kind == RT_WAIT || here))
			found = p->pc;
	}
	return found ? found : f->pc;
}

static void set_wait(const struct lists *l, const struct frame *f, enum rt_probe_kind probe,
		     struct rt_wait_cell cell, uint32_t call)
{
	struct rt_area *a = l->area;
	a->wait_kind = call & RT_CALL_CLASS;
	a->wait_probe = probe;
	a->wait_cfa = f->cfa;
	a->wait_pc = cell.pc;
	a->wait_object = cell.object;
	a->wait_number = cell.call;
	a->wait_call = call;
	a->wait_bytes = 0;
	a->inner_kind = RT_WAIT_NONE;
	a->wait_since = l->now[RT_WALL];
}

/* Notes the registers as note_registers() in runtime/wait.c does before a system call. If pinned
 * code makes the call, it is the innermost frame, and its caller has the probe. */
static void set_registers(const struct lists *l, const struct stopped_walk *w, uint64_t pc)
{
	const struct arch *arch = l->target->shared->arch;
	const struct registers *r = &w->registers;
	const struct frame *innermost = &w->walk.frames.data[0];
	struct rt_area *a = l->area;
	a->call_pc = pc;
	a->call_sp = calling_frame(&w->walk) == innermost ? r->reg[arch->sp] : innermost->cfa;
	a->call_fp = r->reg[arch->fp];
	a->call_link = arch->link == REG_NONE ? 0 : r->reg[arch->link];
}

/* Begins the wait of a thread that is in a system call whose probes have just gone in. */
static void begin_call(const struct lists *l, const struct stopped_walk *w)
{
	const struct frame *f = calling_frame(&w->walk);
	const struct subject *s = fresh_in(l->target, f, PURPOSE_BLOCK);
	struct rt_wait_cell cell = {.call = (uint32_t)w->call.number};
	uint32_t call = s ? calls_class(&w->call, &cell.object) : 0;
	if (!call)
		return;
	cell.pc = probe_passed(l->target, s, RT_BLOCK, f);
	set_registers(l, w, cell.pc);
	set_wait(l, f, RT_BLOCK, cell, call);
}

/* Begins the outermost wait that was in progress when its probes went in. */
static void begin_waiting(const struct lists *l, const struct stopped_walk *w)
{
	for (uint32_t i = w->walk.frames.len; !l->area->wait_since && i-- > 0;) {
		const struct frame *f = &w->walk.frames.data[i];
		const struct subject *s = fresh_in(l->target, f, PURPOSE_SPIN);
		if (!s || !f->cfa || (f->exact && f->va <= s->entry))
			continue;
		struct rt_wait_cell cell = {.pc = probe_passed(l->target, s, RT_WAIT, f),
					    .object = RT_NO_OBJECT,
					    .call = RT_NO_CALL};
		set_wait(l, f, RT_WAIT, cell, RT_WAIT_SYNC);
	}
	if (!l->area->wait_since)
		begin_call(l, w);
}

/* Begins the activations of one frame, outermost loops first. */
static uint32_t begin_in_frame(struct catching_up *c, const struct stopped_walk *w, uint32_t frame)
{
	const struct frame *f = &w->walk.frames.data[frame];
	const struct site *site = site_of(c->target, f);
	uint32_t found = 0, deeper = 0;
	for (uint32_t depth = 0; site && depth != UINT32_MAX; depth = deeper) {
		deeper = UINT32_MAX;
		for (uint32_t k = 0; k < site->subjects.len; k++) {
			uint32_t number = site->subjects.data[k];
			uint32_t its = c->target->code->subjects.data[number].depth;
			if (its == depth && is_active(c, number, site, f, w->probed))
				found += lists_begin(&c->lists, number, &w->walk, frame);
			else if (its > depth && its < deeper)
				deeper = its;
		}
	}
	return found;
}

uint32_t adopt_measured(struct target *t, const struct stopped_walk *w)
{
	struct catching_up c = {.target = t};
	uint32_t found = 0;
	if (!w->walk.frames.len || !lists_open(&c.lists, t, w->tid))
		return 0;
	begin_waiting(&c.lists, w);
	for (uint32_t i = w->walk.frames.len; i-- > 0;)
		found += begin_in_frame(&c, w, i);
	lists_close(&c.lists);
	return found;
}

void end_activations(struct target *t, int tid)
{
	struct lists l;
	if (!lists_open(&l, t, tid))
		return;
	lists_end(&l);
	lists_close(&l);
}

void adopt_newborn(struct stop *s)
{
	struct target *t = s->target;
	vec_each (subject, &t->code->subjects)
		subject->fresh = subject->in;
	vec_each (w, &s->walks)
		if (w->newborn && w->known && !w->unsettled && !w->interrupted)
			adopt_measured(t, w);
	vec_each (subject, &t->code->subjects)
		subject->fresh = false;
}
