#include "session/probing.h"

#include "base/clock.h"
#include "process/threads.h"
#include "session/signals.h"

void probing_init(struct probing *p, struct session *s, struct engine *engine,
		  const struct probing_ops *ops)
{
	*p = (struct probing){.session = s, .engine = engine, .ops = ops};
	s->probing = p;
}

int probing_open(struct probing *p, int *not_started, struct err *e)
{
	struct session *s = p->session;
	if (!s->o->argv)
		return engine_attach(p->engine, s->o->pids[0], &p->first, e);
	int rc = engine_launch(p->engine, s->o->argv, &p->first, not_started, e);
	if (rc)
		return rc;
	s->program = target_pid(p->first);
	signals_install(s->program);
	return 0;
}

int probing_go(struct session *s, int *not_started, struct err *e)
{
	(void)not_started;
	(void)e;
	if (s->o->argv)
		target_go(s->probing->first);
	s->probing->first = NULL;
	return 0;
}

void probing_abandon(struct session *s)
{
	if (s->probing->first)
		target_leave(s->probing->first);
}

static bool is_stopped_for(enum engine_happening what)
{
	return what == ENGINE_EXECUTED || what == ENGINE_LOADED;
}

static void handle_event(struct probing *p, const struct engine_event *v)
{
	if (v->what == ENGINE_ENDED && v->pid == p->session->program)
		session_program_ended(p->session, v->status);
	p->ops->handlers[v->what](p->session->own, v);
	if (v->target && is_stopped_for(v->what))
		target_go(v->target);
}

int probing_wait(struct session *s, int timeout_ms, struct err *e)
{
	struct probing *p = s->probing;
	struct engine_event v;
	uint64_t end = now_ns() + (uint64_t)timeout_ms * 1000000;
	bool more = true;
	(void)e;
	while (more) {
		more = engine_poll(p->engine, timeout_ms, &v);
		session_passed(s);
		if (p->ops->passed)
			p->ops->passed(s->own);
		if (more)
			handle_event(p, &v);
		timeout_ms = 0;
		if (s->ended || now_ns() >= end) /* events of a fork storm never end */
			more = false;
	}
	return 0;
}

void probing_report_privileges(const struct probing *p, int pid)
{
	if (process_lacks_privileges(pid))
		session_message(
			p->session,
			"process %d runs without the privileges of its program: set-user-ID and "
			"the like are ignored under tracing; run sonde as root to keep them",
			pid);
}
