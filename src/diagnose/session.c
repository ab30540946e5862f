#include "diagnose/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/quantity.h"
#include "diagnose/inside.h"
#include "findings/findings.h"
#include "process/threads.h"
#include "profile/fuse.h"
#include "session/facts.h"
#include "session/family.h"

enum {
	STRONGEST_MAX = 8,  /* lines of diagnose_strongest() */
	FRESH_CHECK_MS = 5, /* between checks of newly inserted probes and counters */
	HZ = 241,           /* samples per second of CPU time */
	MOST_PATCHES = 250, /* per function; this many prolong a stop by milliseconds */
};

static const double step_time = 0.05;     /* s between readings */
static const double settled_enough = 2.5; /* s without news after which a search is exhausted */

/* ---- steps ---- */

static void count_experiments(struct diagnosis *d)
{
	d->active = d->found = d->refuted = 0;
	for (uint32_t i = 0; i < search_count(d->own->search); i++) {
		uint8_t state = search_get(d->own->search, i)->state;
		d->active += state == EXPERIMENT_ACTIVE || state == EXPERIMENT_READY;
		d->found += state == EXPERIMENT_TRUE;
		d->refuted += state == EXPERIMENT_FALSE;
	}
	d->overhead = overhead_now(&d->own->overhead);
}

static void note_settled(struct diagnosis *d, double now)
{
	d->settled = search_settled(d->own->search);
	if (!d->settled)
		d->own->settled = -1;
	else if (d->own->settled < 0)
		d->own->settled = now;
	facts_number(&d->profile, "settled", d->settled ? now - d->own->settled : 0, 1);
}

/* Writes the history shortly before the profile is saved, if there is anything new. The profile may
 * be saved after any turn, not only after a step. */
static void save_history(struct diagnosis *d)
{
	uint32_t now = search_count(d->own->search) + d->found + d->refuted;
	if (now_ns() < session_next_save(&d->session) || now == d->own->saved)
		return;
	d->own->saved = now;
	history_write(d, NULL);
}

/* Watching system calls may take a third of the overhead limit. A call has two probes. */
static void limit_waits(struct diagnosis *d)
{
	double most = d->o->search.max_overhead / 3;
	if (!d->own->waits.reported.len)
		return;
	double seconds = 2e-9 * engine_probe_overheads(d->probing.engine)->block;
	struct err ignored;
	if (!waits_limit(&d->own->waits, seconds, most))
		return;
	vec_each (process, &d->own->machine.live_processes) {
		const struct machine_process *p = &d->own->machine.processes.data[*process];
		if (p->watched)
			target_commit(p->target, NULL, &ignored);
	}
}

/* ---- while it runs ---- */

/* Called only when no program that we started is running: such a program is watched to its end,
 * because its behaviour may change. */
static bool is_over(struct session *session)
{
	struct diagnosis *d = session->own;
	if (d->own->settled >= 0 && now_seconds() - d->own->settled >= settled_enough)
		d->session.ended = "exhausted";
	return !machine_lives(&d->own->machine) || d->session.ended;
}

/* Whether it matters for a hypothesis how often code is entered. */
static bool is_about_entries(enum hypothesis_id h)
{
	return h == CPU_BOUND || h == MEMORY_MANAGEMENT;
}

/* Whether an experiment found code that takes much of the time, and nothing in it that does. */
static bool is_innermost(const struct diagnosis *d, const struct experiment *e)
{
	if (e->state != EXPERIMENT_TRUE || e->over || !is_about_entries(e->hypothesis) ||
	    e->focus.part[CODE] == CODE)
		return false;
	vec_each (child, &e->children) {
		const struct experiment *inner = search_get(d->own->search, *child);
		if (inner->state != EXPERIMENT_FALSE && inner->focus.part[CODE] != CODE)
			return false;
	}
	return true;
}

/* Whether the code may be entered so often that entering it takes time. Only probes tell how often;
 * without them, it is counted to find out. */
