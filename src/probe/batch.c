/* Carrying out a batch: everything is made ready while the program runs; then it is stopped once.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "probe/target.h"
#include "process/memory.h"

struct batch {
	struct target *target;
	VEC(uint32_t) sites; /* that change */
	uint32_t first_walk;
};

static int plan_all(struct batch *b, struct batch_result *result, struct err *e)
{
	struct target *t = b->target;
	traps_look(t);
	for (uint32_t i = 0; i < t->sites.len; i++) {
		struct site *s = &t->sites.data[i];
		s->dirty |= s->put_off;
		s->put_off = false;
		if (s->dirty)
			vec_push(&b->sites, i);
	}
	return sites_plan(t, b->sites.data, b->sites.len, result, e);
}

/* Nothing leads to them yet. */
static int write_fragments(struct batch *b, struct err *e)
{
	struct target *t = b->target;
	vec_each (i, &b->sites) {
		struct site *s = &t->sites.data[*i];
		if (s->next_address &&
		    !memory_write(t->pid, s->next_address, s->next.code, s->next.size))
			return err_errno(e, "code cannot be written to process %d", t->pid);
		free(s->next.code);
		s->next.code = NULL;
	}
	return 0;
}

/* Where a thread that is at `pc` in terms of the original program is to go on. */
uint64_t site_next_pc(const struct site *s, uint64_t pc, bool probed)
{
	uint32_t offset;
	uint64_t start = s->dirty ? s->next_address : s->address;
	struct thread_place at = {pc - s->bias, probed};
	if (!start || !fragment_moved(s->dirty ? &s->next : &s->fragment, &at, &offset))
		return pc;
	return start + offset;
}

/* A thread in a system call inside moved code stays there if it can: only the kernel knows how to
 * restart the call, and what follows leads back to the program. */
static void move_thread(struct target *t, const struct stopped_walk *w)
{
	struct control_thread *th = control_thread(t->engine->control, w->tid);
	struct registers now;
	if (!w->known || w->unsettled || !th || !control_registers(th, &now))
		return;
	bool was_moved = now.pc != w->registers.pc;
	const struct site *s = w->walk.frames.len ? site_of(t, &w->walk.frames.data[0]) : NULL;
	if (w->in_call && was_moved && !t->leaving)
		return;
	uint64_t to = s ? site_next_pc(s, w->registers.pc, w->probed) : w->registers.pc;
	if (to != now.pc)
		control_set_pc(th, to);
}

void move_threads(struct target *t, uint32_t first)
{
	for (uint32_t i = first; i < t->engine->walks.len; i++)
		move_thread(t, t->engine->walks.data[i]);
}

/* The new fragment takes the old one's place. Those before it, if a thread is still in one, must
 * not lead to where there was none between them, and a patch is now. */
static void replace(struct target *t, struct site *s)
{
	code_memory_retire(t, s);
	vec_each (r, &t->retired)
		if (r->site == (uint32_t)(s - t->sites.data))
			r->redirected = false;
	s->fragment = s->next;
	s->address = s->next_address;
	s->room = s->next_room;
	s->next = (struct fragment){0};
	s->next_address = 0;
	s->next_room = 0;
	s->dirty = false;
}

static void count_mechanism(const struct site *s, struct batch_result *result)
{
	bool traps = count_traps(&s->fragment);
	result->patches += s->fragment.patches.len;
	result->displaced += !traps && s->fragment.mechanism == MECHANISM_DISPLACED;
	result->relocated += !traps && s->fragment.mechanism == MECHANISM_RELOCATED;
	result->traps += traps;
}

/* Subjects that are not wanted any more are done with: their entries may be used again. */
static void settle_subjects(struct target *t, struct site *s)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < s->subjects.len; i++) {
		uint32_t number = s->subjects.data[i];
		struct subject *sub = &t->subjects.data[number];
		bool in = sub->wanted && !sub->refused && s->address && !s->unwritable;
		sub->fresh = in && !sub->in;
		sub->in = in;
		if (sub->in) {
			s->subjects.data[kept++] = number;
			continue;
		}
		target_subject(t, number)->active = 0;
		if (s->unwritable && sub->wanted)
			sub->refused = REFUSED_NOT_WRITABLE;
		vec_each (p, &sub->probes)
			vec_push(&t->probe_retired, *p);
		vec_free(&sub->probes);
	}
	s->subjects.len = kept;
}

