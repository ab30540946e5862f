/* The wording of findings. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "findings/limits.h"
#include "findings/wording.h"

/* Returns the share of the run in which the program had no work; 0 if that is not worth telling. */
static double idle_of(const struct wording *t)
{
	const struct evidence_run *run = &t->k->e->run;
	double idle = share_of(run->idle, run->seconds);
	return idle < noticeable_idle ? 0 : fmin(idle, 1);
}

/* Adds a share of the run; of a program that had no work for some of the time, also of the rest. */
static void add_run_share(const struct wording *t, double share, struct text *out)
{
	double busy = 1 - idle_of(t);
	if (busy < 1)
		text_printf(out, "%.0f %% of busy time (%.0f %% of run time)", percent(share),
			    percent(share * busy));
	else
		text_printf(out, "%.0f %% of run time", percent(share));
}

/* Adds a share of waiting. */
static void add_wait_share(const struct wording *t, double share, struct text *out)
{
	const struct evidence_run *run = &t->k->e->run;
	if (run->threads > several_threads * (run->seconds - run->idle))
		text_printf(out, "%.0f %% of thread time", percent(share));
	else
		add_run_share(t, share, out);
}

/* ---- sentences ---- */

static void say_cpu(const struct wording *t, const struct candidate *c, const char *where,
		    struct text *out)
{
	text_add(out, "CPU-bound: ");
	add_run_share(t, c->share, out);
	text_printf(out, " in %s", where);
	if (c->spread)
		text_add(out, ", not counting the findings inside it");
}

static void say_system(const struct wording *t, const struct candidate *c, const char *where,
		       struct text *out)
{
	text_add(out, "System time: ");
	add_run_share(t, c->share, out);
	text_printf(out, " in %s", where);
	if (c->spread)
		text_add(out, ", not counting the findings inside it");
}

static void say_memory(const struct wording *t, const struct candidate *c, const char *where,
		       struct text *out)
{
	text_add(out, "Memory management: ");
	add_run_share(t, c->share, out);
	text_add(out, " in ");
	word_allocators(t, c, out);
	text_printf(out, ", called in %s", where);
	if (c->spread)
		text_add(out, ", not counting the findings inside it");
}

static void say_sync(const struct wording *t, const struct candidate *c, const char *where,
		     struct text *out)
{
	enum object_kind kind = known_kind(t->k, c->object);
	bool sleeps = kind == OBJECT_SLEEP;
	bool locks = kind == OBJECT_MUTEX || kind == OBJECT_RWLOCK || kind == OBJECT_LOCK ||
		     kind == OBJECT_SPIN;
	bool spins = kind == OBJECT_VARIABLE, runtime = kind == OBJECT_OPENMP;
	if (kind == OBJECT_SERIAL) {
		text_add(out, "Serial code: ");
		add_wait_share(t, c->share, out);
		text_printf(out, " is spent waiting for %s", where);
		return;
	}
	if (kind == OBJECT_GPU) {
		const char *function = t->k->e->objects.data[c->object].name;
		text_add(out, strstr(function, "emcpy") ? "GPU copy: " : "GPU wait: ");
		add_wait_share(t, c->share, out);
		text_printf(out, " in %s, called in %s", function, where);
		return;
	}
	text_add(out, sleeps  ? "Sleeping: "
		      : locks ? "Lock contention: "
		      : spins ? "Spinning: "
			      : "Synchronisation wait: ");
	add_wait_share(t, c->share, out);
	text_char(out, ' ');
	if (spins && *t->k->e->objects.data[c->object].name)
		text_printf(out, "until %s changes, ", t->k->e->objects.data[c->object].name);
	if (c->object != PROFILE_NONE && !sleeps && !spins) {
		text_add(out, kind == OBJECT_SPIN || runtime ? "waiting for " : "blocked on ");
		word_object(t, c->object, out);
		text_add(out, ", ");
	}
	text_printf(out, "in %s", where);
}

static void say_io(const struct wording *t, const struct candidate *c, const char *where,
		   struct text *out)
{
	bool answer = known_kind(t->k, c->object) == OBJECT_ANSWER;
	text_add(out, "I/O wait: ");
	add_wait_share(t, c->share, out);
	text_char(out, ' ');
	if (c->object != PROFILE_NONE) {
		text_add(out, answer ? "waiting for an " : "blocked on ");
		word_object(t, c->object, out);
		text_add(out, ", ");
	}
	text_printf(out, "in %s", where);
}

