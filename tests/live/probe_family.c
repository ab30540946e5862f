/* A program under study with its children: what every mode does with what the engine tells. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "probe.h"
#include "process/threads.h"

/* A process on its way out loses its memory first. */
static bool is_ending(int pid)
{
	for (int i = 0; i < 500; i++) {
		char state = thread_state(pid);
		if (!state || state == 'Z' || state == 'X')
			return true;
		sleep_seconds(0.002);
	}
	return false;
}

bool commit(struct member *m)
{
	struct batch_result r = {0};
	struct err e;
	if (!target_commit(m->target, &r, &e)) {
		totals_add(&r);
		return true;
	}
	if (target_alive(m->target) && !is_ending(target_pid(m->target))) {
		totals.failed_batches++;
		memcpy(totals.why_failed, e.text, sizeof(e.text));
	}
	return false;
}

void use(struct member *m, uint32_t candidate, bool path)
{
	struct subject_request r = m->candidates.data[candidate].request;
	struct err e;
	r.path = path;
	r.counters = !path && !settings.activations;
	r.metrics = r.counters ? 0 : settings.metrics;
	r.budget = settings.budget;
	uint32_t subject = target_add(m->target, &r, &e);
	totals.added++;
	if (subject != SUBJECT_NONE) {
		vec_push(&m->used,
			 (struct used){.subject = subject, .candidate = candidate, .path = path});
		return;
	}
	totals.rejected++;
	memcpy(totals.why_rejected, e.text, sizeof(e.text));
}

void use_named(struct member *m, uint32_t from)
{
	for (uint32_t i = from; i < m->candidates.len; i++) {
		const struct candidate *c = &m->candidates.data[i];
		bool path = is_listed(settings.paths, c->name) && !c->depth;
		if (!settings.names || is_listed(settings.names, c->name))
			use(m, i, false);
		if (path)
			use(m, i, true);
	}
}

static struct member *member_of(struct family *f, const struct target *t)
{
	vec_each (m, &f->members)
		if ((*m)->target == t)
			return *m;
	die("an event tells of a process that nobody knows");
}

static struct member *add_member(struct family *f, struct target *t)
{
	struct member *m = xcalloc(1, sizeof(*m));
	m->target = t;
	vec_push(&f->members, m);
	m->alone = settings.engine.lazy && target_pid(t) != f->first;
	if (settings.waits && !m->alone)
		target_watch_waits(t, true);
	return m;
}

static void look_for_modules(struct family *f, struct member *m)
{
	uint32_t from = m->candidates.len;
	candidates_find(m);
	if (m->candidates.len > from)
		f->fresh(m, from);
	target_go(m->target);
}

static void forget_member(struct family *f, struct member *m)
{
	uint32_t i = 0;
	while (f->members.data[i] != m)
		i++;
	f->members.data[i] = f->members.data[--f->members.len];
	vec_free(&m->candidates);
	vec_free(&m->seen);
	vec_free(&m->used);
	free(m);
}

/* It may be about to end. */
void member_begin(struct family *f, struct member *m)
{
	struct err ignored;
	m->alone = false;
	if (target_begin(m->target, &ignored))
		return;
	if (settings.waits)
		target_watch_waits(m->target, true);
	look_for_modules(f, m);
}

/* What is in the parent is in the child, under the same numbers. */
static void on_fork(struct family *f, const struct engine_event *event)
{
	struct member *parent = member_of(f, event->parent), *m = add_member(f, event->target);
	if (m->alone)
		return;
	vec_each (c, &parent->candidates)
		vec_push(&m->candidates, *c);
	vec_each (s, &parent->seen)
		vec_push(&m->seen, *s);
	vec_each (u, &parent->used)
		vec_push(&m->used, *u);
	m->kept = parent->kept;
}

static void on_end(struct family *f, const struct engine_event *event)
{
	struct member *m = member_of(f, event->target);
	report_member(f, m);
	if (target_pid(m->target) == f->first) {
		f->ended = true;
		f->status = event->status;
	}
	engine_drop(f->engine, m->target);
	forget_member(f, m);
}

/* Another program: what the old one counted is told first. A vfork's child is new to us. */
static void on_exec(struct family *f, const struct engine_event *event)
{
	if (event->parent) {
		struct member *old = member_of(f, event->parent);
		report_member(f, old);
		engine_drop(f->engine, old->target);
		forget_member(f, old);
	}
	struct member *m = add_member(f, event->target);
	if (m->alone)
		target_go(m->target);
	else
		look_for_modules(f, m);
}

bool family_poll(struct family *f, int timeout_ms)
{
	struct engine_event event;
	if (!engine_poll(f->engine, timeout_ms, &event))
		return false;
	switch (event.what) {
	case ENGINE_FORKED: on_fork(f, &event); break;
	case ENGINE_EXECUTED: on_exec(f, &event); break;
	case ENGINE_LOADED: look_for_modules(f, member_of(f, event.target)); break;
	case ENGINE_CONFINED:
	case ENGINE_HAPPENINGS: break;
	case ENGINE_ENDED: on_end(f, &event); break;
	}
	return true;
}

void family_begin(struct family *f, char **argv)
{
	struct target *t;
	struct err e;
	int why;
	f->engine = engine_new(&settings.engine);
	if (settings.pid ? engine_attach(f->engine, settings.pid, &t, &e)
			 : engine_launch(f->engine, argv, &t, &why, &e))
		die("%s", e.text);
	f->first = target_pid(t);
	struct member *m = add_member(f, t);
	if (settings.pid) {
		candidates_find(m);
		f->fresh(m, 0);
	} else {
		look_for_modules(f, m);
	}
}

void family_end(struct family *f)
{
	while (f->members.len)
		forget_member(f, f->members.data[0]);
	vec_free(&f->members);
	engine_free(f->engine);
	text_release(&f->report);
}

int start_untraced(char **argv)
{
	int pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* it would run for ever */
		execvp(argv[0], argv);
		_exit(127);
	}
	return pid;
}

static void tell_where_it_hangs(int pid)
{
	char command[160];
	snprintf(command, sizeof(command),
		 "for t in /proc/%d/task/*; do echo $(cut -d' ' -f3 $t/stat) $(cat $t/wchan) "
		 "$(cat $t/syscall); done >&2; cat /proc/%d/maps >&2",
		 pid, pid);
	if (system(command)) // NOLINT(cert-env33-c)
		fprintf(stderr, "(nothing is known of it)\n");
}

bool has_begun(int pid)
{
	static const uint64_t enough = 20000000; /* ns */
	tid_list tids = {0};
	struct err ignored;
	threads_list(pid, &tids, &ignored);
	bool begun = tids.len > 1;
	vec_each (tid, &tids)
		begun &= *tid == pid || thread_cpu_ns(pid, *tid) > enough;
	vec_free(&tids);
	return begun;
}

int end_untraced(int pid)
{
	int status;
	double limit = now_seconds() + 20;
	kill(pid, SIGTERM);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (now_seconds() > limit) {
			fprintf(stderr, "the program hangs\n");
			tell_where_it_hangs(pid);
			kill(pid, SIGKILL);
			return 124;
		}
		sleep_seconds(0.002);
	}
	return shell_status(status);
}