static bool may_be_entered_often(const struct diagnosis *d, const struct experiment *e)
{
	uint32_t part = e->focus.part[CODE];
	if (d->own->samples.sampler)
		return is_innermost(d, e);
	return code_part(d->own->code, part).loop &&
	       (probes_are_hot(&d->own->probes, part) || begun_per_second(d, e) >= often_begun);
}

/* Counts one loop or function after the other, while that takes little of the time. */
static void count_trips(struct diagnosis *d)
{
	double most = d->o->search.max_overhead;
	for (uint32_t i = 0; i < search_count(d->own->search); i++) {
		const struct experiment *e = search_get(d->own->search, i);
		if (trips_are_counted(&d->own->trips) ||
		    (most > 0 && overhead_of_probing(&d->own->overhead) > most / 2))
			return;
		if (e->state == EXPERIMENT_TRUE && is_about_entries(e->hypothesis) &&
		    e->focus.part[CODE] != CODE && may_be_entered_often(d, e))
			trips_count(&d->own->trips, e->focus.part[CODE]);
	}
}

/* Commits changes that the search did not ask for: probes became too hot, or were in for a moment
 * only. */
static void commit_changes(struct diagnosis *d)
{
	if (d->own->probes.dirty.len)
		diagnose_ops.commit(d);
}

static void work(struct session *session)
{
	struct diagnosis *d = session->own;
	double now = now_seconds();
	samples_take(&d->own->samples);
	samples_look(&d->own->samples, now);
	commands_look(&d->own->commands, now);
	processes_handle_news(d);
	if (probes_are_fresh(&d->own->probes))
		probes_check(&d->own->probes, now);
	if (trips_are_counted(&d->own->trips)) {
		trips_check(&d->own->trips, now);
		commit_changes(d);
	}
	save_history(d);
	if (now < d->own->next_step)
		return;
	d->own->next_step = now + step_time;
	diagnose_step(d);
	processes_step(d);
	limit_waits(d);
	search_turn(d->own->search, now_seconds() - d->own->opened);
	count_trips(d);
	commit_changes(d);
	processes_watch(d);
	processes_rest(d);
	count_experiments(d);
	note_settled(d, now);
}

/* Threads that wait are looked at once a turn. If turns had one length, a program whose phases are
 * about as long would be seen waiting in all of them for a while, and then in none. */
static int vary(struct diagnosis *d, int timeout_ms)
{
	d->own->varied = d->own->varied * 1103515245 + 12345;
	return timeout_ms / 4 + (int)((d->own->varied >> 16) % (uint32_t)(timeout_ms + 1)) * 3 / 4;
}

static int wait_for_events(struct session *session, int timeout_ms, struct err *e)
{
	struct diagnosis *d = session->own;
	if (timeout_ms > 0)
		timeout_ms = vary(d, timeout_ms);
	bool soon = probes_are_fresh(&d->own->probes) || trips_are_counted(&d->own->trips);
	if (soon && timeout_ms > FRESH_CHECK_MS)
		timeout_ms = FRESH_CHECK_MS;
	return probing_wait(session, timeout_ms, e);
}

/* ---- the beginning ---- */

static uint32_t add_metric(struct profile *p, const char *name, uint64_t sample_ns)
{
	vec_push(&p->metrics,
		 (struct profile_metric){.name = name, .unit = "ns", .period = sample_ns});
	return p->metrics.len - 1;
}

static void add_facts(struct session *session)
{
	struct diagnosis *d = session->own;
	struct profile *p = &d->profile;
	facts_number(p, "hz", HZ, 0);
	profile_fact(p, "note", d->note);
	profile_fact(p, "strategy", d->o->search.deep_start ? "deep-start" : "call-graph");
	profile_fact(p, "loops", d->o->loops ? "1" : "0");
}

/* Returns true if a process that could not be probed has ended, or executes another program. Events
 * report that, but not at once, so this waits for a while. */
