/* Waiting for events, with periodic checks. */
#include "base/clock.h"
#include "base/log.h"
#include "probe/engine/leave.h"
#include "probe/region/confinement.h"
#include "probe/region/raw.h"
#include "probe/stop/filters.h"
#include "probe/stop/rehearse.h"
#include "process/threads.h"

/* The time between two checks for paths that the runtime could not walk. */
enum { RAW_CHECK_MIN_MS = 2, RAW_CHECK_MAX_MS = 100 };

static bool next_event(struct engine *g, struct engine_event *out)
{
	if (!g->events.len)
		return false;
	*out = g->events.data[0];
	vec_remove(&g->events, 0);
	return true;
}

/* ---- programs that may not make all system calls ---- */

/* Leaves a target, but keeps it in the list: if we started the program, its end is still
 * reported. */
static void leave_untouched(struct target *t)
{
	leave(t);
	t->alive = t->untouched = true;
	control_expect_end(t->shared->control);
}

static void check_filters(struct target *t)
{
	struct engine *g = engine_of(t);
	struct err e;
	struct stop stop = {.target = t};
	if (t->lineage->held || stop_to_walk(t, NULL, &e))
		return;
	stop_settle(&stop);
	bool stays = filters_look(&stop);
	stop_release(&stop);
	control_resume(t->shared->control, t->pid);
	if (stays)
		return;
	debug(LOG_PROBE, 1, "process %d is left: %s", t->pid, t->problem.text);
	leave_untouched(t);
	event_report(g, ENGINE_CONFINED, t, NULL, 0);
}

/* The end of a process that is not our child is not reported by the kernel. */
static void check_for_end(struct target *t)
{
	if (t->pid == engine_of(t)->launched || thread_lives(t->pid))
		return;
	target_end(t, 0);
	event_report(engine_of(t), ENGINE_ENDED, t, NULL, -1);
}

static void check_confinement(struct engine *g)
{
	for (uint32_t i = 0; i < g->targets.len; i++) {
		struct target *t = g->targets.data[i];
		if (t->alive && t->untouched)
			check_for_end(t);
		else if (t->alive && t->region.in && confinement_is_due(t))
			check_filters(t);
	}
}

const char *target_unprobed(const struct target *t)
{
	return t->untouched ? t->problem.text : NULL;
}

/* Walks the paths that the runtime could not walk. This is done soon, because until then each hit
 * on such a path has more overhead. While there are none, the checks become less frequent. Returns
 * the time until the next one. */
static int ms_to_next_check(struct engine *g)
{
	bool any = false;
	vec_each (t, &g->targets)
		if ((*t)->region.in)
			any |= raw_resolve(*t);
	g->look_ms = any ? RAW_CHECK_MIN_MS : g->look_ms * 2;
	if (g->look_ms > RAW_CHECK_MAX_MS || g->look_ms < RAW_CHECK_MIN_MS)
		g->look_ms = g->look_ms < RAW_CHECK_MIN_MS ? RAW_CHECK_MIN_MS : RAW_CHECK_MAX_MS;
	return g->look_ms;
}

/* Whether a signal to us ended the wait early. */
static bool is_early(uint64_t begin, int wait_ms)
{
	return wait_ms > 0 && now_ns() - begin < (uint64_t)(wait_ms - 1) * 1000000;
}

bool engine_poll(struct engine *g, int timeout_ms, struct engine_event *out)
{
	uint64_t end = now_ns() + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0) * 1000000;
	while (!next_event(g, out)) {
		int look = ms_to_next_check(g);
		check_confinement(g);
		if (next_event(g, out))
			return true;
		uint64_t now = now_ns();
		int left = timeout_ms < 0 ? look : now < end ? (int)((end - now) / 1000000) : 0;
		int wait = left < look ? left : look;
		bool late = left <= look && timeout_ms >= 0;
		if (events_handle_known(g, wait)) {
			if (timeout_ms >= 0 && now_ns() >= end)
				return next_event(g, out);
		} else if (late || is_early(now, wait)) {
			return false;
		}
	}
	return true;
}
