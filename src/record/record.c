#include "record/record.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "process/launch.h"
#include "process/threads.h"
#include "profile/fuse.h"
#include "record/facts.h"
#include "record/saver.h"
#include "record/signals.h"
#include "record/sink.h"

/* So often the loop looks at the clock at least. */
enum { TURN_MS = 100 };

struct recording {
	const struct record_options *o;
	struct record_result *r;
	struct sampler_options sampling;
	struct profile profile;
	struct codes *codes;
	struct sink sink;
	struct sampler *sampler;
	struct saver saver;
	struct launch launch;
	double started; /* s, CLOCK_MONOTONIC */
	double checked; /* when it was last looked whether anything is left to observe */
};

static void on_tick(void *ctx)
{
	struct recording *rec = ctx;
	saver_tick(&rec->saver);
}

/* ---- before ---- */

static int find_events(struct recording *rec, struct err *e)
{
	for (unsigned i = 0; i < rec->o->event_count; i++) {
		struct event *event = &rec->sampling.events[i];
		int rc = event_find(event, rec->o->events[i], e);
		if (rc)
			return rc;
		vec_push(&rec->profile.metrics,
			 (struct profile_metric){
				 .name = event->name,
				 .unit = event->unit,
				 .period = event->clock ? 1000000000 / rec->o->hz : 0,
			 });
	}
	rec->sampling.event_count = rec->o->event_count;
	if (rec->o->wall) {
		rec->sink.wait_metric = rec->profile.metrics.len;
		vec_push(&rec->profile.metrics,
			 (struct profile_metric){.name = "wait", .unit = "ns"});
	}
	return 0;
}

static int watch_running(struct recording *rec, struct err *e)
{
	const struct record_options *o = rec->o;
	int rc = 0;
	for (unsigned i = 0; i < o->pid_count && !rc; i++)
		rc = rec->sampler->ops->watch(rec->sampler, o->pids[i], true, false, e);
	for (unsigned i = 0; i < o->tid_count && !rc; i++)
		rc = rec->sampler->ops->watch(rec->sampler, o->tids[i], false, false, e);
	return rc;
}

static int check_targets(const struct record_options *o, struct err *e)
{
	int rc = 0;
	for (unsigned i = 0; i < o->pid_count && !rc; i++)
		rc = process_check_access(o->pids[i], e);
	for (unsigned i = 0; i < o->tid_count && !rc; i++) {
		int pid = thread_process(o->tids[i]);
		rc = pid < 0 ? err_set(e, ERR_INPUT, "there is no thread %d", o->tids[i])
			     : process_check_access(pid, e);
	}
	return rc;
}

static int make_sampler(struct recording *rec, struct err *e)
{
	const struct record_options *o = rec->o;
	rec->sampling.hz = o->hz;
	rec->sampling.wall = o->wall;
	rec->sampling.max_stack = o->max_stack;
	rec->sampling.sink = sink_callbacks(&rec->sink);
	int rc = sampler_new(&rec->sampler, &rec->sampling, e);
	if (rc)
		return rc;
	paths_init(&rec->sink.paths, rec->sampler);
	snprintf(rec->r->note, sizeof(rec->r->note), "%s", rec->sampler->note);
	return 0;
}

static void add_facts(struct recording *rec)
{
	struct profile *p = &rec->profile;
	facts_of_host(p);
	if (rec->o->argv)
		facts_of_command(p, rec->o->argv);
	else if (rec->o->pid_count == 1)
		facts_of_process(p, rec->o->pids[0]);
	facts_number(p, "hz", rec->o->hz, 0);
	profile_fact(p, "sampler", rec->sampler->ops->name);
	profile_fact(p, "note", rec->sampler->note);
	profile_fact(p, "user_only", rec->sampler->user_only ? "1" : "0");
}

/* The child ends when it sees that nobody will let it go. */
static void cancel(struct launch *l)
{
	close(l->go);
	close(l->failed);
}

/* The program waits just before its first instruction until everything is in place. */
static int start_program(struct recording *rec, struct err *e)
{
	const char *name = rec->o->argv[0];
	/* A typing error must not replace the previous recording. */
	bool can = launch_can_start(name);
	int rc = launch_prepare(&rec->launch, rec->o->argv, e);
	if (rc)
		return rc;
	if (can) {
		rc = rec->sampler->ops->watch(rec->sampler, rec->launch.pid, true, true, e);
		rc = rc ? rc : saver_open(&rec->saver, &rec->profile, rec->o->output, e);
		if (rc) {
			cancel(&rec->launch);
			return rc;
		}
	}
	signals_install(rec->launch.pid);
	rc = launch_go(&rec->launch, name, &rec->r->not_started, e);
	if (rc && rec->saver.store)
		saver_undo(&rec->saver);
	if (!rc)
		rec->r->program = rec->launch.pid;
	return rc;
}