static bool has_changed(struct diagnosis *d, const struct target *t)
{
	static const double patience = 0.5; /* s */
	struct err ignored;
	double end = now_seconds() + patience;
	while (machine_process_of(&d->own->machine, target_pid(t)) != UINT32_MAX &&
	       target_alive(t)) {
		if (now_seconds() > end)
			return false;
		probing_wait(&d->session, 20, &ignored);
	}
	return true;
}

/* The search does not run yet. */
static void add_member(void *ctx, int pid)
{
	struct diagnosis *d = ctx;
	vec_push(&d->own->family, pid);
}

static int open_program(struct session *session, int *not_started, struct err *e)
{
	struct diagnosis *d = session->own;
	struct samples *samples = &d->own->samples;
	int rc;
	if (!samples->sampler && session->o->pid_count > 1)
		rc = err_set(e, ERR_UNSUPPORTED,
			     "without perf, only one process can be searched at a time, not %u: %s",
			     session->o->pid_count, d->note);
	else if (!samples->sampler)
		rc = probing_open(&d->probing, not_started, e);
	else if (session->o->argv)
		rc = starting_open(&d->own->starting, session, samples->sampler, not_started, e);
	else
		rc = families_watch(session, samples->sampler, add_member, d, e);
	d->own->opened = now_seconds();
	return rc;
}

static int do_without_probes(struct diagnosis *d, const struct target *t, struct err *e)
{
	if (!thread_lives(target_pid(t)))
		return err_set(e, ERR_ENDED, "process %d has ended", target_pid(t));
	return err_set(e, ERR_CONFINED, "%s, and without perf it cannot be sampled: %s",
		       target_unprobed(t), d->note);
}

/* Only a sampler takes processes that exist already. */
static void tell_left_out(const struct diagnosis *d, int pid)
{
	tid_list list = {0};
	process_descendants(pid, &list);
	if (list.len)
		session_message(&d->session,
				"without perf, the %u descendants that process %d has already are "
				"not searched",
				list.len, pid);
	vec_free(&list);
}

/* Without perf: the program is probed from the beginning. */
static int begin_traced(struct diagnosis *d, struct err *e)
{
	struct target *t = d->probing.first;
	int pid = target_pid(t);
	if (!d->o->session.argv)
		tell_left_out(d, pid);
	watched_process(&d->own->sink.stacks.watched, pid);
	watched_name_process(&d->own->sink.stacks.watched, pid);
	process_note_program(d, pid, d->o->session.argv);
	process_examine(d, machine_add_process(&d->own->machine, pid, t));
	int rc = target_unprobed(t) ? 0 : target_commit(t, NULL, e);
	/* ERR_CONFINED: the process has restricted its system calls in between; an event will
	 * report it. */
	if (rc && rc != ERR_CONFINED && (d->o->session.argv || !has_changed(d, t)))
		return rc;
	if (rc && rc != ERR_CONFINED)
		t = d->probing.first = NULL; /* the process is another one by now, or gone */
	d->own->opened = now_seconds();
	return t && target_unprobed(t) ? do_without_probes(d, t, e) : 0;
}

static int begin(struct session *session, struct err *e)
{
	struct diagnosis *d = session->own;
	bool sampled = d->own->samples.sampler;
	profile_fact(&d->profile, "sampler", sampled ? "perf" : "ptrace");
	if (!sampled)
		return begin_traced(d, e);
	vec_each (pid, &d->own->family)
		process_add(d, *pid, NULL);
	return 0;
}

static int let_go(struct session *session, int *not_started, struct err *e)
{
	struct diagnosis *d = session->own;
	if (!d->own->samples.sampler)
		return probing_go(session, not_started, e);
	d->own->before = now_seconds() - d->own->created;
	int rc = starting_go(&d->own->starting, session, not_started, e);
	if (!rc && session->program)
		engine_expect_end(d->probing.engine, session->program);
	return rc;
}

