/* Taking everything out of a program and letting it go. */
#include <time.h>

#include "base/log.h"
#include "probe/target.h"
#include "process/memory.h"

/* While it is traced, every signal costs a program so much time that a thread may never get from
 * the handlers back to where the first one interrupted it, in our code. So after some tries it is
 * let go, and followed again. */
enum { TRIES = 12, TRIES_TRACED = 6 };
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

/* Lets it run for a while; false if it is gone. */
static bool let_run(struct target *t, long ns, bool traced)
{
	struct control *c = t->engine->control;
	struct err ignored;
	if (traced)
		control_resume(c, t->pid);
	else
		control_detach(c, t->pid);
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
	if (traced)
		engine_drain(t->engine);
	else if (!is_the_same(t) || control_attach(c, t->pid, &ignored))
		return false;
	return t->alive && !target_stop(t, &ignored) && is_the_same(t);
}

static bool get_everybody_out(struct target *t)
{
	long wait = FIRST_WAIT_NS;
	for (unsigned i = 0; !is_out(t); i++) {
		if (i == TRIES || !let_run(t, wait, i < TRIES_TRACED))
			return false;
		wait = wait * 2 < LAST_WAIT_NS ? wait * 2 : LAST_WAIT_NS;
	}
	return true;
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
	control_detach(g->control, t->pid);
	t->alive = false;
}
