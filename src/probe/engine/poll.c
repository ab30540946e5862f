/* Waiting for what happens, and what is looked at meanwhile. */
#include "base/clock.h"
#include "base/log.h"
#include "probe/engine/leave.h"
#include "probe/region/confinement.h"
#include "probe/region/raw.h"
#include "probe/stop/filters.h"
#include "process/threads.h"

enum { LOOK_MIN_MS = 2, LOOK_MAX_MS = 100 };

static bool next_event(struct engine *g, struct engine_event *out)
{
	if (!g->events.len)
		return false;
	*out = g->events.data[0];
	vec_remove(&g->events, 0);
	return true;
}

/* ---- programs that may not make all system calls ---- */

/* Nobody traces it any more; if we started it, its end is told nevertheless. */
static void leave_untouched(struct target *t)
{
	leave(t);
	t->alive = t->untouched = true;
	control_expect_end(t->shared->control);
}

static void look_at_confinement(struct target *t)
{
	struct engine *g = engine_of(t);
	struct err e;
	struct stop stop = {.target = t};
	if (t->lineage->held || target_stop(t, &e))
		return;
	stop_settle(&stop);
	bool stays = filters_look(&stop);
	stop_release(&stop);
	control_resume(t->shared->control, t->pid);
	if (stays)
		return;
	debug(LOG_PROBE, 1, "process %d is left: %s", t->pid, t->problem.text);
	leave_untouched(t);
	event_tell(g, ENGINE_CONFINED, t, NULL, 0);
}

/* One that we did not start tells nobody of its end. */
static void look_for_end(struct target *t)
{
	if (t->pid == engine_of(t)->launched || thread_lives(t->pid))
		return;
	target_end(t, 0);
	event_tell(engine_of(t), ENGINE_ENDED, t, NULL, -1);
}

static void look_at_confined(struct engine *g)
{
	for (uint32_t i = 0; i < g->targets.len; i++) {
		struct target *t = g->targets.data[i];
		if (t->alive && t->untouched)
			look_for_end(t);
		else if (t->alive && t->region.in && confinement_is_due(t))
			look_at_confinement(t);
	}
}

const char *target_unprobed(const struct target *t)
{
	return t->untouched ? t->problem.text : NULL;
}

/* Paths that the runtime could not walk are looked at soon: until then it pays more for each hit.
 * Where there are none for a while, less and less often. */
static int until_next_look(struct engine *g)
{
	bool any = false;
	vec_each (t, &g->targets)
		if ((*t)->region.in)
			any |= raw_resolve(*t);
	g->look_ms = any ? LOOK_MIN_MS : g->look_ms * 2;
	if (g->look_ms > LOOK_MAX_MS || g->look_ms < LOOK_MIN_MS)
		g->look_ms = g->look_ms < LOOK_MIN_MS ? LOOK_MIN_MS : LOOK_MAX_MS;
	return g->look_ms;
}

/* A signal of ours ended the wait. */
static bool is_early(uint64_t begin, int wait_ms)
{
	return wait_ms > 0 && now_ns() - begin < (uint64_t)(wait_ms - 1) * 1000000;
}

bool engine_poll(struct engine *g, int timeout_ms, struct engine_event *out)
{
	uint64_t end = now_ns() + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0) * 1000000;
	while (!next_event(g, out)) {
		int look = until_next_look(g);
		look_at_confined(g);
		if (next_event(g, out))
			return true;
		uint64_t now = now_ns();
		int left = timeout_ms < 0 ? look : now < end ? (int)((end - now) / 1000000) : 0;
		int wait = left < look ? left : look;
		bool late = left <= look && timeout_ms >= 0;
		if (events_catch_up(g, wait)) {
			if (timeout_ms >= 0 && now_ns() >= end)
				return next_event(g, out);
		} else if (late || is_early(now, wait)) {
			return false;
		}
	}
	return true;
}
