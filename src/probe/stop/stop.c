#include "probe/stop/stop.h"

#include <stdlib.h>

#include "probe/code/sites.h"
#include "probe/region/areas.h"

static void release_walks(struct stopped_walks *walks)
{
	vec_each (w, walks)
		vec_free(&w->walk.frames);
	vec_free(walks);
}

void stop_release(struct stop *s)
{
	release_walks(&s->walks);
}

/* A thread in a system call inside moved code stays there if it can: only the kernel knows how to
 * restart the call, and the code after it leads back to the program. */
static void move_thread(struct target *t, const struct stopped_walk *w)
{
	struct control_thread *th = control_thread(t->shared->control, w->tid);
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

void stop_move_threads(const struct stop *s)
{
	vec_each (w, &s->walks)
		move_thread(s->target, w);
}

void stop_introduce(struct stop *s)
{
	vec_each (w, &s->walks)
		w->newborn = areas_number(s->target, w->tid) == RT_AREAS;
	areas_introduce(s->target);
	vec_each (w, &s->walks)
		w->newborn &= areas_number(s->target, w->tid) < RT_AREAS;
}

/* ---- samples for free ---- */

void stop_publish(struct stop *s)
{
	struct shared *shared = s->target->shared;
	if (!shared->past_walks)
		shared->past_walks = xcalloc(1, sizeof(*shared->past_walks));
	vec_append(shared->past_walks, s->walks.data, s->walks.len);
	vec_free(&s->walks);
}

void walks_report(struct shared *s, walk_visitor visit, void *ctx)
{
	if (!s->past_walks)
		return;
	vec_each (w, s->past_walks)
		if (visit && w->known)
			visit(ctx, w->target, w->tid, &w->walk, w->in_call ? &w->call : NULL);
	release_walks(s->past_walks);
	free(s->past_walks);
	s->past_walks = NULL;
}

/* The target's walks are still there if they were not visited since its last stop. */
void walks_forget(struct shared *s, const struct target *t)
{
	if (!s->past_walks)
		return;
	vec_each (w, s->past_walks)
		if (w->target == t)
			vec_free(&w->walk.frames);
	vec_keep_if(s->past_walks, w, w->target != t);
}