static int start_observing(struct recording *rec, struct err *e)
{
	signals_install(0);
	int rc = saver_open(&rec->saver, &rec->profile, rec->o->output, e);
	if (rc)
		return rc;
	rc = watch_running(rec, e);
	if (rc)
		saver_undo(&rec->saver);
	return rc;
}

/* ---- meanwhile ---- */

/* A thread that is held for a moment has stops that waitpid() would take for the end, and take
 * away from who holds it. */
static bool child_ended(int pid, int *status)
{
	siginfo_t info = {0};
	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
		return false;
	if (info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED)
		return false;
	return waitpid(pid, status, WNOHANG) == pid;
}

static bool program_ended(struct recording *rec)
{
	const struct sampler_ops *ops = rec->sampler->ops;
	int pid = rec->r->program;
	bool ended = ops->ended ? ops->ended(rec->sampler, pid, &rec->r->status)
				: child_ended(pid, &rec->r->status);
	if (ended) {
		rec->r->program = 0;
		signals_forget_program();
	}
	return ended;
}

static bool nothing_left(struct recording *rec)
{
	double t = now_seconds();
	if (!rec->sink.watched.live)
		return true;
	if (t - rec->checked < 1)
		return false;
	rec->checked = t;
	return watched_is_over(&rec->sink.watched);
}

static bool is_over(struct recording *rec)
{
	if (rec->o->seconds > 0 && now_seconds() - rec->started >= rec->o->seconds)
		return true;
	if (signals_want_end())
		return true;
	return rec->r->program ? program_ended(rec) : nothing_left(rec);
}

static int turn_ms(const struct recording *rec)
{
	double left = rec->started + rec->o->seconds - now_seconds();
	if (rec->o->seconds <= 0 || left > 1e-3 * TURN_MS)
		return TURN_MS;
	return left > 0 ? (int)(left * 1000) + 1 : 0;
}

static void update_seconds(struct recording *rec)
{
	rec->r->seconds = now_seconds() - rec->started;
	facts_number(&rec->profile, "seconds", rec->r->seconds, 3);
}

static void observe(struct recording *rec)
{
	struct err e;
	while (!is_over(rec)) {
		if (rec->sampler->ops->run(rec->sampler, turn_ms(rec), &e)) {
			snprintf(rec->r->problem, sizeof(rec->r->problem),
				 "recording ended early: %s", e.text);
			break;
		}
		update_seconds(rec);
		saver_tick(&rec->saver);
	}
	update_seconds(rec);
	rec->sampler->ops->finish(rec->sampler);
	sink_finish(&rec->sink);
}

/* ---- afterwards ---- */

static struct image *opened_image(void *ctx, uint32_t image)
{
	struct recording *rec = ctx;
	return rec->sink.images.codes.data[image]->image;
}

/* What was recorded is safe before structure is looked for, so that a signal may end that. While
 * the program runs on, signals are still for it. */
static void save_all(struct recording *rec)
{
	const struct fuse_options fuse = {.image = opened_image, .ctx = rec};
	rec->profile.finished = true;
	saver_save(&rec->saver);
	if (!rec->r->program)
		signals_restore();
	profile_fuse(&rec->profile, &fuse);
	if (!saver_save(&rec->saver) && !rec->r->problem[0])
		snprintf(rec->r->problem, sizeof(rec->r->problem), "not all could be saved: %s",
			 rec->saver.problem.text);
	saver_close(&rec->saver);
}

static void count_result(struct recording *rec)
{
	struct record_result *r = rec->r;
	r->samples = rec->sink.samples;
	r->threads = rec->profile.threads.len;
	vec_each (c, &rec->profile.counts) {
		if (!strcmp(c->name, walk_end_name[WALK_COMPLETE]))
			r->complete = c->samples;
		if (!strcmp(c->name, "lost"))
			r->lost = c->samples;
	}
}

static void release(struct recording *rec)
{
	if (rec->sampler)
		rec->sampler->ops->free(rec->sampler);
	sink_release(&rec->sink);
	codes_free(rec->codes);
	profile_release(&rec->profile);
	free(rec);
}

static int prepare(struct recording *rec, struct err *e)
{
	int rc = find_events(rec, e);
	rc = rc ? rc : check_targets(rec->o, e);
	rc = rc ? rc : make_sampler(rec, e);
	if (rc)
		return rc;
	add_facts(rec);
	launch_remember_signals();
	return rec->o->argv ? start_program(rec, e) : start_observing(rec, e);
}

int record_run(const struct record_options *o, struct record_result *r, struct err *e)
{
	struct recording *rec = xcalloc(1, sizeof(*rec));
	*r = (struct record_result){0};
	rec->o = o;
	rec->r = r;
	profile_init(&rec->profile);
	rec->codes = codes_new(NULL);
	sink_init(&rec->sink, &rec->profile, rec->codes);
	rec->sink.tick = on_tick;
	rec->sink.tick_ctx = rec;
	int rc = prepare(rec, e);
	if (!rc) {
		rec->started = now_seconds();
		observe(rec);
		save_all(rec);
		count_result(rec);
	}
	release(rec);
	return rc;
}
