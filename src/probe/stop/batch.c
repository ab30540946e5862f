/* Carrying out a batch: everything is prepared while the program runs; then it is stopped once, for
 * the steps listed in `steps` below. */
#include "probe/stop/batch.h"

#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "probe/code/code_memory.h"
#include "probe/code/traps.h"
#include "probe/code/write.h"
#include "probe/region/areas.h"
#include "probe/region/confinement.h"
#include "probe/region/read.h"
#include "probe/stop/adopt_counted.h"
#include "probe/stop/adopt_measured.h"
#include "probe/stop/busy.h"
#include "probe/stop/check.h"
#include "probe/stop/filters.h"
#include "probe/stop/redirect.h"
#include "probe/stop/rehearse.h"
#include "process/memory.h"

struct batch {
	struct target *target;
	struct batch_result *result;
	VEC(uint32_t) sites; /* indices of those that change */
	struct stop stop;
};

static int plan_all(struct batch *b, struct err *e)
{
	struct target *t = b->target;
	traps_look(t);
	t->code->patches_planned = 0;
	for (uint32_t i = 0; i < t->code->sites.len; i++) {
		struct site *s = &t->code->sites.data[i];
		s->dirty |= s->put_off;
		s->put_off = false;
		if (s->dirty)
			vec_push(&b->sites, i);
	}
	return sites_plan(t, b->sites.data, b->sites.len, b->result, e);
}

static int cannot_write(const struct target *t, struct err *e)
{
	if (errno == ESRCH)
		return err_set(e, ERR_ENDED, "process %d has ended", t->pid);
	return err_errno(e, "code cannot be written to process %d", t->pid);
}

/* Writes the new fragments while the program runs: nothing leads to them yet (P2). */
static int write_fragments(struct batch *b, struct err *e)
{
	struct target *t = b->target;
	vec_each (i, &b->sites) {
		struct site *s = &t->code->sites.data[*i];
		if (s->next_address &&
		    (fault("fragment-write", EIO) ||
		     !memory_write(t->pid, s->next_address, s->next.code, s->next.size)))
			return cannot_write(t, e);
		free(s->next.code);
		s->next.code = NULL;
	}
	return 0;
}

/* The new fragment replaces the old one. Retired fragments of the site that a thread is still in
 * have to be redirected again: they may lead to a place that had no patch until now. */
static void replace_fragment(struct target *t, struct site *s)
{
	bug_on(s->next_address && s->next.code, "P2"); /* the fragment has not been written yet */
	code_memory_retire(t, s);
	vec_each (r, &t->code->retired)
		if (r->site == (uint32_t)(s - t->code->sites.data))
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

/* Updates the state of the site's subjects. Removed ones give up their entries in the runtime's
 * table. */
static void update_subjects(struct target *t, struct site *s)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < s->subjects.len; i++) {
		uint32_t number = s->subjects.data[i];
		struct subject *sub = &t->code->subjects.data[number];
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
			vec_push(&t->code->probe_retired, *p);
		vec_free(&sub->probes);
	}
	s->subjects.len = kept;
}

/* Leaves the site as it is; what should have been added to it is refused. */
static void leave_as_is(struct target *t, struct site *s, enum refusal why,
			struct batch_result *result)
{
	code_memory_drop_next(t, s);
	s->dirty = false;
	s->put_off = true;
	if (s->counted && !s->address)
		t->code->counted.data[s->counted - 1].refused = (uint8_t)why;
	vec_each (number, &s->subjects) {
		struct subject *sub = &t->code->subjects.data[*number];
		sub->fresh = false;
		if (sub->in || !sub->wanted || sub->refused)
			continue;
		sub->refused = (uint8_t)why;
		result->refused[why]++;
	}
}

static void leave_sites_with_traps(struct batch *b)
{
	struct target *t = b->target;
	vec_each (i, &b->sites)
		if (count_traps(&t->code->sites.data[*i].next))
			leave_as_is(t, &t->code->sites.data[*i], REFUSED_NO_ROOM, b->result);
}

/* Drops the sites that were left as they are. */
static void drop_sites(struct batch *b)
{
	vec_keep_if(&b->sites, i, b->target->code->sites.data[*i].dirty);
}

/* ---- the steps ---- */

/* Whether a thread is alive, but its place is unknown: it may be anywhere. */
static bool is_any_thread_lost(const struct batch *b)
{
	vec_each (w, &b->stop.walks) {
		const struct control_thread *th =
			control_thread(b->target->shared->control, w->tid);
		if (!w->known && th && th->stopped && thread_lives(w->tid))
			return true;
	}
	return false;
}

static void settle_threads(struct batch *b)
{
	struct target *t = b->target;
	clash_list clashes = {0};
	stop_settle_apart(&b->stop, &clashes);
	if (is_any_thread_lost(b))
		vec_each (i, &b->sites)
			leave_as_is(t, &t->code->sites.data[*i], REFUSED_BUSY, b->result);
	vec_each (c, &clashes)
		if (c->site != SITE_NONE && t->code->sites.data[c->site].dirty)
			leave_as_is(t, &t->code->sites.data[c->site], REFUSED_BUSY, b->result);
	vec_free(&clashes);
}

static void prepare_traps(struct batch *b)
{
	if (!traps_ready(b->target, b->sites.data, b->sites.len))
		leave_sites_with_traps(b);
	drop_sites(b);
}