static void say_small_io(const struct wording *t, const struct candidate *c, const char *where,
			 struct text *out)
{
	text_add(out, "Small I/O: ");
	add_wait_share(t, c->share, out);
	text_add(out, " in small reads and writes");
	if (c->object != PROFILE_NONE) {
		text_add(out, " of ");
		word_object(t, c->object, out);
	}
	text_printf(out, ", in %s", where);
}

static void say_imbalance(const struct wording *t, const struct candidate *c, const char *where,
			  struct text *out)
{
	text_printf(out,
		    "Load imbalance: the busiest thread does %.0f %% (of %s time) more work than "
		    "the average, in %s",
		    percent(c->share), idle_of(t) > 0 ? "busy" : "run", where);
}

static void (*const sayings[HYPOTHESES])(const struct wording *, const struct candidate *,
					 const char *, struct text *) = {
	[CPU_BOUND] = say_cpu,       [SYSTEM_TIME] = say_system, [MEMORY_MANAGEMENT] = say_memory,
	[SYNC_WAITING] = say_sync,   [IO_BLOCKED] = say_io,      [SMALL_IO] = say_small_io,
	[IMBALANCE] = say_imbalance,
};

/* ---- where ---- */

/* Adds one part of a call path. Consecutive loops share one pair of brackets. */
static void add_path_part(struct wording *t, uint32_t part, bool *in_loops, struct text *out)
{
	struct code_words n = known_code(t->k, part);
	if (!n.loop || !n.first_line) {
		text_add(out, *in_loops ? ")" : "");
		*in_loops = false;
	}
	if (!n.loop)
		text_printf(out, "%s%s", out->len ? " > " : "", n.chain);
	else if (n.first_line && *in_loops)
		text_printf(out, ", %u-%u", n.first_line, n.last_line);
	else if (n.first_line)
		text_printf(out, " (loop %s:%u-%u", n.file, n.first_line, n.last_line);
	*in_loops |= n.loop && n.first_line;
}

/* Adds the call path from the outermost function to the part, with the loops on it. */
static void add_path(struct wording *t, uint32_t finding, const struct candidate *c)
{
	const struct evidence *e = t->k->e;
	struct text path = TEXT_INIT;
	bool in_loops = false;
	if (c->chain == PROFILE_NONE)
		return;
	const struct evidence_chain *chain = &e->chains.data[c->chain];
	const uint32_t *parts = e->parts.data + chain->first;
	uint32_t end = 0;
	for (uint32_t i = 0; i < chain->length; i++)
		end = parts[i] == c->part ? i + 1 : end;
	for (uint32_t i = 0; i < end; i++) {
		if (i == PATH_FIRST && end > PATH_FIRST + PATH_LAST) {
			text_add(&path, in_loops ? ") > ..." : " > ...");
			in_loops = false;
			i = end - PATH_LAST;
		}
		add_path_part(t, parts[i], &in_loops, &path);
	}
	text_add(&path, in_loops ? ")" : "");
	if (path.len)
		remark(t, finding, "path", "%s", path.data);
	text_release(&path);
}

/* Returns the seconds of samples of each thread in the finding's focus; the caller frees it. */
static double *seconds_of_threads(const struct wording *t, const struct candidate *c)
{
	const struct known *k = t->k;
	const struct profile_experiment *x = &k->p->experiments.data[c->experiment];
	struct focus f = known_focus(x);
	double *own = xcalloc(k->e->threads.len + 1, sizeof(*own));
	amounts_each (a, k, x->focus[CODE])
		if (known_concerns(k, &f, hypotheses[c->hypothesis].measure, a))
			own[a->thread] += a->seen_cpu + a->seen_wait;
	return own;
}

/* Returns true if no two of these threads are of one process. */
static bool are_processes(const struct wording *t, const double *own)
{
	const struct profile *p = t->k->p;
	uint8_t *seen = xcalloc(p->resources.len + 1, 1);
	bool apart = true;
	for (uint32_t i = 0; i < t->k->e->threads.len; i++) {
		const struct evidence_thread *thread = &t->k->e->threads.data[i];
		uint32_t process = p->resources.data[thread->resource].parent;
		if (own[i] <= 0 || !thread->tid || process == PROFILE_NONE)
			continue;
		apart &= !seen[process];
		seen[process] = 1;
	}
	free(seen);
	return apart;
}

