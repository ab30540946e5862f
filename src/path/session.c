#include "path/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/pattern.h"
#include "path/targets.h"
#include "session/facts.h"

static const uint64_t reading_period = 700000000; /* ns: shorter than the time between saves */

static struct path_target *find_target(struct path_session *s, const struct target *t)
{
	vec_each (x, &s->own->targets)
		if (x->target == t)
			return x;
	return NULL;
}

static struct path_target *add_target(struct path_session *s, struct target *t)
{
	vec_push(&s->own->targets, (struct path_target){.target = t,
							.generation = ++s->own->generations,
							.pid = target_pid(t)});
	return &vec_last(&s->own->targets);
}

/* ---- inserting and removing ---- */

static void add_up(struct batch_result *sum, const struct batch_result *b)
{
	sum->spots += b->spots;
	for (int i = 0; i < REFUSAL_REASONS; i++)
		sum->refused[i] += b->refused[i];
	sum->patches += b->patches;
	sum->displaced += b->displaced;
	sum->relocated += b->relocated;
	sum->traps += b->traps;
	sum->pause_ns += b->pause_ns;
	sum->adopted += b->adopted;
}

/* Notes functions that a batch could not insert. */
static void mark_refused(struct path_session *s, struct path_target *t)
{
	vec_each (i, &t->in) {
		enum refusal why = i->active ? target_refused(t->target, i->subject) : REFUSED_NONE;
		if (why == REFUSED_NONE)
			continue;
		struct path_function *f = &s->data.functions.data[i->function];
		i->active = false;
		f->state = PATH_REFUSED;
		f->reason =
			arena_printf(&s->data.profile.arena, "a point of it %s", refusal_text[why]);
	}
}

static int commit_target(struct path_session *s, struct path_target *t, struct err *e)
{
	struct batch_result b = {0};
	if (!target_alive(t->target))
		return 0;
	int rc = target_commit(t->target, &b, e);
	add_up(&s->batches, &b);
	if (!rc)
		mark_refused(s, t);
	return rc;
}

static int commit(struct path_session *s, struct err *e)
{
	int rc = 0;
	vec_each (t, &s->own->targets) {
		int one = commit_target(s, t, e);
		rc = rc ? rc : one;
	}
	hot_begin(s, true);
	return rc;
}

static uint32_t put_in(struct path_session *s, const struct path_target *t,
		       const struct selected *what, struct err *e)
{
	const struct subject_request request = {
		.code = what->code,
		.va = what->va,
		.loop = what->loop,
		.bias = what->bias,
		.metrics = metrics_set(&s->metrics),
		.path = true,
	};
	return target_add(t->target, &request, e);
}

static bool is_in(const struct path_target *t, const struct selected *what)
{
	vec_each (i, &t->in)
		if (i->active && i->what.code == what->code && i->what.va == what->va &&
		    i->what.loop == what->loop && i->what.bias == what->bias)
			return true;
	return false;
}

static void note_inserted(struct path_target *t, uint32_t subject, uint32_t function,
			  const struct selected *what)
{
	vec_push(&t->in, (struct inserted){subject, function, *what, true});
	while (t->function_of.len <= subject)
		vec_push(&t->function_of, PROFILE_NONE);
	t->function_of.data[subject] = function;
}

static void note_refused(struct path_session *s, uint32_t function, const char *reason)
{
	struct path_function *f = &s->data.functions.data[function];
	f->state = PATH_REFUSED;
	f->reason = arena_strdup(&s->data.profile.arena, reason);
}

/* Adds one match; false and a sentence if the engine refuses it. A function that was taken out
 * is inserted again only if the user asks for it by name. */
