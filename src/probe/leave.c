/* Taking everything out of a program and letting it go. */
#include <time.h>

#include "base/log.h"
#include "probe/target.h"
#include "process/memory.h"

/* While it is traced, every signal costs a program so much time that a thread may never get from
 * the handlers back to where the first one interrupted it, in our code. So after some tries it is
 * let go, and followed again. */
enum { TRIES = 12, TRIES_TRACED = 6, HEAL_TRIES = 10 };
static const long FIRST_WAIT_NS = 1000000, LAST_WAIT_NS = 500000000;

static void remove_all(struct target *t)
{
	vec_each (s, &t->subjects)
		s->wanted = false;
	vec_each (c, &t->counted)
		c->wanted = false;
	vec_each (s, &t->sites)
		s->dirty = s->dirty || s->address;
}

/* Procedures that a handler was to come back to may have kept their patches. */
static bool take_out(struct target *t)
{
	struct batch_result ignored = {0};
	struct err e;
	if (batch_commit(t, &ignored, &e))
		return false;
	vec_each (s, &t->sites)
		if (s->address)
			return false;
	return true;
}

/* Whether no patch is left, and no thread in memory of ours; the target is stopped. */
static bool is_out(struct target *t)
{
	uint32_t first;
	bool taken = take_out(t), clean = settle_threads(t, &first);
	move_threads(t, first);
	engine_walks(t->engine, NULL, NULL);
	return taken && clean;
}

/* It may have executed another program, or be another process by now. */
static bool is_the_same(const struct target *t)
{
	struct rt_header h;
	return memory_read(t->pid, t->base, &h, sizeof(h)) == sizeof(h) && h.magic == RT_MAGIC &&
	       h.tracer == target_header(t)->tracer;
}

/* These let it run for a while; false if it is gone. */

static bool run_traced(struct target *t, long ns)
{
	struct err ignored;
	control_resume(t->engine->control, t->pid);
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
	engine_drain(t->engine);
	return t->alive && !target_stop(t, &ignored);
}

static bool run_alone(struct target *t, long ns)
{
	struct err ignored;
	control_detach(t->engine->control, t->pid);
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
	return is_the_same(t) && !control_attach(t->engine->control, t->pid, &ignored) &&
	       t->alive && !target_stop(t, &ignored);
}

static bool get_everybody_out(struct target *t)
{
	long wait = FIRST_WAIT_NS;
	for (unsigned i = 0; !is_out(t); i++) {
		if (i == TRIES || !(i < TRIES_TRACED ? run_traced(t, wait) : run_alone(t, wait)) ||
		    !is_the_same(t))
			return false;
		wait = wait * 2 < LAST_WAIT_NS ? wait * 2 : LAST_WAIT_NS;
	}
	return true;
}

/* A thread that was in code of a killed sonde when we came may have left it by now. */
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
	struct engine *g = t->engine;
	struct err e;
	engine_drain(g);
	if (!t->alive || target_stop(t, &e))
		return;
	t->stopped = true;
	if (t->legacy && legacy_take_over(t, &e))
		debug(LOG_PROBE, 1, "process %d keeps what it has inherited: %s", t->pid, e.text);
	if (t->injected) {
		contexts_leave(t);
		t->leaving = true;
		remove_all(t);
		if (get_everybody_out(t)) {
			forget_passed(t, t->base);
			areas_retire_all(t);
			if (confinement_check(t, &e))
				t->injected = false; /* its memory stays, for a later one to find */
			else
				target_withdraw(t);
		} else {
			debug(LOG_PROBE, 1, "process %d: a thread stays in code of ours", t->pid);
		}
	}
	if (!t->injected)
		heal_rest(t);
	control_detach(g->control, t->pid);
	t->alive = false;
}