static void add_threads(struct wording *t, uint32_t finding, const struct candidate *c)
{
	const struct evidence_thread *all = t->k->e->threads.data;
	double *own = seconds_of_threads(t, c), sum = 0, brief = 0;
	uint32_t alive = 0, count = 0, most = 0;
	for (uint32_t i = 0; i < t->k->e->threads.len; i++) {
		alive += all[i].tid != 0;
		count += own[i] > 0 && all[i].tid;
		sum += own[i];
		brief += all[i].tid ? 0 : own[i];
		most = all[i].tid && (!all[most].tid || own[i] > own[most]) ? i : most;
	}
	if (alive < 2 || !count)
		;
	else if (brief > nearly_all * sum)
		remark(t, finding, "where", "in short-lived threads");
	else if (own[most] > nearly_all * sum)
		remark(t, finding, "where", "in thread %d (%s)", all[most].tid, all[most].name);
	else if (count == 1)
		remark(t, finding, "where", "in thread %d (%s), and in short-lived ones",
		       all[most].tid, all[most].name);
	else
		remark(t, finding, "where", "in %u %s", count,
		       are_processes(t, own) ? "processes" : "threads");
	free(own);
}

/* ---- what it waits for ---- */

/* Adds a time with three digits. The limits are where rounding would give a fourth digit. */
static void add_time(struct text *out, double seconds)
{
	static const char *const units[] = {"s", "ms", "us", "ns"};
	unsigned i = 0;
	while (i + 1 < ARRAY_SIZE(units) && seconds > 0 && seconds < 0.9995) {
		seconds *= 1000;
		i++;
	}
	text_printf(out, "%.*f %s",
		    seconds < 9.995   ? 2
		    : seconds < 99.95 ? 1
				      : 0,
		    seconds, units[i]);
}

static void add_waits(struct wording *t, uint32_t finding, const struct candidate *c)
{
	const struct evidence_object *o = &t->k->e->objects.data[c->object];
	bool syncs = object_kinds[known_kind(t->k, c->object)].hierarchy == SYNC;
	/* A call that waits for answers returns for other reasons, too. */
	if (!o->count || known_kind(t->k, c->object) == OBJECT_ANSWER)
		return;
	double rate = known_object_rate(t->k, c->object),
	       each = checked(A_TIME, o->seconds / (double)o->count);
	struct text line = TEXT_INIT;
	text_printf(&line, "%.*f %s per second, ", rate < 10 ? 1 : 0, rate,
		    syncs ? "waits" : "operations");
	add_time(&line, each);
	text_add(&line, " each");
	if (o->bytes)
		text_printf(&line, ", %.0f bytes on average", (double)o->bytes / (double)o->count);
	remark(t, finding, "waits", "%s", line.data);
	text_release(&line);
}

static const struct profile_scope *function_scope(const struct profile *p, uint32_t scope)
{
	while (scope != PROFILE_NONE && p->scopes.data[scope].kind != PROFILE_FUNCTION &&
	       p->scopes.data[scope].kind != PROFILE_INLINE)
		scope = p->scopes.data[scope].parent;
	return scope == PROFILE_NONE ? NULL : &p->scopes.data[scope];
}

/* Returns the innermost function with a source file on the path to a node, or NULL. */
static const struct profile_scope *scope_of_node(const struct wording *t, uint32_t node,
						 uint32_t *line)
{
	const struct profile *p = t->k->p;
	for (; node; node = p->nodes.data[node].parent) {
		const struct profile_node *n = &p->nodes.data[node];
		const struct profile_scope *s =
			n->scope == PROFILE_NONE ? NULL : function_scope(p, n->scope);
		if (!s || !*s->name || !*s->file)
			continue;
		const struct profile_scope *innermost = &p->scopes.data[n->scope];
		*line = innermost->kind == PROFILE_LINE ? innermost->first_line : s->first_line;
		return s;
	}
	return NULL;
}

/* A function in which holders of a lock were seen. */
struct holding {
	const struct profile_scope *scope;
	uint32_t line, thread;
	double seconds;
	bool several; /* several threads were there */
};