static bool add_match(struct path_session *s, struct path_target *t, const struct selected *what,
		      const char *word, struct err *e)
{
	uint32_t function = path_profile_function(&s->data, what, word);
	struct path_function *f = &s->data.functions.data[function];
	bool out = f->state == PATH_TOO_HOT || f->state == PATH_REMOVED;
	if (is_in(t, what) || (out && !s->own->asked))
		return true;
	uint32_t subject = put_in(s, t, what, e);
	if (subject == SUBJECT_NONE) {
		note_refused(s, function, e->text);
		return false;
	}
	f->state = PATH_IN;
	f->reason = NULL;
	note_inserted(t, subject, function, what);
	return true;
}

/* Adds all matches of a word in one process. An error if there are none or all of them are refused.
 */
static int add_word(struct path_session *s, struct path_target *t, const struct path_word *w,
		    bool *awaits, struct err *e)
{
	struct selection found;
	struct err refused = {0};
	uint32_t in = 0;
	selection_init(&found);
	int rc = selector_find(s->selector, t->pid, target_space(t->target), w->text, &found, e);
	*awaits = found.awaits_module;
	vec_each (what, &found.list)
		in += add_match(s, t, what, w->text, &refused);
	if (!rc && !in) {
		*e = refused;
		rc = refused.code ? refused.code : ERR_UNSUPPORTED;
	} else if (!rc && in < found.list.len) {
		session_message(&s->session,
				"%u of %u functions that match '%.100s' cannot be measured: %s",
				found.list.len - in, found.list.len, w->text, refused.text);
	}
	selection_release(&found);
	return rc;
}

/* Called when a library was loaded or a program executed: functions that the user asked for may be
 * there now. */
static void select_again(struct path_session *s, struct path_target *t)
{
	struct err e;
	bool awaits;
	vec_each (w, &s->own->words)
		if (!w->removed && !add_word(s, t, w, &awaits, &e))
			w->found = true;
	int rc = commit_target(s, t, &e);
	if (rc && rc != ERR_ENDED && target_alive(t->target))
		session_message(&s->session, "functions of process %d are not measured: %s", t->pid,
				e.text);
	hot_begin(s, true);
}

static struct path_word *find_word(struct path_session *s, const char *word)
{
	vec_each (w, &s->own->words)
		if (!strcmp(w->text, word))
			return w;
	return NULL;
}

static struct path_word *keep_word(struct path_session *s, const char *word)
{
	struct path_word *w = find_word(s, word);
	if (!w) {
		vec_push(&s->own->words,
			 (struct path_word){.text = arena_strdup(&s->data.profile.arena, word)});
		w = &vec_last(&s->own->words);
	}
	w->removed = false;
	return w;
}

/* Adds a word to all processes. An error if none of them has a match. */
static int add_to_all(struct path_session *s, const char *word, bool *awaits, struct err *e)
{
	struct path_word *w = keep_word(s, word);
	int rc = ERR_INPUT;
	bool here;
	err_set(e, ERR_INPUT, "there is no process in which to look for '%s'", word);
	*awaits = false;
	vec_each (t, &s->own->targets) {
		if (!target_alive(t->target))
			continue;
		struct err why;
		int one = add_word(s, t, w, &here, &why);
		*awaits |= here;
		if (one && rc)
			*e = why;
		rc = one ? rc : 0;
	}
	w->found |= !rc;
	return rc;
}

/* An error if functions of the word were found, but none of them is measured. */
static int check_word(const struct path_session *s, const char *word, struct err *e)
{
	const struct path_function *refused = NULL;
	vec_each (f, &s->data.functions) {
		if (strcmp(f->word, word) != 0)
			continue;
		if (f->state == PATH_IN)
			return 0;
		refused = f->state == PATH_REFUSED ? f : refused;
	}
	return refused ? err_set(e, ERR_UNSUPPORTED, "'%s' cannot be measured: %s", refused->name,
				 refused->reason)
		       : 0;
}

