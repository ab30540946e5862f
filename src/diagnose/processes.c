/* Processes come and go, and some of them are probed.
 *
 * With perf, the sampler reports processes, and a process is not touched until a probe is wanted in
 * it. It is traced for as long as it has probes, and no longer: whatever it does meanwhile waits
 * for us. Without perf, all processes are traced from their beginning.
 *
 * Scripts and builds start hundreds of processes per second that soon end. To examine each would
 * take many times as long as it lives, so a process is young first (machine.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "diagnose/inside.h"
#include "process/threads.h"

static const double grown_up = 0.15;      /* s */
static const double refresh_pause = 0.25; /* s between two looks at what a process has mapped */

static bool is_sampled(const struct diagnosis *d)
{
	return d->own->samples.sampler;
}

/* ---- modules ---- */

static void on_code(void *ctx, struct code *code)
{
	struct diagnosis *d = ctx;
	code_parts_module(d->own->code, code);
}

/* Reports main() to the search as the function that the program's own code begins with, if the
 * program has symbols. */
static void find_main(struct diagnosis *d, uint32_t process)
{
	const struct mapped_process *m = &d->own->mapped.processes.data[process];
	if (!m->list.len)
		return;
	struct code *code = m->list.data[0].code;
	uint32_t count;
	const struct symbol *all = module_symbols(code->module, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct symbol *s = &all[i];
		if (strcmp(s->name, "main") != 0 || !module_is_code(code->module, s->va))
			continue;
		uint32_t part = code_part_at(d->own->code, code, s->va);
		if (part != RESOURCE_NONE && code_parts_called(d->own->code, CODE, part))
			search_part(d->own->search, CODE, CODE, part);
		return;
	}
}

static void refresh_modules(struct diagnosis *d, uint32_t process)
{
	struct space *space = process_space(d, process);
	d->own->machine.processes.data[process].stale = false;
	d->own->machine.processes.data[process].studied = false;
	d->own->machine.processes.data[process].refreshed = d->own->machine.time;
	mapped_refresh(&d->own->mapped, process, space, on_code, d);
	find_main(d, process);
}

struct space *process_space(struct diagnosis *d, uint32_t process)
{
	const struct machine_process *p = &d->own->machine.processes.data[process];
	return p->target ? target_space(p->target)
			 : watched_process(&d->own->sink.stacks.watched, p->pid)->space;
}

/* ---- probing ---- */

/* A program may have hundreds of such processes: one of them is an example. */
static void report_unprobed(struct diagnosis *d, const char *why)
{
	d->own->unprobed++;
	if (d->own->unprobed == 1)
		session_message(&d->session, "%s: findings are based on samples", why);
	else if (d->own->unprobed == 2)
		session_message(&d->session,
				"findings about other processes are based on samples, too");
}

/* A process is stopped to begin, to put probes in, to take them out, and to end, and each stop
 * takes a time for each thread. While it is traced, it is stopped for each process that it starts,
 * too. Where that exceeds the limit, samples alone decide. */
static bool leave_to_samples(struct diagnosis *d, struct machine_process *p)
{
	static const double thread_time = 4 * 25e-6, fork_time = 300e-6; /* s */
	const double most = d->o->search.max_overhead / 2;
	const uint32_t threads = process_threads(p->pid);
	char why[96];
	if (most <= 0 || p->unprobed)
		return p->unprobed;
	if (threads * thread_time > most)
		snprintf(why, sizeof(why), "process %d has %u threads, too many to stop it", p->pid,
			 threads);
	else if (p->forks * fork_time > most)
		snprintf(why, sizeof(why),
			 "process %d starts %.0f processes per second, too many to stop it", p->pid,
			 p->forks);
	else
		return false;
	report_unprobed(d, why);
	p->unprobed = true;
	return true;
}

static void commit_to(struct diagnosis *d, struct target *t)
{
	struct err e;
	int rc = target_commit(t, NULL, &e);
	/* ERR_CONFINED: an event will report it. */
	if (rc && rc != ERR_ENDED && rc != ERR_CONFINED && target_alive(t) &&
	    thread_lives(target_pid(t)))
		session_message(&d->session, "process %d cannot be probed: %s", target_pid(t),
				e.text);
}

/* Nobody waits while a process's modules are studied: until then, samples decide. */
static bool is_studied(struct diagnosis *d, uint32_t process)
{
	bool studied = d->own->machine.processes.data[process].studied ||
		       engine_study(d->probing.engine, process_space(d, process));
	d->own->machine.processes.data[process].studied = studied;
	d->own->machine.processes.data[process].awaited |= !studied;
	return studied;
}