static struct holding find_holder(const struct wording *t, uint32_t object, double *all)
{
	VEC(struct holding) list = {0};
	struct holding best = {0};
	*all = 0;
	vec_each (h, &t->k->e->holders) {
		uint32_t line = 0;
		const struct profile_scope *s =
			h->object == object ? scope_of_node(t, h->node, &line) : NULL;
		*all += h->object == object ? h->seconds : 0;
		struct holding *known = NULL;
		vec_each (x, &list)
			known = x->scope == s ? x : known;
		if (!s)
			continue;
		if (known) {
			known->seconds += h->seconds;
			known->several |= known->thread != h->thread;
		} else {
			vec_push(&list, (struct holding){s, line, h->thread, h->seconds, false});
		}
	}
	vec_each (x, &list)
		best = x->seconds > best.seconds ? *x : best;
	vec_free(&list);
	return best;
}

static void add_holder(struct wording *t, uint32_t finding, const struct candidate *c)
{
	double all;
	struct holding h = find_holder(t, c->object, &all);
	if (!h.scope || h.seconds < holder_share * all)
		return;
	const struct evidence_thread *thread = &t->k->e->threads.data[h.thread];
	struct text by = TEXT_INIT;
	if (!h.several && thread->tid)
		text_printf(&by, ", thread %d (%s),", thread->tid, thread->name);
	remark(t, finding, "held", "the lock holder%s was in %s (%s:%u) in %.0f %% of samples",
	       by.len ? by.data : "", known_name(t->k, h.scope->name), known_file(h.scope->file),
	       h.line, percent(share_of(h.seconds, all)));
	text_release(&by);
}

static bool is_in_function(const struct profile *p, const struct profile_node *n,
			   const struct profile_resource *function)
{
	uint32_t scope = n->scope;
	if (n->module != function->module || scope == PROFILE_NONE)
		return false;
	while (p->scopes.data[scope].parent != PROFILE_NONE)
		scope = p->scopes.data[scope].parent;
	return p->scopes.data[scope].address == function->address;
}

/* The part is a function or loop of the machine code. If the samples are in code that was inlined
 * there, the inlined function says more. */
static void add_inlined(struct wording *t, uint32_t finding, const struct candidate *c)
{
	const struct profile *p = t->k->p;
	const struct profile_resource *function = &p->resources.data[known_function(t->k, c->part)];
	uint32_t node = c->chain == PROFILE_NONE ? 0 : t->k->e->chains.data[c->chain].node;
	if (function->kind != RESOURCE_FUNCTION)
		return;
	while (node && !is_in_function(p, &p->nodes.data[node], function))
		node = p->nodes.data[node].parent;
	const struct profile_scope *s = node ? function_scope(p, p->nodes.data[node].scope) : NULL;
	if (!s)
		return;
	/* Code in system headers means nothing to the user: the code that uses it is reported. */
	uint32_t line = p->scopes.data[p->nodes.data[node].scope].first_line;
	while (s->kind == PROFILE_INLINE && !strncmp(s->file, "/usr/", 5)) {
		line = s->call_line;
		s = function_scope(p, s->parent);
	}
	if (s->kind == PROFILE_INLINE && *s->name &&
	    strcmp(s->name, known_code(t->k, c->part).name) != 0)
		remark(t, finding, "where", "at %s:%u in %s (inlined)", known_file(s->file), line,
		       known_name(t->k, s->name));
}

/* ---- one finding ---- */

static void add_while(struct wording *t, uint32_t finding, const struct candidate *c)
{
	const struct profile_experiment *e = &t->k->p->experiments.data[c->experiment];
	if (e->flags & EXPERIMENT_OVER)
		remark(t, finding, "note",
		       "only part of the run: %.0f %% while measured (from %.1f s)",
		       percent(e->value), e->begun);
	else if (e->value > much_higher * c->share && c->share > 0)
		remark(t, finding, "note", "%.0f %% while measured (from %.1f s)",
		       percent(e->value), e->begun);
}

/* For a finding about no particular code: names the code with most samples, though no experiment on
 * it was made, or decided. JIT-compiled code cannot be named. */