static void introduce_threads(struct batch *b)
{
	stop_introduce(&b->stop);
}

static void adopt(struct batch *b)
{
	adopt_counted(&b->stop);
}

/* A site whose patches are stuck keeps its fragment, and its threads stay where they are. */
static void undo_patches(struct batch *b)
{
	struct target *t = b->target;
	patches_undo(t, b->sites.data, b->sites.len);
	vec_each (i, &b->sites)
		if (t->code->sites.data[*i].stuck)
			leave_as_is(t, &t->code->sites.data[*i], REFUSED_NOT_WRITABLE, b->result);
	drop_sites(b);
}

/* P11: threads are moved after the old patches are out, because a thread may be sent to what was
 * the middle of one. The new patches are not in yet, for the same reason. */
static void send_threads(struct batch *b)
{
	stop_move_threads(&b->stop);
}

static void replace_fragments(struct batch *b)
{
	vec_each (i, &b->sites)
		replace_fragment(b->target, &b->target->code->sites.data[*i]);
}

static void put_patches(struct batch *b)
{
	patches_put(b->target, b->sites.data, b->sites.len);
}

static void begin_subjects(struct batch *b)
{
	vec_each (i, &b->sites) {
		struct site *s = &b->target->code->sites.data[*i];
		update_subjects(b->target, s);
		count_mechanism(s, b->result);
	}
}

/* A seccomp filter may have been installed since the last stop. */
static void look_for_filters(struct batch *b)
{
	filters_look(&b->stop);
}

static void begin_activations(struct batch *b)
{
	struct target *t = b->target;
	vec_each (w, &b->stop.walks) {
		if (!w->known || w->unsettled || w->interrupted || w->newborn)
			continue;
		end_activations(t, w->tid);
		waits_make_room(t, w->tid);
		b->result->adopted += adopt_measured(t, w);
	}
	adopt_newborn(&b->stop);
	/* The walks that the runtime has cached depend on the lists. */
	__atomic_add_fetch(&target_header(t)->epoch, 1, __ATOMIC_RELEASE);
}

static void reclaim(struct batch *b)
{
	struct target *t = b->target;
	if (!b->stop.clean) {
		redirect_retired(&b->stop);
		return;
	}
	traps_forget_retired(t);
	code_memory_reclaim(t);
	vec_each (p, &t->code->probe_retired)
		vec_push(&t->code->probe_free, *p);
	vec_clear(&t->code->probe_retired);
}

/* The steps of a change to the stopped program. `keeps` names the invariants of docs/PROBING.md
 * that make the program right after the step, should Sonde be killed there: tests do that by the
 * names of the steps (base/fault.h, tests/live/check-deaths). In debug builds, `check` then checks
 * what can be checked. */
static struct step {
	struct fault_point point;
	const char *keeps;
	void (*take)(struct batch *b);
	void (*check)(const struct stop *s);
} steps[] = {
	{{.name = "settle"}, "P7, P8", settle_threads, check_settled},
	{{.name = "prepare-traps"}, "P13", prepare_traps, check_trap_action},
	{{.name = "introduce-threads"}, "P10", introduce_threads, check_areas},
	{{.name = "adopt"}, "P8", adopt, check_settled},
	{{.name = "undo-patches"}, "P4", undo_patches, check_undone},
	{{.name = "send-threads"}, "P11", send_threads, check_sent},
	{{.name = "replace-fragments"}, "P2, P9", replace_fragments, check_memory},
	{{.name = "put-patches"}, "P1", put_patches, check_journal},
	{{.name = "begin-subjects"}, "P10", begin_subjects, check_probes},
	{{.name = "look-for-filters"}, "P12", look_for_filters, check_permission},
	{{.name = "begin-activations"}, "P8", begin_activations, check_areas},
	{{.name = "reclaim"}, "P3", reclaim, check_all},
};

static void while_stopped(struct batch *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		debug(LOG_PROBE, 3, "process %d: %s (%s)", b->target->pid, steps[i].point.name,
		      steps[i].keeps);
		fault_step(&steps[i].point);
		steps[i].take(b);
		if (checks_wanted())
			steps[i].check(&b->stop);
	}
	death_point("changed");
}

static void drop_plans(struct batch *b)
{
	struct target *t = b->target;
	for (uint32_t i = 0; i < t->code->sites.len; i++)
		code_memory_drop_next(t, &t->code->sites.data[i]);
}

int batch_commit(struct target *t, struct batch_result *result, struct err *e)
{
	struct batch b = {.target = t, .result = result, .stop = {.target = t}};
	struct shared *g = t->shared;
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
		rc = stop_to_walk(t, &begin, e);
	if (!rc && !was_stopped && (rc = confinement_check_batch(t, e)))
		control_resume(g->control, t->pid);
	if (rc) {
		drop_plans(&b);
		goto out;
	}
	t->stopped = true;
	target_changing(t);
	while_stopped(&b);
	stop_publish(&b.stop);
	t->stopped = was_stopped;
	if (!was_stopped)
		control_resume(g->control, t->pid);
	result->pause_ns += now_ns() - begin;
	debug(LOG_PROBE, 1, "process %d: %u functions, %u patches, stopped for %llu us", t->pid,
	      b.sites.len, result->patches, (unsigned long long)result->pause_ns / 1000);
out:
	vec_free(&b.sites);
	return rc;
}
