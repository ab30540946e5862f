/* Attaching to programs, and starting them. */
#include <signal.h>

#include "probe/code/rendezvous.h"
#include "probe/engine/events.h"
#include "probe/engine/inherit.h"
#include "probe/region/confinement.h"
#include "probe/stop/heal.h"
#include "probe/stop/rehearse.h"
#include "process/threads.h"

static int keep_untouched(struct engine *g, struct target *t, struct target **out,
			  const struct err *e)
{
	t->problem = *e;
	t->untouched = true;
	control_expect_end(g->shared.control);
	*out = t;
	return 0;
}

/* The process is traced and stopped. */
static int attach_to(struct engine *g, int pid, struct target **out, struct err *e)
{
	struct control_event forked;
	while (control_next_forked(g->shared.control, pid, &forked))
		g->shared.forked(g, &forked);
	struct target *t = target_new(g, pid);
	int rc = heal(t, e);
	if (!rc)
		rc = target_prepare(t, e);
	if (rc) {
		control_detach(g->shared.control, pid);
		if (rc == ERR_CONFINED && g->shared.options.unprobed)
			return keep_untouched(g, t, out, e);
		engine_drop(g, t);
		return rc;
	}
	control_resume(g->shared.control, pid);
	*out = t;
	return 0;
}

/* Traces the process, and stops it when what the first stop needs is analysed. */
static int trace(struct target *t, struct err *e)
{
	int rc = space_refresh(t->space, e);
	if (rc)
		return rc;
	rendezvous_prepare(t);
	rc = control_attach(t->shared->control, t->pid, e);
	if (rc)
		return rc;
	rc = stop_rehearsed(t, e);
	if (rc)
		control_detach(t->shared->control, t->pid);
	return rc;
}

int engine_attach(struct engine *g, int pid, struct target **out, struct err *e)
{
	if (!g->shared.arch)
		return err_set(e, ERR_UNSUPPORTED, "programs cannot be probed on this machine");
	int rc = process_check_attach(pid, e);
	if (rc)
		return rc;
	struct target *t = target_new(g, pid);
	rc = confinement_check_untouched(t, e);
	if (rc && g->shared.options.unprobed)
		return keep_untouched(g, t, out, e);
	rc = rc ? rc : trace(t, e);
	engine_drop(g, t);
	return rc ? rc : attach_to(g, pid, out, e);
}

int target_begin(struct target *t, struct err *e)
{
	if (t->region.in)
		return 0;
	int rc = target_stop(t, e);
	if (rc)
		return rc;
	rc = t->lineage->inherited ? target_inherit_now(t, e) : target_prepare(t, e);
	control_resume(t->shared->control, t->pid);
	return rc;
}

/* Waits until the launched program is loaded; other events stay in the queue. */
static int await_loaded(struct engine *g, int pid, struct target **out, struct err *e)
{
	struct control_event ev;
	for (;;) {
		vec_each (k, &g->events) {
			if (k->pid != pid)
				continue;
			if (k->what == ENGINE_ENDED)
				return err_set(e, ERR_SYSTEM,
					       "the program ended before it was loaded");
			if (k->what != ENGINE_EXECUTED)
				continue;
			*out = k->target;
			vec_remove(&g->events, (uint32_t)(k - g->events.data));
			return 0;
		}
		if (control_wait(g->shared.control, -1, &ev))
			event_happened(g, &ev);
	}
}

int engine_launch(struct engine *g, char *const *argv, struct target **out, int *why, struct err *e)
{
	struct target *t = NULL;
	int pid;
	if (!g->shared.arch)
		return err_set(e, ERR_UNSUPPORTED, "programs cannot be probed on this machine");
	int rc = control_launch(g->shared.control, argv, &pid, why, e);
	g->launched = rc ? 0 : pid;
	if (!rc)
		rc = await_loaded(g, pid, &t, e);
	if (rc)
		return rc;
	if (!t->region.in && t->problem.code == ERR_CONFINED && g->shared.options.unprobed) {
		struct err why_not = t->problem;
		return keep_untouched(g, t, out, &why_not);
	}
	if (!t->region.in) {
		*e = t->problem;
		kill(pid, SIGKILL); /* it has not executed an instruction of its own */
		control_detach(g->shared.control, pid);
		engine_drop(g, t);
		return e->code;
	}
	*out = t;
	return 0;
}