static void add_seen(struct wording *t, uint32_t finding, const struct candidate *c)
{
	const struct evidence *e = t->k->e;
	const struct evidence_chain *best = NULL;
	uint8_t class = hypotheses[c->hypothesis].samples;
	double named = 0, all = e->run.sampled[class] - (class == SAMPLE_CPU ? e->run.spun : 0);
	if (c->part != t->k->whole.part[CODE] || c->object != PROFILE_NONE)
		return;
	vec_each (x, &e->chains) {
		if (x->class != class)
			continue;
		named += x->seconds;
		best = !best || x->seconds > best->seconds ? x : best;
	}
	if (named < named_share * all) {
		remark(t, finding, "where",
		       "%.0f %% of samples were in JIT-compiled or anonymous code, or called from "
		       "it",
		       percent(1 - share_of(named, all)));
		return;
	}
	if (best && all > 0)
		remark(t, finding, "where",
		       "the hottest code (%.0f %% of samples) is %s; it was not tested",
		       percent(share_of(best->seconds, all)),
		       known_place(t->k, e->parts.data[best->first + best->length - 1]));
}

/* Adds for how long threads wait for what the finding is about: serial code, or the slowest thread
 * of a parallel region. */
static void add_waiting_for(struct wording *t, uint32_t finding, const struct candidate *c)
{
	bool uneven = c->hypothesis == IMBALANCE;
	uint32_t part = uneven ? region_of(t->k, c) : c->part;
	if (part == PROFILE_NONE)
		return;
	double share = known_waited_for(t->k, part, uneven ? OBJECT_OPENMP : OBJECT_SERIAL);
	if (share < least_portion)
		return;
	struct text line = TEXT_INIT;
	text_add(&line, uneven ? "threads wait at its end: " : "the other threads wait for it: ");
	add_wait_share(t, share, &line);
	remark(t, finding, "where", "%s", line.data);
	text_release(&line);
}

/* Adds whose time it is: that of one process or thread, or of several workers. */
static void add_local(struct wording *t, uint32_t finding, const struct candidate *c)
{
	const struct profile *p = t->k->p;
	double least = percent(fmin(c->least, 1)), most = percent(fmin(c->most, 1));
	if (c->like < 2)
		remark(t, finding, "where", "%.0f %% of the time of %s", most,
		       p->resources.data[c->machine].name);
	else
		remark(t, finding, "where", "%u workers of %s, %.0f to %.0f %% of the time of each",
		       c->like, command_of(t->k, c->machine), least, most);
}

void word_finding(struct wording *t, uint32_t candidate)
{
	const struct candidate *c = &t->list.data[candidate];
	struct profile *p = t->k->p;
	const struct profile_experiment *x = &p->experiments.data[c->experiment];
	const char *where = c->part == t->k->whole.part[CODE] ? "code all over the program"
							      : known_place(t->k, c->part);
	struct text sentence = TEXT_INIT;
	sayings[c->hypothesis](t, c, where, &sentence);
	uint32_t finding = p->findings.len;
	vec_push(&p->findings,
		 (struct profile_finding){
			 .hypothesis = hypotheses[c->hypothesis].name,
			 .experiment = c->experiment,
			 .node = c->chain == PROFILE_NONE ? PROFILE_NONE
							  : t->k->e->chains.data[c->chain].node,
			 .share = c->share,
			 .confidence = x->confidence,
			 .sentence = arena_strdup(&p->arena, sentence.data),
		 });
	text_release(&sentence);
	if (c->local)
		add_local(t, finding, c);
	add_path(t, finding, c);
	add_inlined(t, finding, c);
	/* If findings inside it do not count, its share is of what is left: that is its own. */
	if (c->hypothesis == CPU_BOUND && c->part != t->k->whole.part[CODE] && !c->spread)
		word_breakdown(t, finding, c);
	if (c->object == PROFILE_NONE && hypotheses[c->hypothesis].samples != SAMPLE_CPU)
		word_objects(t, finding, c);
	if (c->hypothesis == MEMORY_MANAGEMENT)
		word_callers(t, finding, c);
	if (!c->local)
		add_threads(t, finding, c);
	if (hypotheses[c->hypothesis].samples != SAMPLE_SYNC && c->part != t->k->whole.part[CODE])
		add_waiting_for(t, finding, c);
	if (c->object != PROFILE_NONE) {
		add_waits(t, finding, c);
		add_holder(t, finding, c);
	}
	add_while(t, finding, c);
	add_seen(t, finding, c);
}

