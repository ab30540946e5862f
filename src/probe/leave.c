/* Taking everything out of a program and letting it go. */
#include <time.h>

#include "base/log.h"
#include "probe/target.h"

/* A thread may get little time of a busy machine, and be taken from our code into the handler of
 * another signal whenever it is stopped: longer and longer waits, five seconds in all. */
enum { TRIES = 30, FIRST_WAIT_NS = 1000000, LAST_WAIT_NS = 300000000 };

static void remove_all(struct target *t)
{
	vec_each (s, &t->subjects)
		s->wanted = false;
	vec_each (s, &t->sites)
		s->dirty = s->dirty || s->address;
}

/* Whether no thread is in memory of ours any more; the target is stopped. */
static bool is_out(struct target *t)
{
	uint32_t first;
	bool clean = settle_threads(t, &first);
	engine_walks(t->engine, NULL, NULL);
	return clean;
}

void leave(struct target *t)
{
	struct engine *g = t->engine;
	struct batch_result ignored = {0};
	struct err e;
	engine_drain(g);
	if (!t->alive || control_stop(g->control, t->pid, &e))
		return;
	t->stopped = true;
	if (t->injected) {
		t->leaving = true;
		remove_all(t);
		batch_commit(t, &ignored, &e);
		bool out = is_out(t);
		long wait = FIRST_WAIT_NS;
		for (unsigned i = 0; !out && i < TRIES; i++) {
			control_resume(g->control, t->pid);
			nanosleep(&(struct timespec){.tv_nsec = wait}, NULL);
			wait = wait * 3 / 2 < LAST_WAIT_NS ? wait * 3 / 2 : LAST_WAIT_NS;
			engine_drain(g);
			if (!t->alive || control_stop(g->control, t->pid, &e))
				return;
			out = is_out(t);
		}
		if (out)
			target_withdraw(t);
		else
			debug(LOG_PROBE, 1, "process %d: a thread stays in code of ours", t->pid);
	}
	control_detach(g->control, t->pid);
	t->alive = false;
}
