#include "probe/engine/targets.h"

#include <stdlib.h>

#include "probe/engine/fork_contexts.h"
#include "probe/region/inject.h"

/* ---- one target ---- */

struct target *target_make(struct engine *g, int pid)
{
	struct target *t = xcalloc(1, sizeof(*t));
	t->shared = &g->shared;
	t->pid = pid;
	t->alive = true;
	t->region.fd = -1;
	t->space = space_new(g->shared.codes, pid);
	t->shadow_stack = process_has_shadow_stack(pid);
	t->code = codespace_new();
	t->lineage = xcalloc(1, sizeof(*t->lineage));
	return t;
}

static void lineage_free(struct lineage *f)
{
	snapshot_release(f->inherited);
	snapshot_release(f->snapshot);
	vec_each (frames, &f->forks)
		fork_frames_free(*frames);
	vec_free(&f->forks);
	free(f);
}

void target_free(struct target *t)
{
	lineage_free(t->lineage);
	codespace_free(t->code);
	counting_release(&t->counting);
	kept_release(&t->kept);
	for (uint32_t i = 0; i < RT_AREAS; i++)
		slot_release(&t->slots[i]);
	region_release(t);
	space_free(t->space);
	free(t);
}

void snapshot_release(struct target *snapshot)
{
	if (snapshot && !--snapshot->lineage->snapshot_refs)
		target_free(snapshot);
}

void snapshot_forget(struct target *t)
{
	snapshot_release(t->lineage->snapshot);
	t->lineage->snapshot = NULL;
}

int target_pid(const struct target *t)
{
	return t->pid;
}

struct space *target_space(struct target *t)
{
	return t->space;
}

bool target_alive(const struct target *t)
{
	return t->alive;
}

/* ---- all of them ---- */

struct target *target_new(struct engine *g, int pid)
{
	struct target *t = target_make(g, pid);
	vec_push(&g->targets, t);
	return t;
}

struct target *target_of(const struct engine *g, int pid)
{
	vec_each (t, &g->targets)
		if ((*t)->pid == pid && (*t)->alive)
			return *t;
	return NULL;
}

/* The end of the program that we started is reported even so. */
static void forget_in_event(const struct engine *g, struct engine_event *ev, const struct target *t)
{
	if (ev->parent == t)
		ev->parent = NULL;
	if (ev->target == t && ev->what == ENGINE_ENDED && ev->pid == g->launched)
		ev->target = NULL;
}

void engine_drop(struct engine *g, struct target *t)
{
	walks_forget(&g->shared, t);
	vec_keep_if(&g->targets, other, *other != t);
	vec_each (ev, &g->events)
		forget_in_event(g, ev, t);
	vec_keep_if(&g->events, ev, ev->target != t);
	target_free(t);
}
