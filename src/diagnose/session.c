#include "diagnose/session.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/quantity.h"
#include "diagnose/inside.h"
#include "findings/findings.h"
#include "process/launch.h"
#include "process/threads.h"
#include "profile/fuse.h"
#include "record/facts.h"
#include "record/signals.h"

enum {
	HZ = 241,
	MOST_PATCHES = 250, /* of a procedure: some milliseconds for a stop */
};

static const double step_time = 0.05;     /* s between readings */
static const double settled_enough = 2.5; /* s of nothing new, after which a search is exhausted */

static void __attribute__((format(printf, 2, 3))) tell(struct diagnosis *d, const char *fmt, ...)
{
	char sentence[900];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	d->o->tell(d->o->ctx, sentence);
}

static void tell_unprobed(struct diagnosis *d, const struct target *t)
{
	tell(d, "%s: findings rest on samples", engine_unprobed(t));
}

/* ---- steps ---- */

static void tell_new_parts(struct diagnosis *d)
{
	struct diagnose_private *own = d->own;
	const struct resources *r = search_resources(own->search);
	for (uint32_t i = 0; i < own->machine.news.len; i++) {
		uint32_t part = own->machine.news.data[i];
		search_part(own->search, MACHINE, r->list.data[part].parent, part);
	}
	for (uint32_t i = 0; i < own->waits.news.len; i++) {
		uint32_t part = own->waits.news.data[i];
		search_part(own->search, r->list.data[part].hierarchy, r->list.data[part].parent,
			    part);
	}
	vec_clear(&own->machine.news);
	vec_clear(&own->waits.news);
}

void diagnose_step(struct diagnosis *d)
{
	struct diagnose_private *own = d->own;
	machine_begin_step(&own->machine, now_seconds() - own->started);
	waits_step(&own->waits, own->engine, probes_part, &own->probes);
	probes_step(&own->probes);
	machine_end_step(&own->machine);
	tell_new_parts(d);
}