static void abandon(struct session *session)
{
	struct diagnosis *d = session->own;
	starting_abandon(&d->own->starting);
	probing_abandon(session);
}

/* ---- the strongest findings ---- */

/* Lists the true experiments on code that have no true refinement, by descending value, at most
 * `most`. Returns their number. */
static uint32_t strongest(const struct diagnosis *d, uint32_t *list, uint32_t most)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < search_count(d->own->search); i++) {
		const struct experiment *e = search_get(d->own->search, i);
		bool leaf = e->state == EXPERIMENT_TRUE && e->focus.part[CODE] != CODE && !e->over;
		vec_each (child, &e->children)
			leaf &= search_get(d->own->search, *child)->state != EXPERIMENT_TRUE;
		uint32_t at = leaf ? count : most;
		while (at && at <= count && leaf &&
		       search_get(d->own->search, list[at - 1])->value < e->value)
			at--;
		if (at >= most)
			continue;
		count += count < most;
		memmove(list + at + 1, list + at, (count - at - 1) * sizeof(*list));
		list[at] = i;
	}
	return count;
}

uint32_t diagnose_strongest(struct diagnosis *d, const char **lines, uint32_t most)
{
	uint32_t list[STRONGEST_MAX], parts[STRONGEST_MAX];
	uint32_t count = strongest(d, list, most < STRONGEST_MAX ? most : STRONGEST_MAX);
	if (!d->own->names)
		d->own->names = names_new(d, true);
	for (uint32_t i = 0; i < count; i++)
		parts[i] = search_get(d->own->search, list[i])->focus.part[CODE];
	names_prepare(d->own->names, parts, count);
	arena_clear(&d->own->lines);
	for (uint32_t i = 0; i < count; i++) {
		const struct experiment *e = search_get(d->own->search, list[i]);
		lines[i] = arena_printf(&d->own->lines, "%5.1f %%  %s in %s",
					percent(fmin(e->value, 1)), hypotheses[e->hypothesis].title,
					names_sentence(d->own->names, parts[i]));
	}
	return count;
}

/* ---- the end ---- */

/* A program that Sonde has started waits for the end of the search as well. */
static void note_overhead(struct diagnosis *d)
{
	double seconds = d->session.seconds, around = 0;
	if (d->o->session.argv)
		around = d->own->before + now_seconds() - (d->session.started + seconds);
	facts_number(&d->profile, "overhead", overhead_whole(&d->own->overhead, seconds, around),
		     6);
}

static void leave(struct session *session)
{
	struct diagnosis *d = session->own;
	samples_take(&d->own->samples);
	diagnose_step(d);
	search_finish(d->own->search, now_seconds() - d->own->opened);
	count_experiments(d);
	samples_finish(&d->own->samples);
	vec_each (process, &d->own->machine.live_processes)
		if (d->own->machine.processes.data[*process].target)
			target_leave(d->own->machine.processes.data[*process].target);
	facts_number(&d->profile, "search_seconds", d->session.seconds, 3);
	note_overhead(d);
	profile_fact(&d->profile, "ended", d->session.ended);
	history_write(d, NULL);
}

/* The end: the profile's code and what was searched get their names. */
struct naming {
	const struct diagnosis *d;
	struct finding_names *names;
};

static struct module *opened_module(void *ctx, uint32_t module)
{
	const struct naming *n = ctx;
	return n->d->own->sink.stacks.modules.codes.data[module]->module;
}

static struct flow *known_flow(void *ctx, uint32_t module)
{
	const struct naming *n = ctx;
	return n->d->own->sink.stacks.modules.codes.data[module]->flow;
}

static const struct structure *known_structure(void *ctx, uint32_t module)
{
	const struct naming *n = ctx;
	return names_structure(n->names, module);
}

