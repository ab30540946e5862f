#include "callpath/splice.h"

static uint32_t function_of(const struct frame *f)
{
	return flow_function_at(f->code->flow, f->exact ? f->va : f->va - 1);
}

static bool is_same_frame(const struct frame *a, const struct frame *b)
{
	return a->cfa && a->cfa == b->cfa && a->code && a->code == b->code && a->code->flow &&
	       function_of(a) == function_of(b);
}

/* A linear search, because the CFAs are not sorted: they grow towards the root, except where a
 * signal handler has a stack of its own. */
static uint32_t find_frame(const struct walk *in, const struct frame *f)
{
	for (uint32_t i = in->frames.len; i-- > 0;)
		if (is_same_frame(f, &in->frames.data[i]))
			return i;
	return UINT32_MAX;
}

bool splice_paths(struct walk *path, const struct walk *other)
{
	for (uint32_t i = path->frames.len; i-- > 0;) {
		uint32_t at = find_frame(other, &path->frames.data[i]);
		if (at == UINT32_MAX)
			continue;
		path->frames.len = i + 1;
		for (uint32_t k = at + 1; k < other->frames.len; k++)
			vec_push(&path->frames, other->frames.data[k]);
		path->end = other->end;
		return true;
	}
	return false;
}

static const struct recent_path *slot_of(const struct recent_paths *r, int tid)
{
	return &r->all[(unsigned)tid % RECENT_PATHS];
}

void recent_release(struct recent_paths *r)
{
	for (unsigned i = 0; i < RECENT_PATHS; i++)
		vec_free(&r->all[i].walk.frames);
}

void recent_keep(struct recent_paths *r, const struct sample *s, const struct space *space,
		 const struct walk *path)
{
	struct recent_path *slot = &r->all[slot_of(r, s->tid) - r->all];
	if (path->end != WALK_COMPLETE || path->frames.len > RECENT_FRAMES_MAX)
		return;
	slot->tid = s->tid;
	slot->time = s->time;
	slot->space = space_serial(space);
	slot->walk.end = path->end;
	vec_clear(&slot->walk.frames);
	vec_each (f, &path->frames)
		vec_push(&slot->walk.frames, *f);
}

bool splice_with_recent(struct walk *path, const struct recent_paths *r, const struct sample *s,
			const struct space *space)
{
	const struct recent_path *slot = slot_of(r, s->tid);
	return slot->tid == s->tid && s->time - slot->time <= SPLICE_MAX_NS &&
	       slot->space == space_serial(space) && splice_paths(path, &slot->walk);
}
