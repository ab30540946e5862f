/* Random batches of probes of every kind, in and out, while a program runs; being killed in the
 * middle of it; and leaving no trace. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "probe.h"
#include "process/threads.h"

static const double LONGEST_LIFE = 5;

/* Plain counters, activations with clocks, paths: any of them, with any metrics. */
static void use_random(struct member *m)
{
	uint32_t i = (uint32_t)chance(m->candidates.len);
	struct subject_request r = m->candidates.data[i].request;
	struct err e;
	switch (chance(3)) {
	case 0: r.counters = true; break;
	case 1: r.metrics = (uint32_t)chance(1 << RT_EVENT); break;
	default: r.metrics = (uint32_t)chance(1 << RT_EVENT); r.path = true;
	}
	uint32_t subject = target_add(m->target, &r, &e);
	totals.added++;
	if (subject == SUBJECT_NONE) {
		totals.rejected++;
		memcpy(totals.why_rejected, e.text, sizeof(e.text));
		return;
	}
	vec_push(&m->used, (struct used){.subject = subject, .candidate = i, .path = r.path});
}

/* What was asked for by name is there to stay. */
static void fresh_kept(struct member *m, uint32_t from)
{
	if (!settings.names)
		return;
	use_named(m, from);
	m->kept = m->used.len;
	commit(m);
}

static void remove_random(struct member *m)
{
	uint32_t i = m->kept + (uint32_t)chance(m->used.len - m->kept);
	if (chance(2))
		target_remove(m->target, m->used.data[i].subject);
	else
		target_quiet(m->target, m->used.data[i].subject);
	m->used.data[i] = vec_last(&m->used);
	m->used.len--;
}

/* Mostly few, sometimes hundreds. */
static void one_batch(struct family *f)
{
	static const uint64_t sizes[] = {1, 2, 5, 10, 30, 200};
	struct member *m = f->members.data[chance(f->members.len)];
	uint64_t in = chance(sizes[chance(ARRAY_SIZE(sizes))] + 1);
	uint64_t out = chance(sizes[chance(ARRAY_SIZE(sizes))] + 1);
	if (m->alone) {
		if (!chance(3))
			member_begin(f, m);
		return;
	}
	while (in-- && m->candidates.len)
		use_random(m);
	while (out-- && m->used.len > m->kept)
		remove_random(m);
	commit(m);
}

static void nothing_seen(void *ctx, const struct path_value *v)
{
	uint64_t *calls = ctx;
	*calls += v->calls;
}

static void add_waited(void *ctx, const struct wait_value *v)
{
	uint64_t *ns = ctx;
	if (v->subject == SUBJECT_NONE)
		*ns += v->wall_ns;
}

/* Whatever threads are doing at this moment, it is never less than before, but for what is cut off
 * of each number. */
static void look_at_waits(struct member *m)
{
	uint64_t ns = 0;
	target_waits(m->target, add_waited, &ns);
	if (ns + 10000 < m->waited)
		die("waiting went back from %" PRIu64 " to %" PRIu64 " ns", m->waited, ns);
	m->waited = ns;
}

static void look_at_values(struct family *f)
{
	uint64_t calls = 0;
	struct member *m = f->members.data[chance(f->members.len)];
	struct err ignored;
	target_read(m->target, nothing_seen, &calls);
	look_at_waits(m);
	if (!chance(4))
		target_look(m->target, &ignored);
	target_overhead(m->target);
	engine_walks(f->engine, NULL, NULL);
}

/* For a while: of storms there is no end. */
static void look_at_events(struct family *f)
{
	double end = now_seconds() + 0.02;
	while (!f->ended && family_poll(f, (int)chance(3)) && now_seconds() < end)
		;
}

/* Whether there were as many as wanted; those for processes that were just ending are none. */
static bool is_enough(unsigned tries)
{
	return settings.batches && tries >= settings.batches && totals.batches >= settings.batches;
}

static void torture(struct family *f)
{
	double end = settings.seconds > 0 ? now_seconds() + settings.seconds : 0;
	for (unsigned i = 0; !is_enough(i); i++) {
		look_at_events(f);
		if (f->ended || !f->members.len || (end > 0 && now_seconds() > end))
			return;
		one_batch(f);
		if (!chance(20))
			look_at_values(f);
	}
}

int mode_torture(char **argv)
{
	struct family f = {.fresh = fresh_kept};
	family_begin(&f, argv);
	torture(&f);
	if (!settings.pid && !f.ended && (settings.batches || settings.seconds > 0))
		kill(f.first, SIGTERM);
	while (!settings.pid && !f.ended)
		family_poll(&f, 100);
	report_write(&f.report);
	int status = f.ended ? shell_status(f.status) : 0;
	family_end(&f);
	return status;
}

/* At a pass of the point that is among the first 32, mostly the first few. */
static void arm_death(void)
{
	char spec[100];
	if (!settings.die)
		return;
	snprintf(spec, sizeof(spec), "die@%s:%" PRIu64, settings.die,
		 1 + chance(UINT64_C(1) << chance(6)));
	faults_arm(spec);
}

