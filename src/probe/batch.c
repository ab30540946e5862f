/* Carrying out a batch: everything is made ready while the program runs; then it is stopped once.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"

#include "base/log.h"
#include "probe/target.h"
#include "process/memory.h"

struct batch {
	struct target *target;
	struct batch_result *result;
	VEC(uint32_t) sites; /* that change */
	uint32_t first_walk;
	bool clean; /* no thread is in code memory, and no stack leads there */
};

static int plan_all(struct batch *b, struct err *e)
{
	struct target *t = b->target;
	traps_look(t);
	t->patches_planned = 0;
	for (uint32_t i = 0; i < t->sites.len; i++) {
		struct site *s = &t->sites.data[i];
		s->dirty |= s->put_off;
		s->put_off = false;
		if (s->dirty)
			vec_push(&b->sites, i);
	}
	return sites_plan(t, b->sites.data, b->sites.len, b->result, e);
}

/* Nothing leads to them yet. */
static int write_fragments(struct batch *b, struct err *e)
{
	struct target *t = b->target;
	vec_each (i, &b->sites) {
		struct site *s = &t->sites.data[*i];
		if (s->next_address &&
		    (fault("fragment-write", EIO) ||
		     !memory_write(t->pid, s->next_address, s->next.code, s->next.size)))
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
	bug_on(s->next_address && s->next.code, "P2"); /* it is not in the program yet */
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

static void leave_trapped(struct batch *b)
{
	struct target *t = b->target;
	vec_each (i, &b->sites)
		if (count_traps(&t->sites.data[*i].next))
			leave_as_is(t, &t->sites.data[*i], REFUSED_NO_ROOM, b->result);
}

/* Those that were left as they are. */
static void drop_sites(struct batch *b)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < b->sites.len; i++)
		if (b->target->sites.data[b->sites.data[i]].dirty)
			b->sites.data[kept++] = b->sites.data[i];
	b->sites.len = kept;
}

/* ---- the steps ---- */

/* A thread that is alive, but whose place is not known, may be anywhere. */
static bool is_anybody_lost(const struct batch *b)
{
	const struct engine *g = b->target->engine;
	for (uint32_t i = b->first_walk; i < g->walks.len; i++) {
		const struct stopped_walk *w = g->walks.data[i];
		const struct control_thread *th = control_thread(g->control, w->tid);
		if (!w->known && th && th->stopped && thread_lives(w->tid))
			return true;
	}
	return false;
}

static void settle(struct batch *b)
{
	struct target *t = b->target;
	clash_list clashes = {0};
	b->clean = settle_for(t, &b->first_walk, &clashes);
	if (is_anybody_lost(b))
		vec_each (i, &b->sites)
			leave_as_is(t, &t->sites.data[*i], REFUSED_BUSY, b->result);
	vec_each (c, &clashes)
		if (c->site != SITE_NONE && t->sites.data[c->site].dirty)
			leave_as_is(t, &t->sites.data[c->site], REFUSED_BUSY, b->result);
	vec_free(&clashes);
}

static void prepare_traps(struct batch *b)
{
	if (!traps_ready(b->target, b->sites.data, b->sites.len))
		leave_trapped(b);
	drop_sites(b);
}

static void introduce_threads(struct batch *b)
{
	areas_introduce(b->target);
}

static void meet_contexts(struct batch *b)
{
	contexts_meet(b->target, b->first_walk);
}

/* Threads of a site whose patches are stuck are where they were, and its fragment stays. */
static void undo_patches(struct batch *b)
{
	struct target *t = b->target;
	patches_undo(t, b->sites.data, b->sites.len);
	vec_each (i, &b->sites)
		if (t->sites.data[*i].stuck)
			leave_as_is(t, &t->sites.data[*i], REFUSED_NOT_WRITABLE, b->result);
	drop_sites(b);
}

/* With the old patches out, because a thread may be sent to where the middle of one was; and before
 * the new ones are in, for the same reason. */
static void send_threads(struct batch *b)
{
	move_threads(b->target, b->first_walk);
}

