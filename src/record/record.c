#include "record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "callpath/sink.h"
#include "process/threads.h"
#include "profile/fuse.h"
#include "session/facts.h"
#include "session/family.h"
#include "session/starting.h"

struct record_private {
	const struct record_options *o;
	struct sampler_options sampling;
	struct profile profile;
	struct codes *codes;
	struct sink sink;
	struct sampler *sampler;
	struct starting starting;
	double checked; /* s: when it was last checked whether processes are left */
};

/* ---- before ---- */

static int find_events(struct record_private *own, struct err *e)
{
	for (unsigned i = 0; i < own->o->event_count; i++) {
		struct event *event = &own->sampling.events[i];
		int rc = event_find(event, own->o->events[i], e);
		if (rc)
			return rc;
		vec_push(&own->profile.metrics,
			 (struct profile_metric){
				 .name = event->name,
				 .unit = event->unit,
				 .period = event->clock ? 1000000000 / own->o->hz : 0,
			 });
	}
	own->sampling.event_count = own->o->event_count;
	if (own->o->wall) {
		own->sink.wait_metric = own->profile.metrics.len;
		vec_push(&own->profile.metrics,
			 (struct profile_metric){.name = "wait", .unit = "ns"});
	}
	return 0;
}

static int check_targets(const struct record_options *o, struct err *e)
{
	int rc = 0;
	for (unsigned i = 0; i < o->session.pid_count - o->session.members && !rc; i++)
		rc = process_check_access(o->session.pids[i], e);
	for (unsigned i = 0; i < o->tid_count && !rc; i++) {
		int pid = thread_process(o->tids[i]);
		rc = pid < 0 ? err_set(e, ERR_INPUT, "there is no thread %d", o->tids[i])
			     : process_check_access(pid, e);
	}
	return rc;
}

static int make_sampler(struct recording *r, struct err *e)
{
	struct record_private *own = r->own;
	own->sampling.hz = own->o->hz;
	own->sampling.wall = own->o->wall;
	own->sampling.max_stack = own->o->max_stack;
	own->sampling.sink = sink_callbacks(&own->sink);
	int rc = sampler_new(&own->sampler, &own->sampling, e);
	if (rc)
		return rc;
	finisher_init(&own->sink.finisher, own->sampler);
	return 0;
}

static void add_facts(struct session *session)
{
	struct recording *r = session->own;
	struct record_private *own = r->own;
	facts_number(&own->profile, "hz", own->o->hz, 0);
	profile_fact(&own->profile, "sampler", own->sampler->ops->name);
	profile_fact(&own->profile, "note", own->sampler->note);
	profile_fact(&own->profile, "user_only", own->sampler->user_only ? "1" : "0");
}

static int watch(struct record_private *own, int tid, bool whole, bool starting, struct err *e)
{
	return own->sampler->ops->watch(own->sampler, tid, whole, starting, e);
}

static int let_go(struct session *session, int *not_started, struct err *e)
{
	struct recording *r = session->own;
	return starting_go(&r->own->starting, session, not_started, e);
}

static int open_program(struct session *session, int *not_started, struct err *e)
{
	struct recording *r = session->own;
	struct record_private *own = r->own;
	if (!session->o->argv)
		return 0;
	return starting_open(&own->starting, session, own->sampler, not_started, e);
}

static int begin(struct session *session, struct err *e)
{
	struct recording *r = session->own;
	struct record_private *own = r->own;
	const struct record_options *o = own->o;
	int rc = families_watch(session, own->sampler, NULL, NULL, e);
	for (unsigned i = 0; i < o->tid_count && !rc; i++)
		rc = watch(own, o->tids[i], false, false, e);
	return rc;
}

static void abandon(struct session *session)
{
	struct recording *r = session->own;
	starting_abandon(&r->own->starting);
}

/* ---- while it runs ---- */

/* A thread that is held for a moment has ptrace stops. waitpid() would take such a stop for the
 * end, and take it away from the holder. So the event is peeked at first, and only an end is
 * collected. */
