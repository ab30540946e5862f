#include "count/session.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "count/choose.h"
#include "count/coverage.h"
#include "count/read.h"
#include "profile/fuse.h"
#include "session/facts.h"

struct count_private {
	struct codes *codes; /* empty: the engine has the code */
	struct stacks stacks;
	struct count_reader reader;
	struct coverage *coverage;
	VEC(struct target *) targets;
	struct count_choice choice;
	uint32_t killed; /* processes that a signal ended */
	double opened;   /* s: when preparing began */
};

/* Reports nothing while a program of ours runs: its own output may be on the terminal. */
static void on_prepared(void *ctx, uint32_t done, uint32_t total)
{
	const struct count_session *s = ctx;
	if (s->session.started == 0)
		s->o->progress(s->o->session.ctx, COUNT_PREPARING, done, total);
}

static void on_read(void *ctx, uint32_t done, uint32_t total)
{
	const struct count_session *s = ctx;
	if (!s->session.program || s->o->session.pid_count)
		s->o->progress(s->o->session.ctx, COUNT_READING, done, total);
}

/* ---- inserting ---- */

struct module_choice {
	struct count_session *s;
	int pid;
};

static bool is_chosen(void *ctx, const struct code *code)
{
	const struct module_choice *c = ctx;
	return count_chooses(&c->s->own->choice, c->pid, code->path);
}

static void note_refused(struct count_session *s, struct target *t)
{
	struct counted_function p;
	for (uint32_t i = 1; target_counted(t, i, &p); i++) {
		if (p.refused == REFUSED_NONE)
			continue;
		coverage_refused(s->own->coverage, &p);
	}
}