static void complete(struct session *session)
{
	struct diagnosis *d = session->own;
	struct naming naming = {d, history_names(d)};
	const struct fuse_options fuse = {.module = opened_module,
					  .flow = known_flow,
					  .structure = known_structure,
					  .ctx = &naming};
	profile_fuse(&d->profile, &fuse);
	history_write(d, naming.names);
	names_free(naming.names);
	findings_make(&d->profile, d->o->long_names);
	note_overhead(d);
}

/* ---- new and free ---- */

static const struct session_ops ops = {
	.open = open_program,
	.add_facts = add_facts,
	.begin = begin,
	.go = let_go,
	.wait = wait_for_events,
	.is_over = is_over,
	.work = work,
	.leave = leave,
	.complete = complete,
	.abandon = abandon,
};

struct diagnosis *diagnose_new(const struct diagnose_options *o)
{
	/* SONDE_POISON is for tests: probes overwrite all registers that liveness analysis calls
	 * free. */
	const struct engine_options options = {.poison = getenv("SONDE_POISON"),
					       .most_patches = MOST_PATCHES,
					       .lazy = true,
					       .unprobed = true};
	struct diagnosis *d = xcalloc(1, sizeof(*d));
	struct diagnose_private *own = xcalloc(1, sizeof(*own));
	d->o = o;
	d->own = own;
	profile_init(&d->profile);
	session_init(&d->session, &o->session, &ops, d, &d->profile);
	probing_init(&d->probing, &d->session, engine_new(&options), &process_events);
	arena_init(&own->arena);
	arena_init(&own->lines);
	own->settled = -1;
	own->created = now_seconds();
	own->search = search_new(&d->o->search, &diagnose_ops, d);
	struct resources *r = search_resources(own->search);
	own->code = code_parts_new(r, d->o->loops);
	machine_init(&own->machine, r, &own->ledger, &own->arena);
	commands_init(&own->commands, &own->arena);
	waits_init(&own->waits, &own->machine, &own->mapped, &own->ledger, &own->arena);
	probes_init(&own->probes, d->probing.engine, &own->machine, &own->mapped, own->code,
		    &own->ledger);
	own->probes.max_overhead = d->o->search.max_overhead;
	trips_init(&own->trips, &own->probes);
	sink_init(&own->sink, &d->profile, engine_codes(d->probing.engine));
	samples_init(&own->samples, d->probing.engine);
	own->samples.search = own->search;
	own->samples.code = own->code;
	own->samples.machine = &own->machine;
	own->samples.commands = &own->commands;
	own->samples.waits = &own->waits;
	own->samples.spinning = (struct spin_objects){.code = own->code, .waits = &own->waits};
	own->samples.ledger = &own->ledger;
	own->samples.sink = &own->sink;
	own->samples.metric = add_metric(&d->profile, "cpu-clock", 1000000000 / HZ);
	own->sink.wait_metric = add_metric(&d->profile, "wait", 0);
	own->probes.reach = process_begin;
	own->probes.ctx = d;
	samples_open(&own->samples, HZ, d->note, sizeof(d->note));
	own->machine.sampled = own->samples.sampler;
	if (own->samples.sampler)
		engine_on_demand(d->probing.engine);
	return d;
}

void diagnose_free(struct diagnosis *d)
{
	struct diagnose_private *own = d->own;
	samples_release(&own->samples);
	vec_each (x, &own->live)
		vec_free(&x->before);
	vec_free(&own->live);
	vec_free(&own->beginning);
	vec_free(&own->family);
	trips_release(&own->trips);
	probes_release(&own->probes);
	waits_release(&own->waits);
	machine_release(&own->machine);
	commands_release(&own->commands);
	mapped_release(&own->mapped);
	code_parts_free(own->code);
	search_free(own->search);
	ledger_release(&own->ledger);
	sink_release(&own->sink);
	names_free(own->names);
	engine_free(d->probing.engine);
	arena_release(&own->arena);
	arena_release(&own->lines);
	profile_release(&d->profile);
	free(own);
	free(d);
}
