#include "probe/code/codespace.h"

#include <stdlib.h>
#include <string.h>

#include "probe/code/moved.h"

struct codespace *codespace_new(void)
{
	struct codespace *s = xcalloc(1, sizeof(*s));
	s->moved = moved_index_new();
	return s;
}

static void site_release(struct site *s)
{
	fragment_release(&s->fragment);
	fragment_release(&s->next);
	vec_free(&s->subjects);
	vec_free(&s->journal);
}

static void subject_release(struct subject *s)
{
	vec_free(&s->probes);
	vec_free(&s->loop_code);
}

void codespace_free(struct codespace *s)
{
	vec_each (site, &s->sites)
		site_release(site);
	vec_each (sub, &s->subjects)
		subject_release(sub);
	vec_each (c, &s->counted)
		free(c->without_trips);
	vec_each (r, &s->retired)
		fragment_release(&r->fragment);
	vec_free(&s->sites);
	vec_free(&s->subjects);
	vec_free(&s->counted);
	vec_free(&s->retired);
	vec_free(&s->journal_free);
	vec_free(&s->probe_free);
	vec_free(&s->probe_retired);
	vec_free(&s->searched);
	hashmap_release(&s->site_index);
	pool_release(&s->pool);
	moved_index_free(s->moved);
	free(s);
}

/* ---- a copy ---- */

static void copy_fragment(struct fragment *to, const struct fragment *from)
{
	*to = (struct fragment){
		.mechanism = from->mechanism, .size = from->size, .rare = from->rare};
	vec_copy(&to->patches, &from->patches);
	moved_table_copy(&to->moved, &from->moved);
	placed_table_copy(&to->probes, &from->probes);
}

/* Whether the subject was to be taken out of the parent with the next batch. */
static bool is_quiet(const struct subject *s)
{
	return s->in && !s->wanted;
}

static void copy_sites(struct codespace *child, const struct codespace *parent)
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
		vec_copy(&copy.subjects, &s->subjects);
		vec_each (number, &copy.subjects)
			copy.dirty |= is_quiet(&child->subjects.data[*number]);
		vec_copy(&copy.journal, &s->journal);
		hashmap_put(&child->site_index, s->start + s->bias, child->sites.len);
		vec_push(&child->sites, copy);
	}
}

static void copy_subjects(struct codespace *child, const struct target *parent)
{
	vec_each (s, &parent->code->subjects) {
		struct subject copy = *s;
		memset(&copy.probes, 0, sizeof(copy.probes));
		memset(&copy.loop_code, 0, sizeof(copy.loop_code));
		vec_copy(&copy.probes, &s->probes);
		vec_copy(&copy.loop_code, &s->loop_code);
		copy.wanted = copy.in && target_subject(parent, child->subjects.len)->active;
		vec_push(&child->subjects, copy);
	}
}

static void copy_counted(struct codespace *child, const struct codespace *parent)
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

/* Retired memory stays retired: the child's thread may be in it. What the parent has taken for its
 * next batch is free in the child. */
static void copy_pool(struct codespace *child, const struct codespace *parent)
{
	vec_each (r, &parent->pool.regions) {
		struct pool_region copy = {.start = r->start, .end = r->end};
		vec_copy(&copy.free, &r->free);
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

void codespace_copy(struct codespace *copy, const struct target *of)
{
	const struct codespace *code = of->code;
	copy_subjects(copy, of);
	copy_sites(copy, code);
	copy_counted(copy, code);
	copy_pool(copy, code);
	vec_copy(&copy->journal_free, &code->journal_free);
	vec_copy(&copy->probe_free, &code->probe_free);
	vec_copy(&copy->probe_retired, &code->probe_retired);
	vec_copy(&copy->searched, &code->searched);
	copy->counters_reserved = code->counters_reserved;
	copy->watch_waits = code->watch_waits;
	copy->traps.entries = code->traps.entries;
	copy->traps.spoilt = code->traps.spoilt;
	copy->rendezvous_in = code->rendezvous_in;
	copy->rendezvous_state = code->rendezvous_state;
}