enum reach process_begin(void *ctx, uint32_t process)
{
	struct diagnosis *d = ctx;
	struct machine_process *p = &d->own->machine.processes.data[process];
	struct target *t = NULL;
	struct err e;
	if (p->target || p->unprobed || p->gone || !p->pid || !is_sampled(d))
		return p->target && !p->unprobed ? REACHED : REACHED_NEVER;
	if (leave_to_samples(d, p))
		return REACHED_NEVER;
	if (!is_studied(d, process))
		return REACHED_LATER;
	int rc = engine_attach(d->probing.engine, p->pid, &t, &e);
	const char *why = rc ? NULL : target_unprobed(t);
	if (why) {
		report_unprobed(d, why);
		engine_drop(d->probing.engine, t);
	} else if (rc) {
		debug(LOG_SEARCH, 1, "process %d cannot be probed: %s", p->pid, e.text);
	}
	p->unprobed = rc || why;
	if (p->unprobed)
		return REACHED_NEVER;
	p->target = t;
	p->begun++;
	refresh_modules(d, process);
	return REACHED;
}

/* Lets a process alone again. */
static void process_rest(struct diagnosis *d, uint32_t process)
{
	struct machine_process *p = &d->own->machine.processes.data[process];
	struct target *t = p->target;
	debug(LOG_SEARCH, 1, "process %d has no probes any more", p->pid);
	target_rest(t);
	diagnose_step(d);
	p->target = NULL;
	p->watched = false;
	probes_ended(&d->own->probes, process);
	engine_drop(d->probing.engine, t);
}

static bool has_probes(const struct diagnosis *d, uint32_t process)
{
	return d->own->machine.processes.data[process].watched ||
	       probes_are_in(&d->own->probes, process);
}

void processes_rest(struct diagnosis *d)
{
	static const double patience = 0.5; /* s: another experiment may begin soon */
	struct machine *m = &d->own->machine;
	if (!is_sampled(d))
		return;
	for (uint32_t i = 0; i < m->live_processes.len; i++) {
		struct machine_process *p = &m->processes.data[m->live_processes.data[i]];
		if (!p->target || has_probes(d, m->live_processes.data[i]))
			p->probed = m->time;
		else if (m->time - p->probed >= patience)
			process_rest(d, m->live_processes.data[i]);
	}
}

/* ---- waits ---- */

static const double watch_time = 1; /* s for which probes measure the waits of a process */

/* With perf, samples show what threads wait for, and for how long. Probes add how often they wait,
 * and how many bytes they move; so they are in for a while only. */
static void watch(struct diagnosis *d, uint32_t process)
{
	enum reach reach = process_begin(d, process);
	struct machine_process *p = &d->own->machine.processes.data[process];
	if (reach == REACHED_LATER)
		return;
	p->watch_ends = d->own->machine.time + watch_time;
	if (reach == REACHED_NEVER)
		return;
	target_watch_waits(p->target, true);
	commit_to(d, p->target);
	p->watched = true;
}

static void end_watch(struct diagnosis *d, struct machine_process *p)
{
	diagnose_step(d);
	p->watched = false;
	target_watch_waits(p->target, false);
	commit_to(d, p->target);
}

/* Whether the whole program waits, or seems to: the probes are to be in when that is decided. The
 * first experiments are those on the whole program. */
static bool is_waiting_found(const struct diagnosis *d)
{
	for (uint32_t i = 0; i < search_count(d->own->search) && i < HYPOTHESES; i++) {
		const struct experiment *e = search_get(d->own->search, i);
		enum measure m = hypotheses[e->hypothesis].measure;
		if ((m == MEASURE_SYNC || m == MEASURE_IO) && e->value >= e->threshold &&
		    e->observed >= 0.1)
			return true;
	}
	return false;
}

/* Whether a process that has work has been blocked lately, and not only because it has just been
 * started. If its threads spin or compute, and others only sleep, there is hardly a system call to
 * count, and putting the probes in takes a tenth of a second of a CPU. */
static bool is_blocked(const struct machine_process *p, double now)
{
	static const double startup = 0.5; /* s */
	static const double least_blocked = 0.1, hardly_runs = 0.05;
	bool blocked = p->blocked > least_blocked * (p->blocked + p->ran) ||
		       p->ran < hardly_runs * p->asleep;
	return p->works && blocked && now - p->born >= startup;
}

/* What was seen counts the less, the longer ago it was. */
static void fade_seen(struct machine_process *p)
{
	static const double kept = 0.8;
	p->blocked *= kept;
	p->asleep *= kept;
	p->ran *= kept;
}

void processes_watch(struct diagnosis *d)
{
	struct machine *m = &d->own->machine;
	bool found = is_sampled(d) && is_waiting_found(d);
	for (uint32_t i = 0; is_sampled(d) && i < m->live_processes.len; i++) {
		uint32_t process = m->live_processes.data[i];
		struct machine_process *p = &m->processes.data[process];
		bool blocked = is_blocked(p, m->time);
		fade_seen(p);
		if (found && blocked && p->watch_ends <= 0)
			watch(d, process);
		else if (p->watched && p->target && m->time >= p->watch_ends)
			end_watch(d, p);
	}
}