static void replace_fragments(struct batch *b)
{
	vec_each (i, &b->sites)
		replace(b->target, &b->target->sites.data[*i]);
}

static void put_patches(struct batch *b)
{
	patches_put(b->target, b->sites.data, b->sites.len);
}

static void begin_subjects(struct batch *b)
{
	vec_each (i, &b->sites) {
		struct site *s = &b->target->sites.data[*i];
		settle_subjects(b->target, s);
		count_mechanism(s, b->result);
	}
}

/* A filter of system calls may have come since the last stop. */
static void look_for_filters(struct batch *b)
{
	confinement_look(b->target, b->first_walk);
}

static void begin_activations(struct batch *b)
{
	struct target *t = b->target;
	const struct engine *g = t->engine;
	for (uint32_t i = b->first_walk; i < g->walks.len; i++) {
		const struct stopped_walk *w = g->walks.data[i];
		if (!w->known || w->unsettled || w->interrupted)
			continue;
		end_activations(t, w->tid);
		waits_make_room(t, w->tid);
		b->result->caught_up += catch_up(t, w);
	}
	vec_each (s, &t->subjects)
		s->fresh = false;
	/* Walks that the runtime remembers lean on the lists. */
	__atomic_add_fetch(&target_header(t)->epoch, 1, __ATOMIC_RELEASE);
}

static void reclaim(struct batch *b)
{
	struct target *t = b->target;
	if (!b->clean) {
		redirect_retired(t, b->first_walk);
		return;
	}
	traps_forget_retired(t);
	code_memory_reclaim(t);
	vec_each (p, &t->probe_retired)
		vec_push(&t->probe_free, *p);
	vec_clear(&t->probe_retired);
}

/* What is done to the stopped program, and which rule of docs/PROBING.md makes it a right program
 * again after each step, should Sonde be killed there: the tests do that by the steps' names
 * (base/fault.h, tests/live/check-deaths). */
static struct step {
	struct fault_point point;
	const char *keeps;
	void (*take)(struct batch *b);
} steps[] = {
	{{.name = "settle"}, "P7", settle},
	{{.name = "prepare-traps"}, "P5", prepare_traps},
	{{.name = "introduce-threads"}, "P8", introduce_threads},
	{{.name = "meet-contexts"}, "P8", meet_contexts},
	{{.name = "undo-patches"}, "P4", undo_patches},
	{{.name = "send-threads"}, "P11", send_threads},
	{{.name = "replace-fragments"}, "P2", replace_fragments},
	{{.name = "put-patches"}, "P1", put_patches},
	{{.name = "begin-subjects"}, "P8", begin_subjects},
	{{.name = "look-for-filters"}, "P12", look_for_filters},
	{{.name = "begin-activations"}, "P8", begin_activations},
	{{.name = "reclaim"}, "P3", reclaim},
};

static void while_stopped(struct batch *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		debug(LOG_PROBE, 3, "process %d: %s (%s)", b->target->pid, steps[i].point.name,
		      steps[i].keeps);
		fault_step(&steps[i].point);
		steps[i].take(b);
	}
	death_point("changed");
	if (checks_wanted())
		target_check(b->target, b->clean);
}

static void drop_plans(struct batch *b)
{
	struct target *t = b->target;
	for (uint32_t i = 0; i < t->sites.len; i++)
		code_memory_drop_next(t, &t->sites.data[i]);
}

int batch_commit(struct target *t, struct batch_result *result, struct err *e)
{
	struct batch b = {.target = t, .result = result};
	struct engine *g = t->engine;
	bool was_stopped = t->stopped;
	int rc = plan_all(&b, e);
	if (!rc && b.sites.len)
		rc = write_fragments(&b, e);
	if (rc || !b.sites.len) {
		drop_plans(&b);
		goto out;
	}
	uint64_t begin = now_ns();
	if (!was_stopped)
		rc = target_stop(t, e);
	if (!rc && !was_stopped && (rc = confinement_check_batch(t, e)))
		control_resume(g->control, t->pid);
	if (rc) {
		drop_plans(&b);
		goto out;
	}
	t->stopped = true;
	bequest_forget(t);
	while_stopped(&b);
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
