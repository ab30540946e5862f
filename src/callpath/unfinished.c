#include "callpath/unfinished.h"

void unfinished_release(struct unfinished *u)
{
	for (uint32_t i = 0; i < UNFINISHED_MAX; i++)
		vec_free(&u->all[i].walk.frames);
}

static struct unfinished_path *nth(struct unfinished *u, uint32_t i)
{
	return &u->all[(u->first + i) % UNFINISHED_MAX];
}

/* An entry that was given out has no frames, and leaves the ring when it is the first. */
static void give(struct unfinished *u, struct unfinished_path *p)
{
	u->give(u->ctx, &p->sample, &p->walk);
	vec_clear(&p->walk.frames);
}

static void drop_first(struct unfinished *u)
{
	u->first = (u->first + 1) % UNFINISHED_MAX;
	u->count--;
}

/* Gives out the first `count` entries, and drops those after them that were given out before. */
static void give_first(struct unfinished *u, uint32_t count)
{
	for (uint32_t i = 0; u->count && (i < count || !nth(u, 0)->walk.frames.len); i++) {
		if (nth(u, 0)->walk.frames.len)
			give(u, nth(u, 0));
		drop_first(u);
	}
}

static void give_old(struct unfinished *u, uint64_t now)
{
	uint32_t old = 0;
	while (old < u->count && nth(u, old)->sample.time + SPLICE_MAX_NS < now)
		old++;
	give_first(u, old);
}

void unfinished_keep(struct unfinished *u, const struct sample *s, const struct space *space,
		     const struct walk *w)
{
	give_old(u, s->time);
	if (u->count == UNFINISHED_MAX)
		give_first(u, 1);
	struct unfinished_path *p = nth(u, u->count++);
	p->sample = *s;
	p->sample.stack = NULL;
	p->sample.returns = NULL;
	p->space = space_serial(space);
	p->walk.end = w->end;
	vec_each (f, &w->frames)
		vec_push(&p->walk.frames, *f);
}

void unfinished_finish(struct unfinished *u, const struct sample *s, const struct space *space,
		       const struct walk *whole)
{
	if (!u->count)
		return;
	for (uint32_t i = 0; i < u->count; i++) {
		struct unfinished_path *p = nth(u, i);
		if (p->walk.frames.len && p->sample.tid == s->tid &&
		    p->space == space_serial(space) && splice_paths(&p->walk, whole))
			give(u, p);
	}
	give_old(u, s->time);
}

void unfinished_give_up(struct unfinished *u)
{
	give_first(u, u->count);
}