static void count_experiments(struct diagnosis *d)
{
	d->active = d->found = d->refuted = 0;
	for (uint32_t i = 0; i < search_count(d->own->search); i++) {
		uint8_t state = search_get(d->own->search, i)->state;
		d->active += state == EXPERIMENT_ACTIVE || state == EXPERIMENT_READY;
		d->found += state == EXPERIMENT_TRUE;
		d->refuted += state == EXPERIMENT_FALSE;
	}
	d->cost = probes_cost(&d->own->probes);
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

/* Before the profile is saved, if there is anything new. */
static void save_history(struct diagnosis *d)
{
	uint32_t now = search_count(d->own->search) + d->found + d->refuted;
	if (now_ns() < d->own->saver.next || now == d->own->told)
		return;
	d->own->told = now;
	history_write(d, false);
}

/* Watching system calls may take a third of what is allowed. */
static void limit_waits(struct diagnosis *d)
{
	double most = d->o->search.max_cost / 3;
	double seconds = 2e-9 * engine_probe_costs(d->own->engine)->block;
	struct err ignored;
	if (!waits_limit(&d->own->waits, d->own->engine, seconds, most))
		return;
	vec_each (process, &d->own->machine.live_processes) {
		const struct machine_process *p = &d->own->machine.processes.data[*process];
		if (!p->young)
			engine_commit(d->own->engine, p->target, NULL, &ignored);
	}
}

/* ---- what happens to the program ---- */

static void on_image(void *ctx, struct code *code)
{
	struct diagnosis *d = ctx;
	code_parts_image(d->own->code, code);
}

/* The procedure that the program's own code begins with, if its name is known. */
static void find_main(struct diagnosis *d, uint32_t process)
{
	const struct mapped_process *m = &d->own->mapped.processes.data[process];
	if (!m->list.len)
		return;
	struct code *code = m->list.data[0].code;
	for (uint32_t i = 0; i < code->image->symbol_count; i++) {
		const struct symbol *s = &code->image->symbols[i];
		if (strcmp(s->name, "main") != 0 || !image_is_code(code->image, s->va))
			continue;
		uint32_t part = code_part_at(d->own->code, code, s->va);
		if (part != RESOURCE_NONE && code_parts_called(d->own->code, CODE, part))
			search_part(d->own->search, CODE, CODE, part);
		return;
	}
}

static void look_at_images(struct diagnosis *d, uint32_t process, struct target *t)
{
	mapped_refresh(&d->own->mapped, process, t, on_image, d);
	find_main(d, process);
}

static void name_process(struct diagnosis *d, int pid)
{
	char name[16];
	thread_name(pid, pid, name);
	if (name[0])
		watched_name(&d->own->sink.watched, pid, pid, name);
}

static uint32_t add_process(struct diagnosis *d, struct target *t, bool young)
{
	uint32_t process = machine_add_process(&d->own->machine, t, young);
	name_process(d, target_pid(t));
	return process;
}

/* What it waits for, and its code, are looked into from now on. */
static void look_into(struct diagnosis *d, uint32_t process)
{
	const struct machine_process *p = &d->own->machine.processes.data[process];
	machine_grow_up(&d->own->machine, process);
	engine_watch_waits(d->own->engine, p->target);
	look_at_images(d, process, p->target);
}

static void commit_to(struct diagnosis *d, struct target *t)
{
	struct err e;
	int rc = engine_commit(d->own->engine, t, NULL, &e);
	if (rc && rc != ERR_ENDED && target_alive(t))
		tell(d, "process %d cannot be probed: %s", target_pid(t), e.text);
}

static void on_forked(struct diagnosis *d, const struct engine_event *v)
{
	add_process(d, v->target, true);
}

/* What it was has no more to say. */
static void drop(struct diagnosis *d, struct target *t)
{
	diagnose_step(d);
	uint32_t process = machine_process_of(&d->own->machine, t);
	if (process != UINT32_MAX) {
		machine_end_process(&d->own->machine, process);
		probes_ended(&d->own->probes, process);
		mapped_forget(&d->own->mapped, process);
	}
	engine_drop(d->own->engine, t);
}

static void begin_to_probe(struct diagnosis *d, uint32_t process)
{
	struct target *t = d->own->machine.processes.data[process].target;
	struct err e;
	if (engine_begin(d->own->engine, t, &e))
		debug(LOG_SEARCH, 1, "process %d cannot be probed: %s", target_pid(t), e.text);
	look_into(d, process);
	probes_loaded(&d->own->probes, process);
	commit_to(d, t);
}

/* Scripts, and builds, fork and execute hundreds of times a second what is soon over: to look into
 * each would take many times as long as it does. */
static void grow_up(struct diagnosis *d)
{
	static const double grown_up = 0.15; /* s */
	const struct machine *m = &d->own->machine;
	vec_each (process, &m->live_processes) {
		const struct machine_process *p = &m->processes.data[*process];
		if (p->young && m->time - p->born >= grown_up && target_alive(p->target))
			begin_to_probe(d, *process);
	}
}

static void on_executed(struct diagnosis *d, const struct engine_event *v)
{
	if (v->parent)
		drop(d, v->parent);
	uint32_t process = add_process(d, v->target, target_pid(v->target) != d->program);
	if (process_lacks_privileges(target_pid(v->target)))
		tell(d,
		     "process %d runs without the privileges of its program (set-user-ID or the "
		     "like), as you trace it: to diagnose it with them, be root",
		     target_pid(v->target));
	if (target_pid(v->target) == d->program)
		begin_to_probe(d, process);
	engine_go(d->own->engine, v->target);
}

static void on_loaded(struct diagnosis *d, const struct engine_event *v)
{
	uint32_t process = machine_process_of(&d->own->machine, v->target);
	if (process != UINT32_MAX && !d->own->machine.processes.data[process].young) {
		look_at_images(d, process, v->target);
		probes_loaded(&d->own->probes, process);
		commit_to(d, v->target);
	}
	engine_go(d->own->engine, v->target);
}

static void on_ended(struct diagnosis *d, const struct engine_event *v)
{
	if (target_pid(v->target) == d->program) {
		d->program = 0;
		d->status = v->status;
		d->ended = WIFSIGNALED(v->status) ? "signal" : "exit";
		signals_forget_program();
	}
	drop(d, v->target);
}

/* What was measured stays; from now on there are samples only. */
static void on_confined(struct diagnosis *d, const struct engine_event *v)
{
	tell_unprobed(d, v->target);
	uint32_t process = machine_process_of(&d->own->machine, v->target);
	if (process != UINT32_MAX)
		probes_ended(&d->own->probes, process);
}

static void on_event(struct diagnosis *d, const struct engine_event *v)
{
	static void (*const handlers[])(struct diagnosis *, const struct engine_event *) = {
		[ENGINE_FORKED] = on_forked, [ENGINE_EXECUTED] = on_executed,
		[ENGINE_LOADED] = on_loaded, [ENGINE_CONFINED] = on_confined,
		[ENGINE_ENDED] = on_ended,
	};
	handlers[v->what](d, v);
}

/* A program that we started is watched to its end: it may change its behaviour. */
static bool is_over(struct diagnosis *d)
{
	if (signals_want_end())
		d->ended = "interrupted";
	else if (d->o->argv)
		return !d->program;
	else if (!d->own->machine.live_processes.len)
		d->ended = "exit";
	else if (d->own->settled >= 0 && now_seconds() - d->own->settled >= settled_enough)
		d->ended = "exhausted";
	return d->ended;
}

/* Of loops that take much of the time and are entered often. */
static void count_trips(struct diagnosis *d)
{
	for (uint32_t i = 0; i < search_count(d->own->search); i++) {
		const struct experiment *e = search_get(d->own->search, i);
		uint32_t part = e->focus.part[CODE];
		if (e->state != EXPERIMENT_TRUE || e->hypothesis != CPU_BOUND || part == CODE ||
		    !code_part(d->own->code, part).loop)
			continue;
		if (probes_are_hot(&d->own->probes, part) || begun_per_second(d, e) >= often_begun)
			trips_count(&d->own->trips, part);
	}
}

/* That are not the search's: some became too hot, or were in for a moment only. */
static void commit_changes(struct diagnosis *d)
{
	if (d->own->probes.dirty.len)
		diagnose_ops.commit(d);
}

static void work(struct diagnosis *d)
{
	double now = now_seconds();
	samples_take(&d->own->samples);
	samples_look(&d->own->samples, now);
	if (probes_are_fresh(&d->own->probes))
		probes_check(&d->own->probes, now);
	if (trips_are_counted(&d->own->trips)) {
		trips_check(&d->own->trips, now);
		commit_changes(d);
	}
	if (now < d->own->next_step)
		return;
	d->own->next_step = now + step_time;
	diagnose_step(d);
	grow_up(d);
	limit_waits(d);
	search_turn(d->own->search, now_seconds() - d->own->started);
	count_trips(d);
	commit_changes(d);
	count_experiments(d);
	note_settled(d, now);
	facts_number(&d->profile, "seconds", d->seconds, 3);
	save_history(d);
	saver_tick(&d->own->saver);
}

bool diagnose_turn(struct diagnosis *d, int timeout_ms)
{
	struct engine_event v;
	uint64_t end = now_ns() + (uint64_t)timeout_ms * 1000000;
	bool soon = probes_are_fresh(&d->own->probes) || trips_are_counted(&d->own->trips);
	int wait = soon && timeout_ms > 5 ? 5 : timeout_ms;
	while (!is_over(d) && engine_poll(d->own->engine, wait, &v)) {
		on_event(d, &v);
		wait = 0;
		if (now_ns() >= end) /* of storms of children there is no end */
			break;
	}
	d->seconds = now_seconds() - d->own->started;
	if (is_over(d))
		return false;
	work(d);
	return true;
}

/* ---- the beginning ---- */

static uint32_t add_metric(struct profile *p, const char *name, uint64_t sample_ns)
{
	vec_push(&p->metrics,
		 (struct profile_metric){.name = name, .unit = "ns", .period = sample_ns});
	return p->metrics.len - 1;
}

static void on_tick(void *ctx)
{
	(void)ctx;
}

static void init(struct diagnosis *d)
{
	/* For tests: what is taken for free is destroyed. */
	const struct engine_options options = {.poison = getenv("SONDE_POISON"),
					       .most_patches = MOST_PATCHES,
					       .lazy = true,
					       .unprobed = true};
	struct diagnose_private *own = d->own = xcalloc(1, sizeof(*own));
	profile_init(&d->profile);
	arena_init(&own->arena);
	arena_init(&own->lines);
	own->settled = -1;
	own->engine = engine_new(&options);
	own->search = search_new(&d->o->search, &diagnose_ops, d);
	struct resources *r = search_resources(own->search);
	own->code = code_parts_new(r, d->o->loops);
	machine_init(&own->machine, r, &own->ledger, &own->arena);
	waits_init(&own->waits, &own->machine, &own->mapped, &own->ledger, &own->arena);
	probes_init(&own->probes, own->engine, &own->machine, &own->mapped, own->code,
		    &own->ledger);
	own->probes.max_cost = d->o->search.max_cost;
	trips_init(&own->trips, &own->probes);
	sink_init(&own->sink, &d->profile, engine_codes(own->engine));
	own->sink.tick = on_tick;
	samples_init(&own->samples, own->engine);
	own->samples.search = own->search;
	own->samples.code = own->code;
	own->samples.machine = &own->machine;
	own->samples.waits = &own->waits;
	own->samples.ledger = &own->ledger;
	own->samples.sink = &own->sink;
	own->samples.metric = add_metric(&d->profile, "cpu-clock", 1000000000 / HZ);
	own->sink.wait_metric = add_metric(&d->profile, "wait", 0);
	samples_open(&own->samples, HZ, d->note, sizeof(d->note));
}

/* From the first change in a running program on no signal may end us, or the change would stay. */
static int open_program(struct diagnosis *d, struct target **t, int *not_started, struct err *e)
{
	struct engine *g = d->own->engine;
	if (!d->o->argv) {
		int rc = process_check_attach(d->o->pid, e);
		if (rc)
			return rc;
		signals_install(0);
		return engine_attach(g, d->o->pid, t, e);
	}
	int rc = engine_launch(g, d->o->argv, t, not_started, e);
	if (rc)
		return rc;
	d->program = target_pid(*t);
	signals_install(d->program);
	return 0;
}

static void add_facts(struct diagnosis *d)
{
	struct profile *p = &d->profile;
	facts_of_host(p);
	if (d->o->argv)
		facts_of_command(p, d->o->argv);
	else
		facts_of_process(p, d->o->pid);
	facts_number(p, "hz", HZ, 0);
	profile_fact(p, "sampler", d->own->samples.sampler ? "perf" : "ptrace");
	profile_fact(p, "note", d->note);
	profile_fact(p, "strategy", d->o->search.deep_start ? "deep-start" : "call-graph");
	profile_fact(p, "loops", d->o->loops ? "1" : "0");
}

/* Whether what could not be probed is gone, or executes another program: events tell the rest. It
 * is not known at once. */
static bool has_changed(struct diagnosis *d, const struct target *t)
{
	static const double patience = 0.5; /* s */
	double end = now_seconds() + patience;
	struct engine_event v;
	while (machine_process_of(&d->own->machine, t) != UINT32_MAX && target_alive(t)) {
		if (now_seconds() > end)
			return false;
		if (engine_poll(d->own->engine, 20, &v))
			on_event(d, &v);
	}
	return true;
}

static int begin(struct diagnosis *d, int *not_started, struct err *e)
{
	struct target *t;
	int rc = open_program(d, &t, not_started, e);
	if (rc)
		return rc;
	rc = saver_open(&d->own->saver, &d->profile, d->o->output, e);
	if (rc)
		return rc;
	int pid = target_pid(t);
	d->own->started = now_seconds();
	watched_process(&d->own->sink.watched, pid);
	look_into(d, add_process(d, t, false));
	rc = engine_unprobed(t) ? 0 : engine_commit(d->own->engine, t, NULL, e);
	/* One that has confined itself meanwhile will be told of. */
	bool changed = rc && rc != ERR_CONFINED && !d->o->argv && has_changed(d, t);
	if (rc && rc != ERR_CONFINED && !changed)
		return rc;
	samples_watch(&d->own->samples, pid);
	/* If it has changed, events have told of what is there now, and the target may be gone. */
	const char *unprobed = changed ? NULL : engine_unprobed(t);
	if (unprobed && !thread_lives(pid))
		return err_set(e, ERR_ENDED, "process %d has ended", pid);
	if (unprobed && !d->own->samples.sampler)
		return err_set(e, ERR_CONFINED, "%s, and there are no samples without perf: %s",
			       unprobed, d->note);
	if (unprobed)
		tell_unprobed(d, t);
	add_facts(d);
	d->own->started = now_seconds();
	if (d->o->argv)
		engine_go(d->own->engine, t);
	return 0;
}

/* A program that was launched for nothing has not executed an instruction of its own. */
static void give_up(struct diagnosis *d)
{
	int program = d->program, status;
	if (d->own->saver.store)
		saver_undo(&d->own->saver);
	if (program)
		kill(program, SIGKILL);
	diagnose_free(d);
	if (program)
		launch_wait(program, &status);
}

int diagnose_start(struct diagnosis **out, const struct diagnose_options *o, int *not_started,
		   struct err *e)
{
	struct diagnosis *d = xcalloc(1, sizeof(*d));
	d->o = o;
	*not_started = 0;
	launch_remember_signals();
	init(d);
	int rc = begin(d, not_started, e);
	if (rc) {
		give_up(d);
		return rc;
	}
	*out = d;
	return 0;
}

/* ---- so far ---- */

/* The true experiments on code with the largest values that have no true one below. */
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
	uint32_t list[8], parts[8];
	uint32_t count = strongest(d, list, most < 8 ? most : 8);
	if (!d->own->names)
		d->own->names = names_new(d);
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

void diagnose_leave(struct diagnosis *d)
{
	samples_take(&d->own->samples);
	diagnose_step(d);
	search_finish(d->own->search, now_seconds() - d->own->started);
	count_experiments(d);
	samples_finish(&d->own->samples);
	vec_each (process, &d->own->machine.live_processes)
		engine_leave(d->own->engine, d->own->machine.processes.data[*process].target);
	if (!d->ended)
		d->ended = "duration";
}

static struct image *opened_image(void *ctx, uint32_t image)
{
	const struct diagnosis *d = ctx;
	return d->own->sink.images.codes.data[image]->image;
}

static struct flow *known_flow(void *ctx, uint32_t image)
{
	const struct diagnosis *d = ctx;
	return d->own->sink.images.codes.data[image]->flow;
}

void diagnose_finish(struct diagnosis *d)
{
	const struct fuse_options fuse = {.image = opened_image, .flow = known_flow, .ctx = d};
	struct profile *p = &d->profile;
	facts_number(p, "seconds", d->seconds, 3);
	facts_number(p, "search_seconds", d->seconds, 3);
	facts_number(p, "probe_share", probes_whole_cost(&d->own->probes), 6);
	profile_fact(p, "ended", d->ended);
	p->finished = true;
	history_write(d, false);
	saver_save(&d->own->saver);
	if (!d->program)
		signals_restore();
	profile_fuse(p, &fuse);
	history_write(d, true);
	findings_make(p);
	if (!saver_save(&d->own->saver))
		snprintf(d->problem, sizeof(d->problem), "not all could be saved: %s",
			 d->own->saver.problem.text);
	saver_close(&d->own->saver);
}

void diagnose_free(struct diagnosis *d)
{
	struct diagnose_private *own = d->own;
	samples_release(&own->samples);
	vec_each (x, &own->live)
		vec_free(&x->before);
	vec_free(&own->live);
	vec_free(&own->beginning);
	trips_release(&own->trips);
	probes_release(&own->probes);
	waits_release(&own->waits);
	machine_release(&own->machine);
	mapped_release(&own->mapped);
	code_parts_free(own->code);
	search_free(own->search);
	ledger_release(&own->ledger);
	sink_release(&own->sink);
	names_free(own->names);
	engine_free(own->engine);
	arena_release(&own->arena);
	arena_release(&own->lines);
	profile_release(&d->profile);
	free(own);
	free(d);
}
