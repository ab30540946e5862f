/* Targets come and go, and the public calls. */
#include "probe/engine.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "flow/private.h"
#include "probe/target.h"
#include "process/memory.h"

static struct target *target_of(const struct engine *g, int pid);

/* A counter's code reads, adds and writes. A signal handler that hits the same counter in between
 * would have its count overwritten: the interrupted thread begins again when it returns. */
static uint64_t begin_again(const struct target *t, uint64_t pc)
{
	struct moved_code m;
	struct placed_probe p;
	if (!is_code_memory(t, pc) || !moved_code_at(t, pc, &m))
		return pc;
	uint32_t at = (uint32_t)(pc - m.start);
	if (!fragment_probe_around(m.fragment, at, &p))
		return pc;
	uint8_t *code = xmalloc(p.size);
	if (memory_read(t->pid, m.start + p.offset, code, p.size) == p.size)
		pc = m.start + p.offset +
		     t->engine->arch->emit->restart(code, p.size, at - p.offset);
	free(code);
	return pc;
}

static bool on_signal(void *ctx, struct control_signal *s)
{
	const struct target *t = target_of(ctx, s->pid);
	if (!t || (!t->injected && !t->legacy))
		return true;
	uint64_t to = s->trapped ? trap_leads_to(t->legacy ? t->legacy : t, s->pc) : 0;
	if (to)
		s->pc = to;
	else if (t->injected)
		s->pc = begin_again(t, s->pc);
	return !to;
}

static void on_forking(void *ctx, int pid, int tid, int child)
{
	struct target *t = target_of(ctx, pid);
	if (t && t->counting && !target_of(ctx, child))
		contexts_forked(t, tid, child);
}

static void on_ending(void *ctx, struct control_thread *th)
{
	struct target *t = target_of(ctx, th->pid);
	if (t && t->counting)
		contexts_ending(t, th);
}

enum { LOOK_MIN_MS = 2, LOOK_MAX_MS = 100 };

struct engine *engine_new(const struct engine_options *o)
{
	struct engine *g = xcalloc(1, sizeof(*g));
	if (o)
		g->options = *o;
	g->arch = arch_native();
	g->control = control_new();
	if (g->arch)
		control_watch(g->control, on_signal, on_forking, on_ending, g);
	g->codes = codes_new(NULL);
	g->walker = walker_new();
	g->window = xcalloc(1, sizeof(*g->window));
	arena_init(&g->arena);
	arena_init(&g->tmp);
	return g;
}

/* ---- targets ---- */

struct target *target_make(struct engine *g, int pid)
{
	struct target *t = xcalloc(1, sizeof(*t));
	t->engine = g;
	t->pid = pid;
	t->alive = true;
	t->region_fd = -1;
	t->space = space_new(g->codes, pid);
	t->shadow_stack = process_has_shadow_stack(pid);
	t->moved = moved_index_new();
	return t;
}

static struct target *target_new(struct engine *g, int pid)
{
	struct target *t = target_make(g, pid);
	vec_push(&g->targets, t);
	return t;
}

static void forget_fragments(struct target *t)
{
	vec_each (s, &t->sites) {
		fragment_release(&s->fragment);
		fragment_release(&s->next);
	}
	vec_each (r, &t->retired)
		fragment_release(&r->fragment);
	vec_free(&t->retired);
}

static void site_release(struct site *s)
{
	vec_free(&s->subjects);
	vec_free(&s->journal);
}

void target_free(struct target *t)
{
	legacy_release(t->legacy);
	bequest_forget(t);
	target_unmap(t);
	raw_release(t);
	forget_fragments(t);
	vec_each (s, &t->sites)
		site_release(s);
	vec_each (s, &t->subjects) {
		vec_free(&s->probes);
		vec_free(&s->loop_code);
	}
	vec_each (c, &t->counted)
		free(c->without_trips);
	vec_free(&t->counted);
	vec_free(&t->sites);
	vec_free(&t->subjects);
	hashmap_release(&t->site_index);
	vec_free(&t->journal_free);
	vec_free(&t->probe_free);
	vec_free(&t->probe_retired);
	vec_free(&t->searched);
	vec_free(&t->steps);
	arena_release(&t->counts_arena);
	vec_each (f, &t->forks)
		fork_frames_free(*f);
	vec_free(&t->kept_counts);
	vec_free(&t->forks);
	vec_free(&t->kept);
	hashmap_release(&t->kept_index);
	hashmap_release(&t->kept_call_index);
	vec_free(&t->kept_frames);
	vec_free(&t->kept_counters);
	vec_free(&t->kept_calls);
	vec_free(&t->kept_waits);
	hashmap_release(&t->kept_wait_index);
	free(t->kept_made);
	for (uint32_t i = 0; i < RT_AREAS; i++) {
		hashmap_release(&t->slots[i].caught_up);
		vec_free(&t->slots[i].met);
		vec_free(&t->slots[i].left.held);
	}
	pool_release(&t->pool);
	moved_index_free(t->moved);
	space_free(t->space);
	free(t);
}

