#include "profile/evidence.h"

#include <math.h>

#include "base/quantity.h"
#include "profile/profile.h"

void evidence_release(struct evidence *e)
{
	vec_free(&e->names);
	vec_free(&e->threads);
	vec_free(&e->objects);
	vec_free(&e->chains);
	vec_free(&e->parts);
	vec_free(&e->amounts);
	vec_free(&e->holders);
	vec_free(&e->trips);
	vec_free(&e->commands);
}

void evidence_clear(struct evidence *e)
{
	e->run = (struct evidence_run){0};
	vec_clear(&e->names);
	vec_clear(&e->threads);
	vec_clear(&e->objects);
	vec_clear(&e->chains);
	vec_clear(&e->parts);
	vec_clear(&e->amounts);
	vec_clear(&e->holders);
	vec_clear(&e->trips);
	vec_clear(&e->commands);
}

/* ---- checks ---- */

static bool is_time(double seconds)
{
	return isfinite(seconds) && seconds >= 0;
}

static bool is_index(uint32_t i, uint32_t len)
{
	return i == PROFILE_NONE || i < len;
}

static bool is_resource(const struct profile *p, uint32_t i, enum profile_hierarchy h)
{
	return i < p->resources.len && p->resources.data[i].hierarchy == h;
}

static bool run_is_sound(const struct evidence_run *r)
{
	bool sound = is_time(r->seconds) && is_time(r->time) && is_time(r->cpu) &&
		     is_time(r->threads) && is_time(r->ran) && is_time(r->ready) &&
		     is_time(r->idle);
	for (int i = 0; i < EVIDENCE_CLASSES; i++)
		sound &= is_time(r->sampled[i]);
	return sound;
}

static bool threads_and_objects_are_sound(const struct profile *p)
{
	const struct evidence *e = &p->evidence;
	bool sound = true;
	vec_each (n, &e->names)
		sound &= is_resource(p, n->resource, PROFILE_CODE);
	vec_each (t, &e->threads)
		sound &= is_resource(p, t->resource, PROFILE_MACHINE) && is_time(t->cpu) &&
			 isfinite(t->idle);
	vec_each (o, &e->objects)
		sound &= is_index(o->resource, p->resources.len) && is_time(o->seconds) &&
			 is_time(o->rate);
	return sound;
}

static bool chains_are_sound(const struct profile *p)
{
	const struct evidence *e = &p->evidence;
	bool sound = true;
	vec_each (part, &e->parts)
		sound &= is_resource(p, *part, PROFILE_CODE);
	vec_each (c, &e->chains)
		sound &= c->length && c->first <= e->parts.len &&
			 c->length <= e->parts.len - c->first && c->node < p->nodes.len &&
			 is_index(c->object, e->objects.len) && c->class < EVIDENCE_CLASSES &&
			 is_time(c->seconds);
	return sound;
}

static bool amounts_are_sound(const struct profile *p)
{
	const struct evidence *e = &p->evidence;
	uint32_t before = 0;
	bool sound = true;
	vec_each (a, &e->amounts) {
		sound &= is_resource(p, a->resource, PROFILE_CODE) && a->resource >= before &&
			 a->thread < e->threads.len && is_index(a->object, e->objects.len) &&
			 is_time(a->cpu) && is_time(a->wait) && is_time(a->calls) &&
			 is_time(a->seen_cpu) && is_time(a->seen_wait) && is_time(a->asked);
		before = a->resource;
	}
	vec_each (h, &e->holders)
		sound &= h->object < e->objects.len && h->thread < e->threads.len &&
			 h->node < p->nodes.len && is_time(h->seconds);
	vec_each (t, &e->trips)
		sound &= is_resource(p, t->resource, PROFILE_CODE) && is_time(t->seconds);
	return sound;
}

static bool commands_are_sound(const struct evidence *e)
{
	bool sound = true;
	vec_each (c, &e->commands)
		sound &= can_be(A_TIME, c->cpu) && can_be(A_TIME, c->wall) &&
			 can_be(A_TIME, c->longest) && can_be(A_TIME, c->first) &&
			 can_be(A_TIME, c->last) && can_be(A_TIME, c->alone) &&
			 can_be(A_TIME, c->closing);
	return sound;
}

bool evidence_is_sound(const struct profile *p)
{
	return run_is_sound(&p->evidence.run) && threads_and_objects_are_sound(p) &&
	       chains_are_sound(p) && amounts_are_sound(p) && commands_are_sound(&p->evidence);
}
