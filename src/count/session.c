#include "count/session.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "count/choose.h"
#include "count/coverage.h"
#include "count/keeper.h"
#include "count/read.h"
#include "process/launch.h"
#include "process/threads.h"
#include "profile/fuse.h"
#include "record/facts.h"
#include "record/saver.h"
#include "record/signals.h"

struct count_private {
	struct engine *engine;
	struct codes *codes; /* none: the engine has them */
	struct watched watched;
	struct images images;
	struct count_reader reader;
	struct saver saver;
	struct keeper keeper;
	struct coverage *coverage;
	VEC(struct target *) targets;
	struct count_choice choice;
	uint32_t killed; /* processes that a signal ended */
	double started;
};

static void __attribute__((format(printf, 2, 3)))
tell(struct count_session *s, const char *fmt, ...)
{
	char sentence[900];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	s->o->tell(s->o->ctx, sentence);
}

/* Not while a program of ours runs: its own words may be on the terminal. */
static void on_prepared(void *ctx, uint32_t done, uint32_t total)
{
	const struct count_session *s = ctx;
	if (s->own->started == 0)
		s->o->progress(s->o->ctx, COUNT_PREPARING, done, total);
}

static void on_read(void *ctx, uint32_t done, uint32_t total)
{
	const struct count_session *s = ctx;
	if (!s->program || s->o->pid)
		s->o->progress(s->o->ctx, COUNT_READING, done, total);
}

/* ---- putting in ---- */

struct choice {
	struct count_session *s;
	int pid;
};

static bool is_chosen(void *ctx, const struct code *code)
{
	const struct choice *c = ctx;
	return count_chooses(&c->s->own->choice, c->pid, code->path);
}

static void note_refused(struct count_session *s, struct target *t)
{
	struct counted_procedure p;
	for (uint32_t i = 1; target_counted(t, i, &p); i++) {
		if (p.refused == REFUSED_NONE)
			continue;
		coverage_refused(s->own->coverage, &p);
	}
}

/* All procedures of chosen images that are not counted yet. */
static int count_all(struct count_session *s, struct target *t, struct err *e)
{
	struct choice choice = {s, target_pid(t)};
	struct batch_result b = {0};
	uint32_t added = 0;
	int rc = target_count(t, is_chosen, &choice, &added, e);
	if (!rc && added)
		rc = target_commit(t, &b, e);
	alloc_trim();
	note_refused(s, t);
	return rc;
}

/* ---- what happens to the program ---- */

static void name_process(struct count_session *s, int pid)
{
	char name[16];
	thread_name(pid, pid, name);
	if (name[0])
		watched_name(&s->own->watched, pid, pid, name);
}

/* The same program, but it may not do the same. */
static void tell_privileges(struct count_session *s, int pid)
{
	if (process_lacks_privileges(pid))
		tell(s,
		     "process %d runs without the privileges of its program (set-user-ID or the "
		     "like), as you trace it: to count it with them, be root",
		     pid);
}

static void add_target(struct count_session *s, struct target *t)
{
	vec_push(&s->own->targets, t);
}

/* Reads what a process has counted, and forgets it; if it runs on, it does so without us. */
static void drop_target(struct count_session *s, struct target *t)
{
	uint32_t kept = 0;
	target_leave(t);
	alloc_trim();
	count_read(&s->own->reader, t);
	vec_each (x, &s->own->targets)
		if (*x != t)
			s->own->targets.data[kept++] = *x;
	s->own->targets.len = kept;
	engine_drop(s->own->engine, t);
}

static void on_forked(struct count_session *s, const struct engine_event *v)
{
	int pid = target_pid(v->target);
	watched_fork(&s->own->watched, target_pid(v->parent), pid);
	name_process(s, pid);
	add_target(s, v->target);
}

static void on_executed(struct count_session *s, const struct engine_event *v)
{
	struct err e;
	if (v->parent)
		drop_target(s, v->parent);
	watched_exec(&s->own->watched, target_pid(v->target));
	name_process(s, target_pid(v->target));
	add_target(s, v->target);
	tell_privileges(s, target_pid(v->target));
	if (count_all(s, v->target, &e))
		tell(s, "process %d is not counted: %s", target_pid(v->target), e.text);
	target_go(v->target);
}

static void on_loaded(struct count_session *s, const struct engine_event *v)
{
	struct err e;
	if (count_all(s, v->target, &e))
		tell(s, "a library that was loaded is not counted: %s", e.text);
	target_go(v->target);
}

static void on_ended(struct count_session *s, const struct engine_event *v)
{
	s->own->killed += WIFSIGNALED(v->status);
	if (target_pid(v->target) == s->program) {
		s->program = 0;
		s->status = v->status;
		signals_forget_program();
	}
	drop_target(s, v->target);
}

/* What was measured stays. */
static void on_confined(struct count_session *s, const struct engine_event *v)
{
	tell(s, "%s: it is measured no longer", target_unprobed(v->target));
}

