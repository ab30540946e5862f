#include "session/family.h"

#include "base/hashmap.h"
#include "process/threads.h"

struct watch {
	struct session *session;
	struct sampler *sampler;
	void (*added)(void *ctx, int pid);
	void *ctx;
};

static int watch_one(const struct watch *w, int pid, struct err *e)
{
	int rc = w->sampler->ops->watch(w->sampler, pid, true, false, e);
	if (!rc && w->added)
		w->added(w->ctx, pid);
	return rc;
}

/* Nobody needs to know of those that have ended meanwhile. */
static void leave_out(const struct watch *w, int pid, const struct err *why)
{
	if (why->code != ERR_ENDED && thread_lives(pid))
		session_message(w->session, "process %d is left out: %s", pid, why->text);
}

/* A process that is watched passes that on to those that it starts from then on. So all have been
 * found when a list has nobody new. */
static void watch_descendants(const struct watch *w, int pid)
{
	enum { MOST_ROUNDS = 8 };
	struct hashmap known = {0};
	for (unsigned round = 0, found = 1; found && round < MOST_ROUNDS; round++) {
		tid_list list = {0};
		process_descendants(pid, &list);
		found = 0;
		vec_each (x, &list) {
			struct err why;
			if (hashmap_get(&known, (uint64_t)*x) != HASHMAP_NONE)
				continue;
			hashmap_put(&known, (uint64_t)*x, 0);
			if (watch_one(w, *x, &why))
				leave_out(w, *x, &why);
			found++;
		}
		vec_free(&list);
	}
	hashmap_release(&known);
}

/* Members of groups may have ended since they were found. */
static int watch_family(const struct watch *w, int pid, bool is_member, unsigned *watched,
			struct err *e)
{
	int rc = watch_one(w, pid, e);
	if (rc && is_member)
		leave_out(w, pid, e);
	if (rc)
		return is_member ? 0 : rc;
	++*watched;
	if (!w->session->o->alone)
		watch_descendants(w, pid);
	return 0;
}

int families_watch(struct session *s, struct sampler *sampler, void (*added)(void *ctx, int pid),
		   void *ctx, struct err *e)
{
	const struct watch w = {s, sampler, added, ctx};
	const struct session_options *o = s->o;
	struct err why;
	unsigned watched = 0;
	int rc = 0;
	for (unsigned i = 0; i < o->pid_count && !rc; i++)
		rc = watch_family(&w, o->pids[i], i >= o->pid_count - o->members, &watched, &why);
	if (!rc && o->pid_count && !watched)
		rc = why.code;
	if (rc)
		*e = why;
	return rc;
}