static struct target *target_of(const struct engine *g, int pid)
{
	vec_each (t, &g->targets)
		if ((*t)->pid == pid && (*t)->alive)
			return *t;
	return NULL;
}

struct codes *engine_codes(struct engine *g)
{
	return g->codes;
}

int target_pid(const struct target *t)
{
	return t->pid;
}

struct space *target_space(struct target *t)
{
	return t->space;
}

bool target_alive(const struct target *t)
{
	return t->alive;
}

static void free_walk(struct stopped_walk *w)
{
	vec_free(&w->walk.frames);
	free(w);
}

/* Nobody may have asked for them since it was stopped last. */
static void forget_walks_of(struct engine *g, const struct target *t)
{
	uint32_t kept = 0;
	vec_each (w, &g->walks)
		if ((*w)->target == t)
			free_walk(*w);
		else
			g->walks.data[kept++] = *w;
	g->walks.len = kept;
}

void engine_drop(struct engine *g, struct target *t)
{
	uint32_t kept = 0;
	forget_walks_of(g, t);
	for (uint32_t i = 0; i < g->targets.len; i++)
		if (g->targets.data[i] != t)
			g->targets.data[kept++] = g->targets.data[i];
	g->targets.len = kept;
	target_free(t);
}

/* ---- what happens to processes ---- */

static void tell(struct engine *g, enum engine_happening what, struct target *t,
		 struct target *parent, int status)
{
	vec_push(&g->events, (struct engine_event){what, t, parent, status});
}

/* All values that areas hold are kept; the program is no more, or another one. */
static void end_target(struct target *t, int status, uint64_t cpu_ns)
{
	if (t->injected)
		t->ended_run_ns = cpu_ns;
	areas_retire_all(t);
	keep_made(t);
	t->alive = false;
	t->status = status;
	target_unmap(t);
}

/* The parent's probes are in the child's memory; it counts for itself from now on, or later. */
static struct target *fork_target(struct engine *g, struct target *parent, int pid, int tid)
{
	struct err e;
	struct target *t = target_new(g, pid);
	space_free(t->space);
	t->space = space_copy(parent->space, pid);
	if ((g->options.lazy && target_bequeath(t, parent)) || !parent->injected)
		return t;
	if (target_inject_child(t, parent, tid, &e)) {
		debug(LOG_PROBE, 1, "process %d: %s", pid, e.text);
		return t;
	}
	target_inherit(t, parent, tid);
	target_set_guard(t);
	return t;
}

static void on_forked(struct engine *g, const struct control_event *ev)
{
	struct target *parent = target_of(g, ev->parent);
	if (!parent && !ev->shared) { /* it is gone, or was not ours yet */
		control_detach(g->control, ev->pid);
		return;
	}
	if (parent && !ev->shared) {
		struct target *t = fork_target(g, parent, ev->pid, ev->tid);
		tell(g, ENGINE_FORKED, t, parent, 0);
	}
	control_go(g->control, ev->tid);
}

int target_stop(struct target *t, struct err *e)
{
	struct control_event ev;
	struct control *c = t->engine->control;
	int rc = control_stop(c, t->pid, e);
	while (!rc && control_next_forked(c, t->pid, &ev))
		on_forked(t->engine, &ev);
	return rc;
}

static int prepare(struct target *t, struct err *e)
{
	struct batch_result ignored = {0};
	int rc = confinement_check(t, e);
	if (!rc)
		rc = target_inject(t, e);
	if (!rc)
		rc = layout_refresh(t, e);
	if (rc)
		return rc;
	rendezvous_add(t);
	t->stopped = true;
	rc = batch_commit(t, &ignored, e);
	t->stopped = false;
	return rc;
}

/* A new program, stopped at its first instruction: if it is dynamically linked it runs on until its
 * libraries are there. */