int path_add(struct path_session *s, const char *word, struct err *e)
{
	bool awaits;
	s->own->asked = true;
	int rc = add_to_all(s, word, &awaits, e);
	s->own->asked = false;
	if (rc && awaits) {
		session_message(&s->session, "%s; '%.200s' will be measured when it is loaded",
				e->text, word);
		return 0;
	}
	if (rc) {
		find_word(s, word)->removed = true;
		return rc;
	}
	rc = commit(s, e);
	return rc ? rc : check_word(s, word, e);
}

/* Removes a function from all processes, for the reason given. */
static void take_out(struct path_session *s, uint32_t function, enum path_state state,
		     const char *reason)
{
	struct path_function *f = &s->data.functions.data[function];
	vec_each (t, &s->own->targets)
		vec_each (i, &t->in) {
			if (i->function != function || !i->active)
				continue;
			target_remove(t->target, i->subject);
			i->active = false;
		}
	f->state = state;
	f->reason = reason ? arena_strdup(&s->data.profile.arena, reason) : NULL;
}

int path_remove(struct path_session *s, const char *word, struct err *e)
{
	struct path_word *w = find_word(s, word);
	bool any = w && !w->removed;
	for (uint32_t i = 0; i < s->data.functions.len; i++) {
		const struct path_function *f = &s->data.functions.data[i];
		if (f->state != PATH_IN ||
		    (strcmp(f->word, word) != 0 && !pattern_match(word, f->name)))
			continue;
		take_out(s, i, PATH_REMOVED, NULL);
		any = true;
	}
	if (w)
		w->removed = true;
	if (!any)
		return err_set(e, ERR_INPUT, "'%s' is not being measured", word);
	path_read(s);
	return commit(s, e);
}

/* ---- metrics ---- */

/* The metrics are part of a probe's code: all probes are made again, in one stop. A function whose
 * probes cannot be made again is not measured any more; the first one's reason is returned. */
static int rebuild_probes(struct path_session *s, struct err *e)
{
	int rc = 0;
	struct err other;
	path_read(s);
	vec_each (t, &s->own->targets) {
		for (uint32_t i = 0, before = t->in.len; i < before; i++) {
			struct inserted old = t->in.data[i];
			if (!old.active || !target_alive(t->target))
				continue;
			target_remove(t->target, old.subject);
			t->in.data[i].active = false;
			uint32_t subject = put_in(s, t, &old.what, rc ? &other : e);
			if (subject != SUBJECT_NONE) {
				note_inserted(t, subject, old.function, &old.what);
				continue;
			}
			note_refused(s, old.function, rc ? other.text : e->text);
			rc = rc ? rc : e->code;
		}
	}
	int failed = commit(s, rc ? &other : e);
	return rc ? rc : failed;
}

int path_metric(struct path_session *s, const char *name, bool on, struct err *e)
{
	struct path_metric *m = metrics_find(&s->metrics, s->probing.engine, name, e);
	if (!m)
		return e->code;
	bool same = m->on == on;
	m->on = on;
	path_profile_metric(&s->data, m);
	return same || m->index == PATH_CALLS ? 0 : rebuild_probes(s, e);
}

/* A report shows the first metric by default, and time says more than calls: times come first. */
static int first_metrics(struct path_session *s, struct err *e)
{
	for (unsigned i = 0; i < s->o->metric_count; i++) {
		struct path_metric *m =
			metrics_find(&s->metrics, s->probing.engine, s->o->metrics[i], e);
		if (!m)
			return e->code;
		m->on = true;
	}
	for (int time = 1; time >= 0; time--)
		for (uint32_t i = 0; i < s->metrics.count; i++)
			if (metrics_is_time(&s->metrics.list[i]) == time)
				path_profile_metric(&s->data, &s->metrics.list[i]);
	return 0;
}

/* ---- values ---- */

struct target_reading {
	struct path_session *s;
	struct path_target *t;
	struct path_origin from;
};