void word_no_findings(struct wording *t)
{
	const struct profile *p = t->k->p;
	for (uint32_t i = 0; i < p->experiments.len; i++) {
		const struct profile_experiment *x = &p->experiments.data[i];
		/* One that was true for a moment is none of the whole run. */
		if (x->origin == PROFILE_FROM_START && x->decided >= 0 && x->value < x->threshold &&
		    t->k->hypothesis[i] < HYPOTHESES)
			remark(t, PROFILE_NONE, "evidence", "%s: %.1f %% (threshold %.0f %%)",
			       hypotheses[t->k->hypothesis[i]].title, percent(x->value),
			       percent(x->threshold));
	}
}

/* Returns the object of idle threads for which they waited longest, or NULL. Where requests come
 * from outside, it is these: a server's first process only waits for signals. */
static const struct evidence_object *idle_object(const struct evidence *e)
{
	const struct evidence_object *most = NULL;
	vec_each (o, &e->objects) {
		enum object_kind kind = object_kind_named(o->kind);
		bool requests = kind == OBJECT_REQUESTS;
		bool before = most && object_kind_named(most->kind) == OBJECT_REQUESTS;
		if (object_kinds[kind].idles == IDLE_AT_ONCE && o->seconds > 0 &&
		    (!most || requests > before ||
		     (requests == before && o->seconds > most->seconds)))
			most = o;
	}
	return most;
}

static void add_idle(struct wording *t)
{
	const struct evidence_object *o = idle_object(t->k->e);
	double idle = idle_of(t);
	if (idle > 0)
		remark(t, PROFILE_NONE, "note", "Idle for %.0f %% of the run%s%s.", percent(idle),
		       o ? ": waiting for " : "", o ? o->name : "");
}

static void add_undecided(struct wording *t)
{
	const struct profile *p = t->k->p;
	const char *ended = profile_get_fact(p, "ended");
	bool gone = ended && (!strcmp(ended, "exit") || !strcmp(ended, "signal"));
	uint32_t undecided = 0;
	vec_each (x, &p->experiments)
		undecided += x->state == PROFILE_UNKNOWN;
	if (undecided)
		remark(t, PROFILE_NONE, "note", "%s: %u experiment%s not decided.",
		       gone ? "The program ended before the search did"
			    : "The search was not complete",
		       undecided, undecided == 1 ? " was" : "s were");
}

static void say_object(void *ctx, uint32_t object, struct text *out)
{
	word_object(ctx, object, out);
}

void word_chain(struct wording *t)
{
	struct text chain = TEXT_INIT;
	parties_tell(&t->k->parties, t->k->p, say_object, t, &chain);
	if (chain.len)
		remark(t, PROFILE_NONE, "chain", "%s.", chain.data);
	text_release(&chain);
}

void word_limits(struct wording *t)
{
	const struct profile *p = t->k->p;
	const struct evidence_run *run = &t->k->e->run;
	const char *sampler = profile_get_fact(p, "sampler"), *why = profile_get_fact(p, "note");
	bool traced = sampler && !strcmp(sampler, "ptrace");
	add_idle(t);
	add_undecided(t);
	if (traced)
		remark(t, PROFILE_NONE, "note",
		       "perf is unavailable, so call stacks were sampled with ptrace, about 25 "
		       "times per second; shares are approximate: %s",
		       why ? why : "");
	if (run->ignored)
		remark(t, PROFILE_NONE, "note",
		       "%" PRIu64 " thread%s or object%s appeared too fast to be examined "
		       "individually.",
		       run->ignored, run->ignored == 1 ? "" : "s", run->ignored == 1 ? "" : "s");
	if (run->ready > ready_share * run->ran && run->ready > ready_of_run * run->seconds)
		remark(t, PROFILE_NONE, "note",
		       "The machine was busy: threads ran for %.1f s in total and waited %.1f s "
		       "for a CPU.",
		       run->ran, run->ready);
	if (run->calls_sampled && traced)
		remark(t, PROFILE_NONE, "note",
		       "Timing every system call would have had too much overhead; the time in "
		       "them is estimated from samples.");
}