static bool child_ended(int pid, int *status)
{
	siginfo_t info = {0};
	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
		return false;
	if (info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED)
		return false;
	return waitpid(pid, status, WNOHANG) == pid;
}

static void look_for_end(struct recording *r)
{
	struct sampler *s = r->own->sampler;
	int pid = r->session.program, status;
	if (pid && (s->ops->ended ? s->ops->ended(s, pid, &status) : child_ended(pid, &status)))
		session_program_ended(&r->session, status);
}

static int take_samples(struct session *session, int timeout_ms, struct err *e)
{
	struct recording *r = session->own;
	struct sampler *s = r->own->sampler;
	int rc = s->ops->run(s, timeout_ms, e);
	session_passed(&r->session);
	look_for_end(r);
	return rc;
}

static bool is_over(struct session *session)
{
	struct recording *r = session->own;
	struct record_private *own = r->own;
	double now = now_seconds();
	if (!own->sink.stacks.watched.live)
		return true;
	if (now - own->checked < 1)
		return false;
	own->checked = now;
	return watched_is_over(&own->sink.stacks.watched);
}

static void on_tick(void *ctx)
{
	struct recording *r = ctx;
	session_tick(&r->session);
}

/* ---- afterwards ---- */

static void leave(struct session *session)
{
	struct recording *r = session->own;
	struct record_private *own = r->own;
	own->sampler->ops->finish(own->sampler);
	sink_finish(&own->sink);
	/* What the sampler has to say may have become clear while it ran. */
	snprintf(r->note, sizeof(r->note), "%s", own->sampler->note);
	profile_fact(&own->profile, "note", own->sampler->note);
	r->samples = own->sink.samples;
	r->threads = own->profile.threads.len;
	vec_each (c, &own->profile.counts) {
		if (!strcmp(c->name, walk_end_name[WALK_COMPLETE]))
			r->complete = c->samples;
		if (!strcmp(c->name, "lost"))
			r->lost = c->samples;
	}
}

static struct module *opened_module(void *ctx, uint32_t module)
{
	struct record_private *own = ctx;
	return own->sink.stacks.modules.codes.data[module]->module;
}

static struct flow *opened_flow(void *ctx, uint32_t module)
{
	struct record_private *own = ctx;
	return own->sink.stacks.modules.codes.data[module]->flow;
}

static void recovers(void *ctx, uint32_t module)
{
	const struct record_private *own = ctx;
	own->o->recovers(own->o->recovers_ctx, own->profile.modules.data[module].path);
}

static void complete(struct session *session)
{
	struct recording *r = session->own;
	const struct fuse_options fuse = {.module = opened_module,
					  .flow = opened_flow,
					  .recovers = r->own->o->recovers ? recovers : NULL,
					  .ctx = r->own};
	profile_fuse(&r->own->profile, &fuse);
}

static const struct session_ops ops = {
	.open = open_program,
	.add_facts = add_facts,
	.begin = begin,
	.go = let_go,
	.wait = take_samples,
	.is_over = is_over,
	.leave = leave,
	.complete = complete,
	.abandon = abandon,
};

/* ---- new and free ---- */

struct recording *record_new(const struct record_options *o, struct err *e)
{
	struct recording *r = xcalloc(1, sizeof(*r));
	struct record_private *own = xcalloc(1, sizeof(*own));
	r->own = own;
	own->o = o;
	profile_init(&own->profile);
	own->codes = codes_new(NULL);
	sink_init(&own->sink, &own->profile, own->codes);
	own->sink.tick = on_tick;
	own->sink.tick_ctx = r;
	session_init(&r->session, &o->session, &ops, r, &own->profile);
	int rc = find_events(own, e);
	rc = rc ? rc : check_targets(o, e);
	rc = rc ? rc : make_sampler(r, e);
	if (!rc)
		return r;
	record_free(r);
	return NULL;
}

void record_free(struct recording *r)
{
	struct record_private *own = r->own;
	if (own->sampler)
		own->sampler->ops->free(own->sampler);
	sink_release(&own->sink);
	codes_free(own->codes);
	profile_release(&own->profile);
	free(own);
	free(r);
}