static void on_executed(struct engine *g, const struct control_event *ev)
{
	struct err e;
	struct target *old = target_of(g, ev->pid);
	if (old)
		end_target(old, -1, process_cpu_ns(ev->pid));
	struct target *t = target_new(g, ev->pid);
	t->before = old;
	t->watch_waits = old && old->watch_waits;
	if (g->options.lazy && ev->pid != g->launched) {
		t->held = ev->tid;
		tell(g, ENGINE_EXECUTED, t, old, 0);
		return;
	}
	if (prepare(t, &e)) {
		debug(LOG_PROBE, 1, "process %d: %s", ev->pid, e.text);
		t->problem = e;
	}
	if (t->injected)
		confinement_begin(t);
	if (t->injected && rendezvous_comes(t)) {
		t->loading = true;
		control_go(g->control, ev->tid);
		return;
	}
	t->held = ev->tid;
	tell(g, ENGINE_EXECUTED, t, old, 0);
}

static void on_signalled(struct engine *g, const struct control_event *ev)
{
	struct target *t = target_of(g, ev->pid);
	struct err ignored;
	if (!t || !rendezvous_consistent(t)) {
		control_go(g->control, ev->tid);
		return;
	}
	layout_refresh(t, &ignored);
	forget_unloaded(t);
	steps_forget(t);
	areas_introduce(t);
	t->held = ev->tid;
	tell(g, t->loading ? ENGINE_EXECUTED : ENGINE_LOADED, t, t->loading ? t->before : NULL, 0);
	t->loading = false;
}

static void on_gone(struct engine *g, const struct control_event *ev)
{
	struct target *t = target_of(g, ev->pid);
	struct control_event forked;
	if (!t)
		return;
	/* Its last children are ours as long as it is there. */
	while (control_next_forked(g->control, ev->pid, &forked))
		on_forked(g, &forked);
	end_target(t, ev->status, ev->cpu_ns);
	tell(g, ENGINE_ENDED, t, NULL, ev->status);
}

/* It may have been killed since. */
static void on_born(struct engine *g, struct target *t, int tid)
{
	struct control_thread *th = control_thread(g->control, tid);
	if (t && t->injected && th)
		areas_prepare(t, th);
	control_go(g->control, tid);
}

static void happen(struct engine *g, const struct control_event *ev)
{
	struct target *t = target_of(g, ev->pid);
	switch (ev->what) {
	case CONTROL_BORN: on_born(g, t, ev->tid); break;
	case CONTROL_FORKED: on_forked(g, ev); break;
	case CONTROL_EXECUTED: on_executed(g, ev); break;
	case CONTROL_SIGNALLED_US: on_signalled(g, ev); break;
	case CONTROL_ENDED:
		if (t)
			areas_retire(t, ev->tid);
		break;
	case CONTROL_GONE: on_gone(g, ev); break;
	}
}

/* Deals with what has happened, not with what happens meanwhile: that may never end. False if
 * nothing has. */
static bool catch_up_with_events(struct engine *g, int wait_ms)
{
	struct control_event ev;
	if (!control_wait(g->control, wait_ms, &ev))
		return false;
	happen(g, &ev);
	for (uint32_t n = control_known(g->control); n-- && control_wait(g->control, 0, &ev);)
		happen(g, &ev);
	return true;
}

void engine_drain(struct engine *g)
{
	catch_up_with_events(g, 0);
	for (uint32_t i = 0; i < g->targets.len; i++)
		engine_go(g, g->targets.data[i]);
	vec_clear(&g->events);
}

static bool next_event(struct engine *g, struct engine_event *out)
{
	if (!g->events.len)
		return false;
	*out = g->events.data[0];
	memmove(g->events.data, g->events.data + 1,
		(size_t)(g->events.len - 1) * sizeof(*g->events.data));
	g->events.len--;
	return true;
}

/* ---- programs that may not make all system calls ---- */

/* Nobody traces it any more; its end is awaited nevertheless. */
static void leave_untouched(struct target *t)
{
	leave(t);
	t->alive = t->untouched = true;
	control_expect_end(t->engine->control);
}

static void look_at_confinement(struct target *t)
{
	struct engine *g = t->engine;
	struct err e;
	uint32_t first;
	if (t->held || target_stop(t, &e))
		return;
	settle_threads(t, &first);
	bool stays = confinement_look(t, first);
	engine_forget_walks(g, first);
	control_resume(g->control, t->pid);
	if (stays)
		return;
	debug(LOG_PROBE, 1, "process %d is left: %s", t->pid, t->problem.text);
	leave_untouched(t);
	tell(g, ENGINE_CONFINED, t, NULL, 0);
}