static void on_event(struct count_session *s, const struct engine_event *v)
{
	static void (*const handlers[])(struct count_session *, const struct engine_event *) = {
		[ENGINE_FORKED] = on_forked, [ENGINE_EXECUTED] = on_executed,
		[ENGINE_LOADED] = on_loaded, [ENGINE_CONFINED] = on_confined,
		[ENGINE_ENDED] = on_ended,
	};
	handlers[v->what](s, v);
}

static bool is_over(const struct count_session *s)
{
	if (signals_want_end())
		return true;
	return s->o->argv ? !s->program : !s->own->targets.len;
}

static void rescue(void *ctx);

bool count_turn(struct count_session *s, int timeout_ms)
{
	struct engine_event v;
	bool happened = !is_over(s) && engine_poll(s->own->engine, timeout_ms, &v);
	/* Reading what was counted is no part of the run. */
	s->seconds = now_seconds() - s->own->started;
	coverage_take(s->own->coverage, s->own->targets.data, s->own->targets.len);
	if (happened)
		on_event(s, &v);
	keeper_tick(&s->own->keeper, rescue, s);
	return !is_over(s);
}

/* ---- the beginning ---- */

static uint32_t add_metric(struct profile *p, const char *name)
{
	vec_push(&p->metrics, (struct profile_metric){.name = name, .unit = ""});
	return p->metrics.len - 1;
}

static void add_facts(struct count_session *s)
{
	facts_of_host(&s->profile);
	if (s->o->argv)
		facts_of_command(&s->profile, s->o->argv);
	else
		facts_of_process(&s->profile, s->o->pid);
	profile_fact(&s->profile, "sampler", "counters");
	profile_fact(&s->profile, "images", s->o->images);
}

static void init(struct count_session *s)
{
	/* For tests: what is taken for free is destroyed. */
	const struct engine_options options = {
		.poison = getenv("SONDE_POISON"), .progress = on_prepared, .ctx = s};
	struct count_private *own = xcalloc(1, sizeof(*own));
	s->own = own;
	profile_init(&s->profile);
	own->engine = engine_new(&options);
	own->coverage = coverage_new();
	own->choice.images = s->o->images;
	own->codes = codes_new(NULL);
	watched_init(&own->watched, &s->profile, own->codes);
	images_init(&own->images, &s->profile);
	own->reader = (struct count_reader){
		.profile = &s->profile,
		.watched = &own->watched,
		.images = &own->images,
		.studies = studies_new(),
		.progress = on_read,
		.ctx = s,
		.instructions = add_metric(&s->profile, PROFILE_INSTRUCTIONS),
		.calls = add_metric(&s->profile, PROFILE_CALLS),
		.runs = add_metric(&s->profile, PROFILE_RUNS),
	};
}

/* From the first change in a running program on no signal may end us, or the change would stay. */
static int open_program(struct count_session *s, struct target **t, int *not_started, struct err *e)
{
	struct engine *g = s->own->engine;
	if (!s->o->argv) {
		signals_install(0);
		return engine_attach(g, s->o->pid, t, e);
	}
	int rc = engine_launch(g, s->o->argv, t, not_started, e);
	if (rc)
		return rc;
	s->program = target_pid(*t);
	signals_install(s->program);
	return 0;
}

static int begin(struct count_session *s, int *not_started, struct err *e)
{
	struct target *t;
	double before = now_seconds();
	int rc = open_program(s, &t, not_started, e);
	if (rc)
		return rc;
	add_target(s, t);
	watched_process(&s->own->watched, target_pid(t));
	name_process(s, target_pid(t));
	add_facts(s);
	if (s->o->argv)
		tell_privileges(s, target_pid(t));
	rc = saver_open(&s->own->saver, &s->profile, s->o->output, e);
	rc = rc ? rc : count_all(s, t, e);
	coverage_watch(s->own->coverage, target_pid(t));
	s->own->started = now_seconds();
	s->preparing = s->own->started - before;
	if (!rc)
		target_go(t);
	return rc;
}

/* A program that was launched for nothing has not executed an instruction of its own. */
static void give_up(struct count_session *s)
{
	int program = s->program, status;
	if (s->own->saver.store)
		saver_undo(&s->own->saver);
	if (program)
		kill(program, SIGKILL);
	count_free(s);
	if (program)
		launch_wait(program, &status);
}

int count_start(struct count_session **out, const struct count_options *o, int *not_started,
		struct err *e)
{
	struct count_session *s = xcalloc(1, sizeof(*s));
	s->o = o;
	*not_started = 0;
	launch_remember_signals();
	init(s);
	int rc = begin(s, not_started, e);
	if (rc) {
		give_up(s);
		return rc;
	}
	*out = s;
	return 0;
}

/* ---- the end ---- */

static struct image *engine_image(void *ctx, uint32_t image)
{
	return ((struct count_session *)ctx)->own->images.codes.data[image]->image;
}

static const struct structure *known_structure(void *ctx, uint32_t image)
{
	struct count_private *own = ((struct count_session *)ctx)->own;
	return studies_structure(own->reader.studies, own->images.codes.data[image]);
}