static void on_value(void *ctx, const struct path_value *v)
{
	struct target_reading *r = ctx;
	const struct path_target *t = r->t;
	if (v->subject < t->function_of.len && t->function_of.data[v->subject] != PROFILE_NONE)
		path_profile_value(&r->s->data, &r->from, t->function_of.data[v->subject], v);
}

static void on_walk(void *ctx, struct target *t, int tid, const struct walk *w,
		    const struct call_made *call)
{
	struct path_session *s = ctx;
	path_profile_walk(&s->data, target_pid(t), tid, w, call != NULL);
}

void path_read(struct path_session *s)
{
	path_profile_begin(&s->data);
	vec_each (t, &s->own->targets) {
		struct target_reading r = {s, t, {t->generation, t->pid, target_space(t->target)}};
		target_read(t->target, on_value, &r);
	}
	path_profile_end(&s->data, &s->metrics);
	engine_walks(s->probing.engine, on_walk, s);
	s->own->next_read = now_ns() + reading_period;
}

/* ---- what happens to the program ---- */

static void on_forked(void *own, const struct engine_event *v)
{
	struct path_session *s = own;
	struct path_target *child = add_target(s, v->target);
	const struct path_target *parent = find_target(s, v->parent);
	path_profile_process(&s->data, child->pid, parent ? parent->pid : 0);
	if (parent)
		vec_each (i, &parent->in) {
			note_inserted(child, i->subject, i->function, &i->what);
			vec_last(&child->in).active = i->active;
		}
}

static void drop_target(struct path_session *s, struct target *target)
{
	struct path_target *t = find_target(s, target);
	if (t) {
		vec_free(&t->in);
		vec_free(&t->function_of);
		*t = vec_last(&s->own->targets);
		s->own->targets.len--;
	}
	engine_drop(s->probing.engine, target);
}

static void on_executed(void *own, const struct engine_event *v)
{
	struct path_session *s = own;
	path_read(s);
	hot_measure(s);
	if (v->parent)
		drop_target(s, v->parent);
	path_profile_exec(&s->data, target_pid(v->target));
	select_again(s, add_target(s, v->target));
}

/* Probes in modules that were unloaded are gone with them. */
static void forget_unloaded(struct path_target *t)
{
	struct space *space = target_space(t->target);
	vec_each (i, &t->in) {
		struct place p = space_find(space, i->what.va + i->what.bias);
		i->active &= p.code == i->what.code;
	}
}

static void on_loaded(void *own, const struct engine_event *v)
{
	struct path_session *s = own;
	struct path_target *t = find_target(s, v->target);
	if (t) {
		forget_unloaded(t);
		select_again(s, t);
	}
}

static void on_ended(void *own, const struct engine_event *v)
{
	struct path_session *s = own;
	path_read(s);
	hot_measure(s);
	drop_target(s, v->target);
}

/* What was measured is kept. */
static void on_confined(void *own, const struct engine_event *v)
{
	struct path_session *s = own;
	session_message(&s->session, "%s: it is no longer measured", target_unprobed(v->target));
}

static const struct probing_ops events = {
	.handlers = {[ENGINE_FORKED] = on_forked,
		     [ENGINE_EXECUTED] = on_executed,
		     [ENGINE_LOADED] = on_loaded,
		     [ENGINE_CONFINED] = on_confined,
		     [ENGINE_ENDED] = on_ended},
};

/* ---- the session ---- */

static bool is_over(struct session *session)
{
	const struct path_session *s = session->own;
	return !s->own->targets.len;
}

/* Takes the hottest functions out until the rest is within the limit. The overhead of a function is
 * an estimate from its calls; the next check knows better. */
static void keep_to_limit(struct path_session *s)
{
	struct too_hot f;
	struct err e;
	bool any = false;
	for (double share = hot_share(s), part; share > s->o->max_overhead; share -= part) {
		part = hot_find(s, share, &f);
		if (part <= 0)
			break;
		session_message(&s->session, "'%.200s' was removed: %s",
				s->data.functions.data[f.function].name, f.reason);
		take_out(s, f.function, PATH_TOO_HOT, f.reason);
		any = true;
	}
	if (any && commit(s, &e))
		session_message(&s->session,
				"functions above the overhead limit cannot be removed: %s", e.text);
}