/* Counts all functions of chosen modules that are not counted yet. */
static int count_all(struct count_session *s, struct target *t, struct err *e)
{
	struct module_choice choice = {s, target_pid(t)};
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

static void add_target(struct count_session *s, struct target *t)
{
	vec_push(&s->own->targets, t);
}

/* Reads the counts of a process, and forgets it. If it still runs, it runs on without probes. */
static void drop_target(struct count_session *s, struct target *t)
{
	target_leave(t);
	alloc_trim();
	count_read(&s->own->reader, t);
	vec_keep_if(&s->own->targets, x, *x != t);
	engine_drop(s->probing.engine, t);
}

static void on_forked(void *own, const struct engine_event *v)
{
	struct count_session *s = own;
	int pid = target_pid(v->target);
	watched_fork(&s->own->stacks.watched, target_pid(v->parent), pid);
	watched_name_process(&s->own->stacks.watched, pid);
	add_target(s, v->target);
}

static void on_executed(void *own, const struct engine_event *v)
{
	struct count_session *s = own;
	struct err e;
	if (v->parent)
		drop_target(s, v->parent);
	watched_exec(&s->own->stacks.watched, target_pid(v->target));
	watched_name_process(&s->own->stacks.watched, target_pid(v->target));
	add_target(s, v->target);
	probing_report_privileges(&s->probing, target_pid(v->target));
	if (count_all(s, v->target, &e))
		session_message(&s->session, "process %d is not counted: %s", target_pid(v->target),
				e.text);
}

static void on_loaded(void *own, const struct engine_event *v)
{
	struct count_session *s = own;
	struct err e;
	if (count_all(s, v->target, &e))
		session_message(&s->session, "a loaded library is not counted: %s", e.text);
}

static void on_ended(void *own, const struct engine_event *v)
{
	struct count_session *s = own;
	s->own->killed += WIFSIGNALED(v->status);
	drop_target(s, v->target);
}

/* What was measured is kept. */
static void on_confined(void *own, const struct engine_event *v)
{
	struct count_session *s = own;
	session_message(&s->session, "%s: it is no longer measured", target_unprobed(v->target));
}

/* Takes samples before an event is handled: reading counts takes long, and is not part of the run.
 */
static void on_passed(void *own)
{
	struct count_session *s = own;
	coverage_take(s->own->coverage, s->own->targets.data, s->own->targets.len);
}

static const struct probing_ops events = {
	.handlers = {[ENGINE_FORKED] = on_forked,
		     [ENGINE_EXECUTED] = on_executed,
		     [ENGINE_LOADED] = on_loaded,
		     [ENGINE_CONFINED] = on_confined,
		     [ENGINE_ENDED] = on_ended},
	.passed = on_passed,
};

/* ---- the beginning ---- */

static uint32_t add_metric(struct profile *p, const char *name)
{
	vec_push(&p->metrics, (struct profile_metric){.name = name, .unit = ""});
	return p->metrics.len - 1;
}

static void add_facts(struct session *session)
{
	struct count_session *s = session->own;
	profile_fact(&s->profile, "sampler", "counters");
	profile_fact(&s->profile, "modules", s->o->modules);
}

static int open_program(struct session *session, int *not_started, struct err *e)
{
	struct count_session *s = session->own;
	s->own->opened = now_seconds();
	int rc = probing_open(&s->probing, not_started, e);
	if (rc)
		return rc;
	int pid = target_pid(s->probing.first);
	add_target(s, s->probing.first);
	watched_process(&s->own->stacks.watched, pid);
	watched_name_process(&s->own->stacks.watched, pid);
	if (s->o->session.argv)
		probing_report_privileges(&s->probing, pid);
	return 0;
}

static int begin(struct session *session, struct err *e)
{
	struct count_session *s = session->own;
	int rc = count_all(s, s->probing.first, e);
	coverage_watch(s->own->coverage, target_pid(s->probing.first));
	s->preparing = now_seconds() - s->own->opened;
	return rc;
}

/* ---- while it runs ---- */

static bool is_over(struct session *session)
{
	const struct count_session *s = session->own;
	return !s->own->targets.len;
}

/* ---- the end ---- */

static struct module *engine_module(void *ctx, uint32_t module)
{
	return ((struct count_session *)ctx)->own->stacks.modules.codes.data[module]->module;
}

static const struct structure *known_structure(void *ctx, uint32_t module)
{
	struct count_private *own = ((struct count_session *)ctx)->own;
	return studies_structure(own->reader.studies, own->stacks.modules.codes.data[module]);
}

/* Reports what is missing in the figures. */
static void report_losses(struct count_session *s)
{
	const struct count_reader *r = &s->own->reader;
	if (r->dropped) {
		facts_number(&s->profile, "dropped", (double)r->dropped, 0);
		session_message(&s->session,
				"%" PRIu64 " events were lost, mostly in signal handlers",
				r->dropped);
	}
	if (r->contradictions && !s->partial[0]) {
		facts_number(&s->profile, "contradictions", (double)r->contradictions, 0);
		session_message(&s->session,
				"counters are inconsistent in %" PRIu64
				" call paths, whose numbers may be wrong",
				r->contradictions);
	}
	if (r->merged)
		facts_number(&s->profile, "merged", (double)r->merged, 0);
	if (r->cut)
		facts_number(&s->profile, "cut", (double)r->cut, 0);
	if (r->cut)
		session_message(
			&s->session,
			"there were too many call paths: %" PRIu64
			" are shown without some of their callers, whose totals may be too small",
			r->cut);
	else if (r->merged)
		session_message(&s->session,
				"there were too many call paths: %" PRIu64
				" are shown as if they came from another call in the same loop",
				r->merged);
}

static void report_unmatched(struct count_session *s)
{
	char word[256];
	for (uint32_t at = 0; count_chose_nothing(&s->own->choice, &at, word, sizeof(word));)
		if (strcmp(word, "main") != 0 && strcmp(word, "all") != 0)
			session_message(&s->session, "no module was called '%s' (--modules)", word);
}

static void report_missed(struct count_session *s)
{
	unsigned percent;
	const char *path = coverage_missed(s->own->coverage, &percent);
	if (path)
		session_message(&s->session,
				"%u %% of the time was in modules that were not counted, mostly in "
				"%s; count them with --modules=all",
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

/* Notes why not all of the run was counted, if so. */
static void note_partial(struct count_session *s)
{
	char name[32];
	size_t size = sizeof(s->partial);
	uint32_t left = s->own->targets.len;
	if (WIFSIGNALED(s->session.status)) {
		name_signal(WTERMSIG(s->session.status), name, sizeof(name));
		snprintf(s->partial, size, "%s ended the program", name);
	} else if (s->own->killed) {
		snprintf(s->partial, size, "signals ended %" PRIu32 " of its processes",
			 s->own->killed);
	} else if (left && s->o->session.argv && !s->session.program) {
		/* If the program itself still runs, it is the user who has ended the counting. */
		snprintf(s->partial, size, "%" PRIu32 " of its processes continued", left);
	}
	if (s->partial[0])
		profile_fact(&s->profile, "partial", s->partial);
}

static void complete(struct session *session)
{
	struct count_session *s = session->own;
	const struct fuse_options fuse = {
		.module = engine_module, .structure = known_structure, .ctx = s};
	facts_number(&s->profile, "preparing", s->preparing, 3);
	vec_each (v, &s->profile.values)
		if (v->metric == s->own->reader.instructions)
			s->instructions += v->amount;
	report_losses(s);
	report_unmatched(s);
	report_missed(s);
	coverage_report(s->own->coverage, &s->profile, &s->own->stacks.modules);
	profile_fuse(&s->profile, &fuse);
}

/* Called in a child that has outlived Sonde; the program runs on. */
static void rescue(struct session *session)
{
	struct count_session *s = session->own;
	const char *output = s->o->session.output;
	struct saver saver;
	struct err e;
	facts_number(&s->profile, "seconds", now_seconds() - s->session.started, 3);
	snprintf(s->partial, sizeof(s->partial), "sonde was killed");
	profile_fact(&s->profile, "partial", s->partial);
	vec_each (t, &s->own->targets)
		count_read(&s->own->reader, *t);
	complete(&s->session);
	unlink(output); /* else saver_open() would keep it as the previous one */
	if (saver_open(&saver, &s->profile, output, &e))
		session_message(&s->session, "sonde was killed, and nothing could be saved: %s",
				e.text);
	else
		session_message(&s->session, "sonde was killed; the counts until then are in %s",
				output);
}

static void leave(struct session *session)
{
	struct count_session *s = session->own;
	note_partial(s);
	vec_each (t, &s->own->targets) /* all of them first, because reading takes longer */
		target_leave(*t);
	while (s->own->targets.len)
		drop_target(s, s->own->targets.data[0]);
}

/* ---- new and free ---- */

static const struct session_ops ops = {
	.open = open_program,
	.add_facts = add_facts,
	.begin = begin,
	.go = probing_go,
	.wait = probing_wait,
	.is_over = is_over,
	.leave = leave,
	.complete = complete,
	.abandon = probing_abandon,
	.rescue = rescue,
};

struct count_session *count_new(const struct count_options *o)
{
	struct count_session *s = xcalloc(1, sizeof(*s));
	struct count_private *own = xcalloc(1, sizeof(*own));
	/* For tests: probes overwrite all registers that are taken for free. */
	const struct engine_options options = {
		.poison = getenv("SONDE_POISON"), .progress = on_prepared, .ctx = s};
	s->o = o;
	s->own = own;
	profile_init(&s->profile);
	session_init(&s->session, &o->session, &ops, s, &s->profile);
	probing_init(&s->probing, &s->session, engine_new(&options), &events);
	own->coverage = coverage_new();
	own->choice.modules = o->modules;
	own->codes = codes_new(NULL);
	stacks_init(&own->stacks, &s->profile, own->codes);
	own->reader = (struct count_reader){
		.profile = &s->profile,
		.watched = &own->stacks.watched,
		.modules = &own->stacks.modules,
		.studies = studies_new(),
		.progress = on_read,
		.ctx = s,
		.instructions = add_metric(&s->profile, PROFILE_INSTRUCTIONS),
		.calls = add_metric(&s->profile, PROFILE_CALLS),
		.runs = add_metric(&s->profile, PROFILE_RUNS),
	};
	return s;
}

void count_free(struct count_session *s)
{
	struct count_private *own = s->own;
	coverage_free(own->coverage);
	studies_free(own->reader.studies);
	vec_free(&own->reader.limited);
	vec_free(&own->targets);
	engine_free(s->probing.engine);
	stacks_release(&own->stacks);
	codes_free(own->codes);
	profile_release(&s->profile);
	free(own);
	free(s);
}
