/* The child of a fork: its memory holds its parent's patches and fragments; what we know of them is
 * copied, and it begins to count at zero.
 *
 * Or it is left alone at first, and its probes do nothing. What we knew when it was forked is kept
 * for it, once for all that are forked before the next change; most of them end or execute
 * something else soon. */
#include <string.h>

#include "probe/target.h"

#define copy_vec(to, from)                                                                         \
	do {                                                                                       \
		vec_clear(to);                                                                     \
		vec_each (element, from)                                                           \
			vec_push(to, *element);                                                    \
	} while (0)

static void copy_fragment(struct fragment *to, const struct fragment *from)
{
	*to = (struct fragment){
		.mechanism = from->mechanism, .size = from->size, .rare = from->rare};
	copy_vec(&to->patches, &from->patches);
	copy_vec(&to->moved, &from->moved);
	copy_vec(&to->probes, &from->probes);
}

/* It was to go out of the parent with the next batch. */
static bool is_quiet(const struct subject *s)
{
	return s->in && !s->wanted;
}

static void copy_sites(struct target *child, const struct target *parent)
{
	vec_each (s, &parent->sites) {
		struct site copy = {.code = s->code,
				    .start = s->start,
				    .bias = s->bias,
				    .counted = s->counted,
				    .address = s->address,
				    .room = s->room};
		if (s->address)
			copy_fragment(&copy.fragment, &s->fragment);
		copy_vec(&copy.subjects, &s->subjects);
		vec_each (number, &copy.subjects)
			copy.dirty |= is_quiet(&child->subjects.data[*number]);
		copy_vec(&copy.journal, &s->journal);
		hashmap_put(&child->site_index, s->start + s->bias, child->sites.len);
		vec_push(&child->sites, copy);
	}
}

static void copy_subjects(struct target *child, const struct target *parent)
{
	vec_each (s, &parent->subjects) {
		struct subject copy = *s;
		memset(&copy.probes, 0, sizeof(copy.probes));
		memset(&copy.loop_code, 0, sizeof(copy.loop_code));
		copy_vec(&copy.probes, &s->probes);
		copy_vec(&copy.loop_code, &s->loop_code);
		copy.wanted = copy.in && target_subject(parent, child->subjects.len)->active;
		vec_push(&child->subjects, copy);
	}
}

static void copy_counted(struct target *child, const struct target *parent)
{
	vec_each (c, &parent->counted) {
		struct counted copy = *c;
		if (c->without_trips) {
			copy.without_trips = xmalloc(c->loop_count * sizeof(bool));
			memcpy(copy.without_trips, c->without_trips, c->loop_count * sizeof(bool));
		}
		vec_push(&child->counted, copy);
	}
	child->loops_used = parent->loops_used;
	child->call_sites_used = parent->call_sites_used;
}

/* Retired memory stays what it is: nobody knows whether the child's thread is in it. What the
 * parent has taken for its next batch is free in the child. */
static void copy_pool(struct target *child, const struct target *parent)
{
	vec_each (r, &parent->pool.regions) {
		struct pool_region copy = {.start = r->start, .end = r->end};
		copy_vec(&copy.free, &r->free);
		vec_push(&child->pool.regions, copy);
	}
	vec_each (s, &parent->sites)
		if (s->next_address)
			pool_give(&child->pool, s->next_address, s->next_room);
	vec_each (r, &parent->retired) {
		struct retired copy = *r;
		copy_fragment(&copy.fragment, &r->fragment);
		vec_push(&child->retired, copy);
	}
}

/* The child is alone: the table is one that fork wiped. What it is in the middle of is found on its
 * stack. */
static void begin_thread(struct target *child, struct target *parent, int tid)
{
	struct control_thread *th = control_thread(child->engine->control, tid);
	uint32_t first;
	if (!th)
		return;
	contexts_inherit(child, parent, th);
	areas_prepare(child, th);
	settle_threads(child, &first);
	vec_each (s, &child->subjects)
		s->fresh = s->in;
	for (uint32_t i = first; i < child->engine->walks.len; i++)
		catch_up(child, child->engine->walks.data[i]);
	vec_each (s, &child->subjects)
		s->fresh = false;
}

static void copy_state(struct target *child, const struct target *parent)
{
	copy_subjects(child, parent);
	copy_sites(child, parent);
	copy_counted(child, parent);
	copy_pool(child, parent);
	copy_vec(&child->journal_free, &parent->journal_free);
	copy_vec(&child->probe_free, &parent->probe_free);
	copy_vec(&child->probe_retired, &parent->probe_retired);
	copy_vec(&child->steps, &parent->steps);
	copy_vec(&child->searched, &parent->searched);
	child->watch_waits = parent->watch_waits;
	child->counters_used = parent->counters_used;
	child->counters_reserved = parent->counters_reserved;
	child->trap_entries = parent->trap_entries;
	child->confined_before = parent->confined_before;
	child->guarded = parent->guarded;
	child->traps_spoilt = parent->traps_spoilt;
	child->rendezvous_in = parent->rendezvous_in;
	child->rendezvous_state = parent->rendezvous_state;
}

void target_inherit(struct target *child, struct target *parent, int tid)
{
	copy_state(child, parent);
	begin_thread(child, parent, tid);
}

/* ---- children that are left alone ---- */

void legacy_release(struct target *legacy)
{
	if (legacy && !--legacy->heirs)
		target_free(legacy);
}

void bequest_forget(struct target *t)
{
	legacy_release(t->bequest);
	t->bequest = NULL;
}

static struct target *make_bequest(const struct target *t)
{
	struct target *b = target_make(t->engine, t->pid);
	b->heirs = 1;
	if (!target_copy_region(b, t)) {
		target_free(b);
		return NULL;
	}
	copy_state(b, t);
	return b;
}

bool target_bequeath(struct target *child, struct target *parent)
{
	if (!parent->legacy && !parent->injected)
		return true;
	if (!parent->legacy && !parent->bequest)
		parent->bequest = make_bequest(parent);
	child->legacy = parent->legacy ? parent->legacy : parent->bequest;
	if (child->legacy)
		child->legacy->heirs++;
	return child->legacy;
}

/* What was measured then may not be wanted any more, and what waits has not been seen to. */
static void give_up_subjects(struct target *t)
{
	for (uint32_t i = 0; i < t->subjects.len; i++)
		if (t->subjects.data[i].purpose != PURPOSE_RENDEZVOUS)
			engine_quiet(t->engine, t, i);
	t->watch_waits = false;
	t->guarded = false;
	vec_clear(&t->searched);
}

int legacy_take_over(struct target *child, struct err *e)
{
	struct target *legacy = child->legacy;
	int rc = target_inject_child(child, legacy, 0, e);
	if (rc)
		return rc;
	target_header(child)->may =
		0; /* the probes that would take it back have done nothing so far */
	copy_state(child, legacy);
	child->legacy = NULL;
	legacy_release(legacy);
	give_up_subjects(child);
	areas_prepare_all(child);
	rc = layout_refresh(child, e);
	forget_unloaded(child);
	target_set_guard(child);
	return rc;
}
