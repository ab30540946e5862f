#include "probe/engine/leave.h"

#include <time.h>

#include "base/log.h"
#include "probe/engine/inherit.h"
#include "probe/region/confinement.h"
#include "probe/region/inject.h"
#include "probe/region/retire.h"
#include "probe/stop/abandon.h"
#include "probe/stop/batch.h"
#include "probe/stop/heal.h"
#include "probe/stop/rehearse.h"
#include "probe/stop/where.h"
#include "process/memory.h"

/* A thread may be in a signal handler that interrupted our code. While a program is traced, each
 * signal takes so long that the next one may arrive before the handler has returned, again and
 * again. So after some tries we let the program run untraced: we detach from it, and attach to it
 * again. */
enum { TRIES = 12, TRIES_TRACED = 6, HEAL_TRIES = 10 };
static const long FIRST_WAIT_NS = 1000000, LAST_WAIT_NS = 500000000;

static void remove_all(struct target *t)
{
	vec_each (s, &t->code->subjects)
		s->wanted = false;
	vec_each (c, &t->code->counted)
		c->wanted = false;
	vec_each (s, &t->code->sites)
		s->dirty = s->dirty || s->address;
}

/* Takes the patches out. Returns false if some remain: functions that a handler will return to may
 * have kept theirs. */
static bool take_out(struct target *t)
{
	struct batch_result ignored = {0};
	struct err e;
	if (batch_commit(t, &ignored, &e))
		return false;
	vec_each (s, &t->code->sites)
		if (s->address)
			return false;
	return true;
}

/* Takes everything out of the stopped target. Returns whether no patch is left, and no thread is in
 * our memory. */
static bool take_all_out(struct target *t)
{
	struct stop stop = {.target = t};
	bool taken = take_out(t);
	stop_settle(&stop);
	stop_move_threads(&stop);
	stop_release(&stop);
	walks_report(t->shared, NULL, NULL);
	return taken && stop.clean;
}

/* Whether the process still has our region: it may have executed another program, or the pid may
 * belong to another process by now. */
static bool has_our_region(const struct target *t)
{
	struct rt_header h;
	return memory_read(t->pid, t->region.base, &h, sizeof(h)) == sizeof(h) &&
	       h.magic == RT_MAGIC && h.tracer == target_header(t)->tracer;
}

/* These two let the program run for a while, and stop it again. They return false if it is gone.
 */

static bool run_traced(struct target *t, long ns)
{
	struct err ignored;
	control_resume(t->shared->control, t->pid);
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
	events_drain(engine_of(t));
	return t->alive && !target_stop(t, &ignored);
}

static bool run_untraced(struct target *t, long ns)
{
	struct err ignored;
	control_detach(t->shared->control, t->pid);
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
	return has_our_region(t) && !control_attach(t->shared->control, t->pid, &ignored) &&
	       t->alive && !target_stop(t, &ignored);
}

static bool get_all_threads_out(struct target *t)
{
	long wait = FIRST_WAIT_NS;
	for (unsigned i = 0; !take_all_out(t); i++) {
		if (i == TRIES ||
		    !(i < TRIES_TRACED ? run_traced(t, wait) : run_untraced(t, wait)) ||
		    !has_our_region(t))
			return false;
		wait = wait * 2 < LAST_WAIT_NS ? wait * 2 : LAST_WAIT_NS;
	}
	return true;
}

/* A thread that was in code of a killed sonde when we came may have got out by now. */
static void heal_rest(struct target *t)
{
	struct err ignored;
	long wait = FIRST_WAIT_NS;
	for (unsigned i = 0; t->unhealed && i < HEAL_TRIES; i++, wait *= 2)
		if (heal(t, &ignored) || (t->unhealed && !run_traced(t, wait)))
			return;
}

void leave(struct target *t)
{
	struct shared *g = t->shared;
	struct err e;
	events_drain(engine_of(t));
	if (!t->alive || stop_to_walk(t, NULL, &e))
		return;
	t->stopped = true;
	if (t->lineage->inherited && target_inherit_now(t, &e))
		debug(LOG_PROBE, 1, "process %d keeps what it has inherited: %s", t->pid, e.text);
	if (t->region.in) {
		counting_end(t);
		t->leaving = true;
		remove_all(t);
		if (get_all_threads_out(t)) {
			clear_passed_registers(t, t->region.base);
			threads_retire_all(t);
			/* If we may not unmap its memory, that stays for a later sonde to find. */
			if (confinement_check(t, &e))
				t->region.in = false;
			else
				target_withdraw(t);
		} else {
			debug(LOG_PROBE, 1, "process %d: a thread stays in code of ours", t->pid);
		}
	}
	if (!t->region.in)
		heal_rest(t);
	control_detach(g->control, t->pid);
	t->alive = false;
}
