#include "probe/region/target.h"

#include <stdlib.h>

int target_unusable(const struct target *t, struct err *e)
{
	if (!t->alive || !t->problem.code)
		return err_set(e, ERR_ENDED, "process %d has ended", t->pid);
	*e = t->problem;
	return e->code;
}

int target_stop(struct target *t, struct err *e)
{
	struct control_event ev;
	const struct shared *s = t->shared;
	int rc = control_stop(s->control, t->pid, e);
	while (!rc && control_next_forked(s->control, t->pid, &ev))
		s->forked(s->ctx, &ev);
	return rc;
}

void target_changing(struct target *t)
{
	t->shared->changing(t->shared->ctx, t);
}

void slot_release(struct thread_slot *s)
{
	hashmap_release(&s->adopted_paths);
	vec_free(&s->adopted);
	vec_free(&s->abandoned.held);
	*s = (struct thread_slot){0};
}

void kept_release(struct kept *k)
{
	vec_free(&k->paths);
	vec_free(&k->frames);
	vec_free(&k->counters);
	vec_free(&k->waits);
	vec_free(&k->calls);
	hashmap_release(&k->path_index);
	hashmap_release(&k->wait_index);
	hashmap_release(&k->call_index);
	free(k->made);
}

void counting_release(struct counting *c)
{
	vec_free(&c->kept);
	vec_free(&c->starts);
	arena_release(&c->arena);
}