/* The site stays as it is; what should have been added to it is refused. */
static void leave_as_is(struct target *t, struct site *s, enum refusal why,
			struct batch_result *result)
{
	code_memory_drop_next(t, s);
	s->dirty = false;
	s->put_off = true;
	if (s->counted && !s->address)
		t->counted.data[s->counted - 1].refused = (uint8_t)why;
	vec_each (number, &s->subjects) {
		struct subject *sub = &t->subjects.data[*number];
		sub->fresh = false;
		if (sub->in || !sub->wanted || sub->refused)
			continue;
		sub->refused = (uint8_t)why;
		result->refused[why]++;
	}
}

static void leave_trapped(struct batch *b, struct batch_result *result)
{
	struct target *t = b->target;
	vec_each (i, &b->sites)
		if (count_traps(&t->sites.data[*i].next))
			leave_as_is(t, &t->sites.data[*i], REFUSED_NO_ROOM, result);
}

static bool settle(struct batch *b, struct batch_result *result)
{
	struct target *t = b->target;
	clash_list clashes = {0};
	bool clean = settle_for(t, &b->first_walk, &clashes);
	vec_each (c, &clashes)
		if (c->site != SITE_NONE && t->sites.data[c->site].dirty)
			leave_as_is(t, &t->sites.data[c->site], REFUSED_BUSY, result);
	vec_free(&clashes);
	if (!traps_ready(t, b->sites.data, b->sites.len))
		leave_trapped(b, result);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < b->sites.len; i++)
		if (t->sites.data[b->sites.data[i]].dirty)
			b->sites.data[kept++] = b->sites.data[i];
	b->sites.len = kept;
	return clean;
}

static void while_stopped(struct batch *b, struct batch_result *result)
{
	struct target *t = b->target;
	struct engine *g = t->engine;
	bool clean = settle(b, result);
	areas_introduce(t);
	contexts_meet(t, b->first_walk);
	move_threads(t, b->first_walk);
	patches_undo(t, b->sites.data, b->sites.len);
	vec_each (i, &b->sites)
		replace(t, &t->sites.data[*i]);
	patches_put(t, b->sites.data, b->sites.len);
	vec_each (i, &b->sites) {
		struct site *s = &t->sites.data[*i];
		settle_subjects(t, s);
		count_mechanism(s, result);
	}
	for (uint32_t i = b->first_walk; i < g->walks.len; i++) {
		const struct stopped_walk *w = g->walks.data[i];
		if (!w->known || w->unsettled || w->interrupted)
			continue;
		end_activations(t, w->tid);
		waits_make_room(t, w->tid);
		result->caught_up += catch_up(t, w);
	}
	vec_each (s, &t->subjects)
		s->fresh = false;
	/* Walks that the runtime remembers lean on the lists. */
	__atomic_add_fetch(&target_header(t)->epoch, 1, __ATOMIC_RELEASE);
	if (clean) {
		traps_forget_retired(t);
		code_memory_reclaim(t);
		vec_each (p, &t->probe_retired)
			vec_push(&t->probe_free, *p);
		vec_clear(&t->probe_retired);
	} else {
		redirect_retired(t, b->first_walk);
	}
}

static void drop_plans(struct batch *b)
{
	struct target *t = b->target;
	for (uint32_t i = 0; i < t->sites.len; i++)
		code_memory_drop_next(t, &t->sites.data[i]);
}

int batch_commit(struct target *t, struct batch_result *result, struct err *e)
{
	struct batch b = {.target = t};
	struct engine *g = t->engine;
	bool was_stopped = t->stopped;
	int rc = plan_all(&b, result, e);
	if (!rc && b.sites.len)
		rc = write_fragments(&b, e);
	if (rc || !b.sites.len) {
		drop_plans(&b);
		goto out;
	}
	uint64_t begin = now_ns();
	if (!was_stopped)
		rc = target_stop(t, e);
	if (rc) {
		drop_plans(&b);
		goto out;
	}
	t->stopped = true;
	bequest_forget(t);
	while_stopped(&b, result);
	t->stopped = was_stopped;
	if (!was_stopped)
		control_resume(g->control, t->pid);
	result->pause_ns += now_ns() - begin;
	debug(LOG_PROBE, 1, "process %d: %u procedures, %u patches, stopped for %llu us", t->pid,
	      b.sites.len, result->patches, (unsigned long long)result->pause_ns / 1000);
out:
	vec_free(&b.sites);
	return rc;
}