/* One that we did not start tells nobody of its end. */
static void look_for_end(struct target *t)
{
	if (t->pid == t->engine->launched || thread_lives(t->pid))
		return;
	end_target(t, -1, 0);
	tell(t->engine, ENGINE_ENDED, t, NULL, -1);
}

static void look_at_confined(struct engine *g)
{
	for (uint32_t i = 0; i < g->targets.len; i++) {
		struct target *t = g->targets.data[i];
		if (t->alive && t->untouched)
			look_for_end(t);
		else if (t->alive && t->injected && confinement_is_due(t))
			look_at_confinement(t);
	}
}

const char *engine_unprobed(const struct target *t)
{
	return t->untouched ? t->problem.text : NULL;
}

/* Paths that the runtime could not walk are looked at soon: until then it pays more for each hit.
 * Where there are none for a while, less and less often. */
static int until_next_look(struct engine *g)
{
	bool any = false;
	vec_each (t, &g->targets)
		if ((*t)->injected)
			any |= raw_resolve(*t);
	g->look_ms = any ? LOOK_MIN_MS : g->look_ms * 2;
	if (g->look_ms > LOOK_MAX_MS || g->look_ms < LOOK_MIN_MS)
		g->look_ms = g->look_ms < LOOK_MIN_MS ? LOOK_MIN_MS : LOOK_MAX_MS;
	return g->look_ms;
}

/* A signal of ours ended the wait. */
static bool is_early(uint64_t begin, int wait_ms)
{
	return wait_ms > 0 && now_ns() - begin < (uint64_t)(wait_ms - 1) * 1000000;
}

bool engine_poll(struct engine *g, int timeout_ms, struct engine_event *out)
{
	uint64_t end = now_ns() + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0) * 1000000;
	while (!next_event(g, out)) {
		int look = until_next_look(g);
		look_at_confined(g);
		if (next_event(g, out))
			return true;
		uint64_t now = now_ns();
		int left = timeout_ms < 0 ? look : now < end ? (int)((end - now) / 1000000) : 0;
		int wait = left < look ? left : look;
		bool late = left <= look && timeout_ms >= 0;
		if (catch_up_with_events(g, wait)) {
			if (timeout_ms >= 0 && now_ns() >= end)
				return next_event(g, out);
		} else if (late || is_early(now, wait)) {
			return false;
		}
	}
	return true;
}

void engine_go(struct engine *g, struct target *t)
{
	if (t->held && t->untouched)
		control_detach(g->control, t->pid);
	else if (t->held)
		control_go(g->control, t->held);
	t->held = 0;
}

/* ---- beginning ---- */

static int keep_untouched(struct engine *g, struct target *t, struct target **out,
			  const struct err *e)
{
	t->problem = *e;
	t->untouched = true;
	control_expect_end(g->control);
	*out = t;
	return 0;
}

static int attach_to(struct engine *g, int pid, struct target **out, struct err *e)
{
	int rc = control_attach(g->control, pid, e);
	if (rc)
		return rc;
	rc = control_stop(g->control, pid, e);
	if (rc)
		return rc;
	struct control_event forked;
	while (control_next_forked(g->control, pid, &forked))
		on_forked(g, &forked);
	struct target *t = target_new(g, pid);
	rc = heal(t, e);
	if (!rc)
		rc = prepare(t, e);
	if (rc) {
		control_detach(g->control, pid);
		if (rc == ERR_CONFINED && g->options.unprobed)
			return keep_untouched(g, t, out, e);
		engine_drop(g, t);
		return rc;
	}
	control_resume(g->control, pid);
	*out = t;
	return 0;
}

int engine_attach(struct engine *g, int pid, struct target **out, struct err *e)
{
	if (!g->arch)
		return err_set(e, ERR_UNSUPPORTED, "programs cannot be probed on this machine");
	int rc = process_check_attach(pid, e);
	if (rc)
		return rc;
	struct target *t = target_new(g, pid);
	rc = confinement_check_untouched(t, e);
	if (rc && g->options.unprobed)
		return keep_untouched(g, t, out, e);
	engine_drop(g, t);
	return rc ? rc : attach_to(g, pid, out, e);
}