/* ---- the sampler's events ---- */

void process_add(struct diagnosis *d, int pid, struct target *t)
{
	uint32_t process = machine_add_process(&d->own->machine, pid, t);
	watched_name_process(&d->own->sink.stacks.watched, pid);
	refresh_modules(d, process);
}

/* Forgets a process that has ended, or executes another program, after a last reading. */
static void end_process(struct diagnosis *d, uint32_t process)
{
	struct target *t = d->own->machine.processes.data[process].target;
	if (t)
		diagnose_step(d);
	machine_end_process(&d->own->machine, process);
	probes_ended(&d->own->probes, process);
	mapped_forget(&d->own->mapped, process);
	if (t)
		engine_drop(d->probing.engine, t);
}

static void replace_program(struct diagnosis *d, int pid)
{
	struct target *t;
	machine_end_young(&d->own->machine, pid, &t);
	if (pid == d->session.program)
		process_add(d, pid, NULL);
	else
		machine_add_young(&d->own->machine, pid, NULL);
}

/* Whether the engine has reported this before the sampler. */
static bool is_replaced(const struct diagnosis *d, uint32_t process)
{
	static const double late = 1; /* s */
	const struct machine *m = &d->own->machine;
	const struct machine_process *p = &m->processes.data[process];
	return p->executed && m->time - p->born < late;
}

static void handle_news(struct diagnosis *d, const struct process_news *n)
{
	struct machine *m = &d->own->machine;
	uint32_t process = machine_process_of(m, n->pid);
	struct machine_process *p = process == UINT32_MAX ? NULL : &m->processes.data[process];
	struct target *none;
	switch (n->what) {
	case PROCESS_FORKED:
	case PROCESS_NAMED: break; /* it is known at once */
	case PROCESS_MAPPED:
		if (p)
			p->stale = true;
		break;
	case PROCESS_EXECUTED:
		if (p && (p->target || is_replaced(d, process)))
			break;
		if (p)
			end_process(d, process);
		replace_program(d, n->pid);
		break;
	case PROCESS_ENDED:
		machine_end_young(m, n->pid, &none);
		if (p && !p->target)
			end_process(d, process);
		break;
	}
}

void processes_handle_news(struct diagnosis *d)
{
	struct samples *s = &d->own->samples;
	for (uint32_t i = 0; i < s->news.len; i++)
		handle_news(d, &s->news.data[i]);
	vec_clear(&s->news);
}

/* ---- the engine's events ---- */

static void on_forked(void *own, const struct engine_event *v)
{
	struct diagnosis *d = own;
	if (!is_sampled(d)) {
		machine_add_young(&d->own->machine, v->pid, v->target);
		commands_forked(&d->own->commands, target_pid(v->parent), v->pid, now_seconds());
		return;
	}
	target_rest(v->target);
	engine_drop(d->probing.engine, v->target);
}

/* Forgets the target, which is young or known. */
static void drop(struct diagnosis *d, int pid, struct target *t)
{
	uint32_t process = machine_process_of(&d->own->machine, pid);
	struct target *young;
	if (process != UINT32_MAX)
		end_process(d, process);
	else if (machine_end_young(&d->own->machine, pid, &young) && t)
		engine_drop(d->probing.engine, t);
}

/* Without perf, a process is probed from when it is not young any more. */
static void begin_traced(struct diagnosis *d, int pid, struct target *t)
{
	struct err e;
	process_add(d, pid, t);
	uint32_t process = machine_process_of(&d->own->machine, pid);
	if (target_begin(t, &e))
		debug(LOG_SEARCH, 1, "process %d cannot be probed: %s", pid, e.text);
	process_examine(d, process);
	probes_loaded(&d->own->probes, process);
	commit_to(d, t);
}

void process_examine(struct diagnosis *d, uint32_t process)
{
	struct machine_process *p = &d->own->machine.processes.data[process];
	target_watch_waits(p->target, true);
	p->watched = true;
	refresh_modules(d, process);
}

void process_note_program(struct diagnosis *d, int pid, bool executed)
{
	char name[16];
	thread_name(pid, pid, name);
	if (executed)
		commands_executed(&d->own->commands, pid, now_seconds());
	commands_named(&d->own->commands, pid, name, now_seconds());
}

static void note_executed(struct diagnosis *d, const struct engine_event *v)
{
	if (v->parent)
		commands_used(&d->own->commands, v->pid, target_ran_ns(v->parent));
	process_note_program(d, v->pid, true);
}