/* What the figures do not hold. */
static void tell_losses(struct count_session *s)
{
	const struct count_reader *r = &s->own->reader;
	if (r->dropped) {
		facts_number(&s->profile, "dropped", (double)r->dropped, 0);
		tell(s,
		     "%" PRIu64 " events were not counted, in signal handlers that interrupted "
		     "the counting of others mostly",
		     r->dropped);
	}
	if (r->contradictions && !s->partial[0]) {
		facts_number(&s->profile, "contradictions", (double)r->contradictions, 0);
		tell(s,
		     "counters contradict each other in %" PRIu64
		     " of the call paths: their figures may be wrong",
		     r->contradictions);
	}
	if (r->merged)
		facts_number(&s->profile, "merged", (double)r->merged, 0);
	if (r->cut)
		facts_number(&s->profile, "cut", (double)r->cut, 0);
	if (r->cut)
		tell(s,
		     "there were so many call paths that %" PRIu64 " are shown without some of "
		     "their callers: inclusive figures of those may be too small",
		     r->cut);
	else if (r->merged)
		tell(s,
		     "there were so many call paths that %" PRIu64 " are shown as if they came "
		     "from another call in the same loop",
		     r->merged);
}

static void tell_unmatched(struct count_session *s)
{
	char word[256];
	for (uint32_t at = 0; count_chose_nothing(&s->own->choice, &at, word, sizeof(word));)
		if (strcmp(word, "main") != 0 && strcmp(word, "all") != 0)
			tell(s, "no image was called '%s' (--images)", word);
}

static void tell_missed(struct count_session *s)
{
	unsigned percent;
	const char *path = coverage_missed(s->own->coverage, &percent);
	if (path)
		tell(s,
		     "%u%% of the time was in images that were not counted, most in %s: count them "
		     "with --images=all",
		     percent, path);
}

static void name_signal(int number, char *out, size_t size)
{
	const char *name = sigabbrev_np(number);
	if (name)
		snprintf(out, size, "SIG%s", name);
	else
		snprintf(out, size, "signal %d", number);
}

/* Why there is more of the run than was counted, if there is. */
static void note_partial(struct count_session *s)
{
	char name[32];
	size_t size = sizeof(s->partial);
	uint32_t left = s->own->targets.len;
	if (WIFSIGNALED(s->status)) {
		name_signal(WTERMSIG(s->status), name, sizeof(name));
		snprintf(s->partial, size, "%s ended the program", name);
	} else if (s->own->killed) {
		snprintf(s->partial, size, "signals ended %" PRIu32 " of its processes",
			 s->own->killed);
	} else if (left && s->o->argv && !s->program) { /* or the user has had enough */
		snprintf(s->partial, size, "%" PRIu32 " of its processes went on", left);
	}
	if (s->partial[0])
		profile_fact(&s->profile, "partial", s->partial);
}

/* With all that was counted in it. */
static void complete(struct count_session *s)
{
	const struct fuse_options fuse = {
		.image = engine_image, .structure = known_structure, .ctx = s};
	facts_number(&s->profile, "seconds", s->seconds, 3);
	facts_number(&s->profile, "preparing", s->preparing, 3);
	vec_each (v, &s->profile.values)
		if (v->metric == s->own->reader.instructions)
			s->instructions += v->amount;
	tell_losses(s);
	tell_unmatched(s);
	tell_missed(s);
	coverage_tell(s->own->coverage, &s->profile, &s->own->images);
	profile_fuse(&s->profile, &fuse);
}

/* In a child that has outlived us; the program goes on. */
static void rescue(void *ctx)
{
	struct count_session *s = ctx;
	struct saver saver;
	struct err e;
	s->seconds = now_seconds() - s->own->started;
	snprintf(s->partial, sizeof(s->partial), "sonde was killed");
	profile_fact(&s->profile, "partial", s->partial);
	vec_each (t, &s->own->targets)
		count_read(&s->own->reader, *t);
	complete(s);
	unlink(s->o->output); /* or it would become the previous one */
	if (saver_open(&saver, &s->profile, s->o->output, &e))
		tell(s, "sonde was killed, and nothing could be saved: %s", e.text);
	else
		tell(s, "sonde was killed; what was counted until then is in %s", s->o->output);
}

void count_finish(struct count_session *s)
{
	struct saver *saver = &s->own->saver;
	note_partial(s);
	vec_each (t, &s->own->targets) /* all of them soon: reading takes longer */
		target_leave(*t);
	while (s->own->targets.len)
		drop_target(s, s->own->targets.data[0]);
	complete(s);
	s->profile.finished = true;
	if (!saver_save(saver))
		snprintf(s->problem, sizeof(s->problem), "not all could be saved: %s",
			 saver->problem.text);
	saver_close(saver);
	keeper_dismiss(&s->own->keeper);
	if (!s->program)
		signals_restore();
}

void count_free(struct count_session *s)
{
	struct count_private *own = s->own;
	coverage_free(own->coverage);
	studies_free(own->reader.studies);
	vec_free(&own->reader.limited);
	vec_free(&own->targets);
	engine_free(own->engine);
	images_release(&own->images);
	watched_release(&own->watched);
	codes_free(own->codes);
	profile_release(&s->profile);
	free(own);
	free(s);
}