int engine_begin(struct engine *g, struct target *t, struct err *e)
{
	if (t->injected)
		return 0;
	int rc = target_stop(t, e);
	if (rc)
		return rc;
	rc = t->legacy ? legacy_take_over(t, e) : prepare(t, e);
	control_resume(g->control, t->pid);
	return rc;
}

/* Waits for the program that was launched to be loaded; other events stay in the queue. */
static int await_loaded(struct engine *g, int pid, struct target **out, struct err *e)
{
	struct control_event ev;
	for (;;) {
		vec_each (k, &g->events) {
			if (k->target->pid != pid)
				continue;
			if (k->what == ENGINE_ENDED)
				return err_set(e, ERR_SYSTEM,
					       "the program ended before it was loaded");
			if (k->what != ENGINE_EXECUTED)
				continue;
			*out = k->target;
			memmove(k, k + 1,
				(size_t)(g->events.data + g->events.len - k - 1) * sizeof(*k));
			g->events.len--;
			return 0;
		}
		if (control_wait(g->control, -1, &ev))
			happen(g, &ev);
	}
}

int engine_launch(struct engine *g, char *const *argv, struct target **out, int *why, struct err *e)
{
	int pid;
	if (!g->arch)
		return err_set(e, ERR_UNSUPPORTED, "programs cannot be probed on this machine");
	int rc = control_launch(g->control, argv, &pid, why, e);
	g->launched = rc ? 0 : pid;
	if (!rc)
		rc = await_loaded(g, pid, out, e);
	if (rc)
		return rc;
	if (!(*out)->injected && (*out)->problem.code == ERR_CONFINED && g->options.unprobed) {
		struct err why_not = (*out)->problem;
		return keep_untouched(g, *out, out, &why_not);
	}
	if (!(*out)->injected) {
		*e = (*out)->problem;
		kill(pid, SIGKILL); /* it has not executed an instruction of its own */
		control_detach(g->control, pid);
		engine_drop(g, *out);
		return e->code;
	}
	return 0;
}

void engine_leave(struct engine *g, struct target *t)
{
	(void)g;
	if (t->alive)
		leave(t);
}

/* ---- what is measured ---- */

int target_unusable(const struct target *t, struct err *e)
{
	if (!t->alive || !t->problem.code)
		return err_set(e, ERR_ENDED, "process %d has ended", t->pid);
	*e = t->problem;
	return e->code;
}

uint32_t engine_add(struct engine *g, struct target *t, const struct subject_request *r,
		    struct err *e)
{
	(void)g;
	if (!t->alive || !t->injected) {
		target_unusable(t, e);
		return SUBJECT_NONE;
	}
	return target_add_subject(t, r, PURPOSE_MEASURE, e);
}

void engine_remove(struct engine *g, struct target *t, uint32_t subject)
{
	(void)g;
	if (subject >= t->subjects.len)
		return;
	struct subject *s = &t->subjects.data[subject];
	s->removed = true;
	s->wanted = false;
	if (s->in)
		t->sites.data[s->site].dirty = true;
}

/* Activations that are running end as they would have. */
void engine_quiet(struct engine *g, struct target *t, uint32_t subject)
{
	if (subject >= t->subjects.len)
		return;
	engine_remove(g, t, subject);
	if (t->injected)
		__atomic_store_n(&target_subject(t, subject)->active, 0, __ATOMIC_RELAXED);
}

bool engine_spent(const struct target *t, uint32_t subject)
{
	if (!t->injected || !t->subjects.data[subject].in)
		return false;
	const struct rt_subject *s = target_subject(t, subject);
	return s->budget && !s->active;
}

void engine_set_budget(struct target *t, uint32_t subject, uint32_t budget)
{
	if (t->injected && !engine_spent(t, subject))
		__atomic_store_n(&target_subject(t, subject)->budget, budget, __ATOMIC_RELAXED);
}

void engine_ignore_waits(struct engine *g, struct target *t, uint64_t pc)
{
	struct place p = space_find(t->space, pc);
	uint32_t count, procedure = p.code ? flow_procedure_at(p.code->flow, p.va) : UINT32_MAX;
	if (procedure == UINT32_MAX)
		return;
	uint64_t start = flow_procedures(p.code->flow, &count)[procedure].start;
	for (uint32_t i = 0; i < t->subjects.len; i++) {
		const struct subject *s = &t->subjects.data[i];
		if (s->purpose == PURPOSE_BLOCK && s->request.code == p.code &&
		    s->request.va == start)
			engine_remove(g, t, i);
	}
}