static void on_executed(void *own, const struct engine_event *v)
{
	struct diagnosis *d = own;
	if (!is_sampled(d))
		note_executed(d, v);
	drop(d, v->pid, v->parent);
	probing_report_privileges(&d->probing, v->pid);
	if (is_sampled(d)) {
		replace_program(d, v->pid);
		uint32_t process = machine_process_of(&d->own->machine, v->pid);
		if (process != UINT32_MAX)
			d->own->machine.processes.data[process].executed = true;
	} else if (v->pid == d->session.program) {
		begin_traced(d, v->pid, v->target);
	} else {
		machine_add_young(&d->own->machine, v->pid, v->target);
	}
}

static void on_loaded(void *own, const struct engine_event *v)
{
	struct diagnosis *d = own;
	uint32_t process = machine_process_of(&d->own->machine, v->pid);
	if (process == UINT32_MAX)
		return;
	/* With perf, the program does not wait while its new modules are examined; probes are
	 * missing in them until the next step. */
	if (is_sampled(d) && !mapped_has_lost(&d->own->mapped, process, target_space(v->target))) {
		d->own->machine.processes.data[process].stale = true;
		d->own->machine.processes.data[process].refreshed = -refresh_pause;
		return;
	}
	refresh_modules(d, process);
	probes_loaded(&d->own->probes, process);
	commit_to(d, v->target);
}

static void on_ended(void *own, const struct engine_event *v)
{
	struct diagnosis *d = own;
	if (!is_sampled(d) && v->target) {
		commands_used(&d->own->commands, v->pid, target_ran_ns(v->target));
		commands_ended(&d->own->commands, v->pid, now_seconds());
	}
	drop(d, v->pid, v->target);
}

/* The process has restricted its system calls, so it can no longer be probed. All values so far are
 * kept; from now on it is only sampled. */
static void on_confined(void *own, const struct engine_event *v)
{
	struct diagnosis *d = own;
	report_unprobed(d, target_unprobed(v->target));
	uint32_t process = machine_process_of(&d->own->machine, v->pid);
	if (process == UINT32_MAX)
		return;
	d->own->machine.processes.data[process].unprobed = true;
	probes_left(&d->own->probes, process);
}

const struct probing_ops process_events = {
	.handlers = {[ENGINE_FORKED] = on_forked,
		     [ENGINE_EXECUTED] = on_executed,
		     [ENGINE_LOADED] = on_loaded,
		     [ENGINE_CONFINED] = on_confined,
		     [ENGINE_ENDED] = on_ended},
};

/* ---- each step ---- */

/* Threads that were born since the last stop are not measured yet. */
static void measure_newborn(struct diagnosis *d, uint32_t process)
{
	static const double pause = 0.5; /* s between stops for this */
	struct machine_process *p = &d->own->machine.processes.data[process];
	struct err ignored;
	if (!p->newborn || !p->target || d->own->machine.time - p->looked < pause)
		return;
	p->newborn = false;
	p->looked = d->own->machine.time;
	if (has_probes(d, process))
		target_look(p->target, &ignored);
}

static void add_grown(struct diagnosis *d, const struct young_process *grown)
{
	struct machine *m = &d->own->machine;
	process_add(d, grown->pid, NULL);
	m->processes.data[machine_process_of(m, grown->pid)].forks =
		grown->forks / fmax(m->time - grown->born, grown_up);
}

static void examine_new_modules(struct diagnosis *d, uint32_t process)
{
	struct target *t = d->own->machine.processes.data[process].target;
	refresh_modules(d, process);
	if (!t)
		return;
	probes_loaded(&d->own->probes, process);
	commit_to(d, t);
}

/* Puts in the probes that were wanted before. */
static void begin_awaited(struct diagnosis *d, uint32_t process)
{
	d->own->machine.processes.data[process].awaited = false;
	probes_loaded(&d->own->probes, process);
}

void processes_step(struct diagnosis *d)
{
	struct machine *m = &d->own->machine;
	struct young_process grown;
	while (machine_take_grown(m, grown_up, &grown)) {
		if (grown.target && target_alive(grown.target))
			begin_traced(d, grown.pid, grown.target);
		else if (!grown.target && thread_lives(grown.pid))
			add_grown(d, &grown);
	}
	for (uint32_t i = 0; i < m->live_processes.len; i++) {
		struct machine_process *p = &m->processes.data[m->live_processes.data[i]];
		if (p->stale && m->time - p->refreshed >= refresh_pause)
			examine_new_modules(d, m->live_processes.data[i]);
		if (p->awaited && is_studied(d, m->live_processes.data[i]))
			begin_awaited(d, m->live_processes.data[i]);
		if (is_sampled(d) && p->target && !p->unprobed && leave_to_samples(d, p))
			process_rest(d, m->live_processes.data[i]);
		if (is_sampled(d))
			measure_newborn(d, m->live_processes.data[i]);
	}
}