static void check_overhead(struct path_session *s)
{
	if (!hot_is_due(s))
		return;
	path_read(s);
	if (!hot_is_measured(s))
		return;
	if (s->o->max_overhead > 0)
		keep_to_limit(s);
	hot_begin(s, false);
}

static void work(struct session *session)
{
	struct path_session *s = session->own;
	check_overhead(s);
	if (now_ns() >= s->own->next_read)
		path_read(s);
}

/* ---- the beginning ---- */

static void add_facts(struct session *session)
{
	struct path_session *s = session->own;
	profile_fact(&s->data.profile, "sampler", "probes");
}

static int first_functions(struct path_session *s, struct err *e)
{
	for (unsigned i = 0; i < s->o->function_count; i++) {
		bool awaits;
		int rc = add_to_all(s, s->o->functions[i], &awaits, e);
		if (rc && !awaits)
			return rc;
	}
	return 0;
}

/* Looks for the functions before the profile is opened: a misspelt one must not replace the
 * previous profile. */
static int open_program(struct session *session, int *not_started, struct err *e)
{
	struct path_session *s = session->own;
	int rc = first_metrics(s, e);
	rc = rc ? rc : probing_open(&s->probing, not_started, e);
	if (rc)
		return rc;
	path_profile_process(&s->data, add_target(s, s->probing.first)->pid, 0);
	return first_functions(s, e);
}

static int begin(struct session *session, struct err *e)
{
	struct path_session *s = session->own;
	int rc = commit(s, e);
	for (unsigned i = 0; i < s->o->function_count && !rc; i++)
		rc = check_word(s, s->o->functions[i], e);
	return rc;
}

/* Reads the values a last time. */
static void leave(struct session *session)
{
	struct path_session *s = session->own;
	path_read(s);
	hot_measure(s);
	selector_free(s->selector);
	s->selector = NULL;
	engine_free(s->probing.engine);
	s->probing.engine = NULL;
	if (s->overhead.run_ns)
		facts_number(&s->data.profile, "overhead",
			     (double)s->overhead.probe_ns / (double)s->overhead.run_ns, 6);
	vec_each (w, &s->own->words)
		if (!w->found && !w->removed)
			session_message(&s->session,
					"'%.200s' was never found: its module was not loaded",
					w->text);
}

static void complete(struct session *session)
{
	struct path_session *s = session->own;
	path_profile_fuse(&s->data);
}

static const struct session_ops ops = {
	.open = open_program,
	.add_facts = add_facts,
	.begin = begin,
	.go = probing_go,
	.wait = probing_wait,
	.is_over = is_over,
	.work = work,
	.leave = leave,
	.complete = complete,
	.abandon = probing_abandon,
};

/* ---- new and free ---- */

struct path_session *path_new(const struct path_options *o)
{
	static const struct engine_options usual;
	struct path_session *s = xcalloc(1, sizeof(*s));
	s->o = o;
	s->own = xcalloc(1, sizeof(*s->own));
	path_profile_init(&s->data);
	session_init(&s->session, &o->session, &ops, s, &s->data.profile);
	probing_init(&s->probing, &s->session, engine_new(&usual), &events);
	s->selector = selector_new();
	return s;
}

void path_free(struct path_session *s)
{
	selector_free(s->selector);
	if (s->probing.engine)
		engine_free(s->probing.engine);
	vec_each (t, &s->own->targets) {
		vec_free(&t->in);
		vec_free(&t->function_of);
	}
	vec_free(&s->own->targets);
	vec_free(&s->own->words);
	vec_free(&s->own->window.calls);
	path_profile_release(&s->data);
	free(s->own);
	free(s);
}