void engine_watch_waits(struct engine *g, struct target *t)
{
	(void)g;
	t->watch_waits = true;
}

enum refusal engine_refused(const struct target *t, uint32_t subject)
{
	return t->subjects.data[subject].refused;
}

static uint32_t metrics_in_use(const struct target *t)
{
	uint32_t all = 0;
	vec_each (s, &t->subjects)
		if (s->wanted)
			all |= s->request.metrics;
	return all;
}

int engine_commit(struct engine *g, struct target *t, struct batch_result *result, struct err *e)
{
	struct batch_result ignored;
	result = result ? result : &ignored;
	*result = (struct batch_result){0};
	(void)g;
	if (!t->alive || !t->injected)
		return target_unusable(t, e);
	rendezvous_add(t);
	blocking_guard(t);
	t->guarded = true;
	if (t->watch_waits || metrics_in_use(t) & (1 << RT_SYNC | 1 << RT_IO | 1 << RT_BYTES))
		blocking_add(t);
	target_header(t)->watch_waits = t->watch_waits;
	waits_forget_removed(t);
	return batch_commit(t, result, e);
}

/* ---- results ---- */

void engine_read(struct engine *g, struct target *t, path_visitor visit, void *ctx)
{
	(void)g;
	if (t->injected)
		raw_resolve(t);
	read_all(t, visit, ctx);
}

void engine_counts(struct engine *g, struct target *t, uint32_t subject, uint64_t out[POINT_KINDS])
{
	(void)g;
	const struct subject *s = &t->subjects.data[subject];
	for (unsigned kind = 0; kind < POINT_KINDS; kind++) {
		uint32_t c = s->counters[kind];
		out[kind] = c == UINT32_MAX ? 0 : read_counter(t, c);
	}
}

struct calls_of_subject {
	const struct site *site;
	call_visitor visit;
	void *ctx;
};

static void visit_if_its(void *ctx, uint64_t site, uint64_t target, uint64_t count)
{
	const struct calls_of_subject *c = ctx;
	const struct flow *f = c->site->code->flow;
	if (flow_procedure_at(f, site - c->site->bias) == site_procedure(c->site))
		c->visit(c->ctx, site, target, count);
}

void engine_calls(struct engine *g, struct target *t, uint32_t subject, call_visitor visit,
		  void *ctx)
{
	(void)g;
	struct calls_of_subject c = {&t->sites.data[t->subjects.data[subject].site], visit, ctx};
	read_calls(t, visit_if_its, &c);
}

int engine_look(struct engine *g, struct target *t, struct err *e)
{
	uint32_t first;
	if (!t->alive || !t->injected)
		return target_unusable(t, e);
	int rc = target_stop(t, e);
	if (rc)
		return rc;
	settle_threads(t, &first);
	control_resume(g->control, t->pid);
	return 0;
}

void engine_forget_walks(struct engine *g, uint32_t first)
{
	while (g->walks.len > first)
		free_walk(vec_pop(&g->walks));
}

void engine_walks(struct engine *g, walk_visitor visit, void *ctx)
{
	vec_each (w, &g->walks)
		if (visit && (*w)->known)
			visit(ctx, (*w)->target, (*w)->tid, &(*w)->walk,
			      (*w)->in_call ? &(*w)->call : NULL);
	engine_forget_walks(g, 0);
}

/* ---- end ---- */

void engine_free(struct engine *g)
{
	/* More may come while we leave the first. */
	for (uint32_t i = 0; i < g->targets.len; i++)
		if (g->targets.data[i]->alive)
			leave(g->targets.data[i]);
	control_free(g->control);
	engine_walks(g, NULL, NULL);
	while (g->targets.len)
		engine_drop(g, g->targets.data[0]);
	vec_free(&g->targets);
	vec_free(&g->events);
	vec_free(&g->walks);
	vec_each (in, &g->intrusions)
		if (*in) {
			intrusions_release(*in);
			free(*in);
		}
	vec_free(&g->intrusions);
	vec_each (r, &g->private_registers) {
		if (*r)
			private_release(*r);
		free(*r);
	}
	vec_free(&g->private_registers);
	walker_free(g->walker);
	codes_free(g->codes);
	free(g->window);
	arena_release(&g->arena);
	arena_release(&g->tmp);
	free(g);
}