/* One life: attaches, says so, and tortures until killed. */
static int live_and_die(int victim, int *attached)
{
	int ends[2], child = pipe(ends) ? -1 : fork();
	if (child < 0)
		die("no life begins");
	*attached = ends[0];
	if (child) {
		close(ends[1]);
		return child;
	}
	struct family f = {.fresh = fresh_kept};
	settings.pid = victim;
	settings.seconds = 0;
	settings.batches = 0;
	settings.seed ^= (uint64_t)getpid() << 20;
	arm_death();
	family_begin(&f, NULL);
	close(ends[1]);
	torture(&f);
	_exit(0);
}

/* Kills it at a random moment of `life` seconds: mostly from when it has attached on, however long
 * that takes here, sometimes from its very beginning. Returns its status. */
static int let_live(int victim, double life)
{
	char none;
	int attached, status, child = live_and_die(victim, &attached);
	if (chance(4) && read(attached, &none, 1) < 0)
		die("a life cannot be watched");
	sleep_seconds(life * (double)chance(1000000) * 1e-6);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	close(attached);
	return status;
}

/* The life ends by itself, at its fault point. If it does not come there it is killed. */
static int wait_for_death(int victim)
{
	int attached, status, child = live_and_die(victim, &attached);
	double end = now_seconds() + LONGEST_LIFE;
	while (waitpid(child, &status, WNOHANG) != child) {
		if (now_seconds() > end)
			kill(child, SIGKILL);
		sleep_seconds(0.002);
	}
	close(attached);
	totals.planned_deaths += now_seconds() < end && WIFSIGNALED(status);
	return status;
}

/* The kernel lets go of the threads some time after we have seen the end. */
static bool runs_on(int pid)
{
	for (int i = 0; i < 500; i++) {
		char state = thread_state(pid);
		if (state != 't' && state != 'T')
			return state && state != 'Z';
		sleep_seconds(0.002);
	}
	return false;
}

/* A later one finds what the dead ones left, and takes it out. */
static void heal(int victim)
{
	struct engine *g = engine_new(&settings.engine);
	struct target *t;
	struct err e;
	if (engine_attach(g, victim, &t, &e))
		die("the program cannot be healed: %s", e.text);
	engine_free(g);
}

int mode_death(char **argv)
{
	int victim = start_untraced(argv), status;
	double life = settings.seconds > 0 ? settings.seconds : 0.15;
	sleep_seconds(0.05);
	for (unsigned i = 0; i < settings.deaths; i++) {
		status = settings.die ? wait_for_death(victim) : let_live(victim, life);
		if (WIFEXITED(status) && WEXITSTATUS(status))
			fprintf(stderr, "life %u ended by itself with status %d\n", i,
				WEXITSTATUS(status));
		if (!runs_on(victim)) {
			fprintf(stderr, "the program does not run on after death %u (seed %llu)\n",
				i, (unsigned long long)settings.seed);
			break;
		}
	}
	if (runs_on(victim))
		heal(victim);
	bool clean = runs_on(victim) && text_is_original(victim, false);
	status = end_untraced(victim);
	if (!clean)
		fprintf(stderr, "it ended with status %d\n", status);
	report_write(NULL);
	return clean ? status : 3;
}

static void use_everything(struct member *m, uint32_t from)
{
	for (uint32_t i = from; i < m->candidates.len; i++)
		use(m, i, false);
	for (uint32_t i = from; i < m->candidates.len; i += 5)
		use(m, i, !m->candidates.data[i].depth);
	commit(m);
}

/* Attach, put in, let run, take out, leave. */
static void visit(int pid)
{
	struct family f = {.fresh = use_everything};
	settings.pid = pid;
	family_begin(&f, NULL);
	double end = now_seconds() + (settings.seconds > 0 ? settings.seconds : 0.1);
	while (!f.ended && now_seconds() < end)
		family_poll(&f, 10);
	vec_each (m, &f.members) {
		vec_each (u, &(*m)->used)
			target_remove((*m)->target, u->subject);
		commit(*m);
	}
	family_end(&f);
}

/* A program that has just been started still maps memory and makes threads; one that does so all
 * the time is looked at loosely. */
static void take_when_steady(struct trace *out, int pid)
{
	struct trace last;
	bool steady = false;
	trace_take(out, pid);
	for (unsigned i = 0; i < 150 && !steady; i++) {
		last = *out;
		bool begun = has_begun(pid);
		sleep_seconds(0.2);
		trace_take(out, pid);
		steady = begun && (settings.loose ||
				   (out->maps.len == last.maps.len &&
				    !memcmp(out->maps.data, last.maps.data, last.maps.len)));
		trace_release(&last);
	}
}

int mode_clean(char **argv)
{
	struct trace before, after;
	int pid = start_untraced(argv);
	bool clean = true;
	take_when_steady(&before, pid);
	for (unsigned i = 0; i < settings.times && clean; i++) {
		visit(pid);
		if (!runs_on(pid)) {
			fprintf(stderr, "the program does not run on after visit %u\n", i);
			clean = false;
			break;
		}
		trace_take(&after, pid);
		clean &= trace_same(&before, &after);
		clean &= text_is_original(pid, true);
		trace_release(&after);
	}
	trace_release(&before);
	report_write(NULL);
	int status = end_untraced(pid);
	return clean ? status : 3;
}
