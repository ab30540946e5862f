#include "session/family.h"

#include "base/hashmap.h"
#include "process/threads.h"

/* Adds a descendant, unless it has ended meanwhile. */
static void watch_one(struct session *s, struct sampler *sampler, int pid,
		      void (*added)(void *ctx, int pid), void *ctx)
{
	struct err e;
	int rc = sampler->ops->watch(sampler, pid, true, false, &e);
	if (!rc && added)
		added(ctx, pid);
	else if (rc && rc != ERR_ENDED && thread_lives(pid))
		session_message(s, "process %d is left out: %s", pid, e.text);
}

/* A process that is watched passes that on to those that it starts from then on. So all have been
 * found when a list has nobody new. */
int family_watch(struct session *s, struct sampler *sampler, int pid,
		 void (*added)(void *ctx, int pid), void *ctx, struct err *e)
{
	enum { MOST_ROUNDS = 8 };
	struct hashmap known = {0};
	int rc = sampler->ops->watch(sampler, pid, true, false, e);
	if (rc)
		return rc;
	if (added)
		added(ctx, pid);
	for (unsigned round = 0, found = !s->o->alone; found && round < MOST_ROUNDS; round++) {
		tid_list list = {0};
		process_descendants(pid, &list);
		found = 0;
		vec_each (x, &list) {
			if (hashmap_get(&known, (uint64_t)*x) != HASHMAP_NONE)
				continue;
			hashmap_put(&known, (uint64_t)*x, 0);
			watch_one(s, sampler, *x, added, ctx);
			found++;
		}
		vec_free(&list);
	}
	hashmap_release(&known);
	return 0;
}
