/* Findings in words. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/findings.h"

enum { PATH_FIRST = 3, PATH_LAST = 7 }; /* procedures of a long call path that are told */

void remark(struct telling *t, uint32_t finding, const char *kind, const char *fmt, ...)
{
	struct profile *p = &t->d->profile;
	struct text text = TEXT_INIT;
	va_list ap;
	va_start(ap, fmt);
	text_vprintf(&text, fmt, ap);
	va_end(ap);
	vec_push(&p->remarks,
		 (struct profile_remark){finding, kind,
					 arena_strdup(&p->arena, text.data ? text.data : "")});
	text_release(&text);
}

static double percent(double share)
{
	return 100 * share;
}

/* What the shares of waiting are of. */
static const char *whole_of(const struct diagnosis *d)
{
	struct machine_span s = machine_span(&d->own->machine, MACHINE);
	return s.threads > 1.2 * d->seconds ? "the threads' time" : "the run";
}

static void add_object(const struct telling *t, uint32_t object, struct text *out)
{
	const struct wait_object *o = &t->d->own->waits.objects.data[object];
	const char *kind = object_kinds[o->kind].name, *name = names_object(t->names, object);
	switch (o->kind) {
	case OBJECT_SLEEP:
	case OBJECT_PROCESS:
	case OBJECT_OTHER: text_add(out, name); break;
	case OBJECT_SPIN: text_printf(out, "the spin lock %s", name); break;
	case OBJECT_OPENMP: text_printf(out, "OpenMP (%s)", name); break;
	case OBJECT_MESSAGE: text_add(out, name); break;
	default: text_printf(out, "the %s %s", kind, name);
	}
}

/* ---- sentences ---- */

static void say_cpu(const struct telling *t, const struct candidate *c, const char *where,
		    struct text *out)
{
	(void)t;
	text_printf(out, "CPU bound: %.0f %% of the run in %s", percent(c->share), where);
	if (c->spread)
		text_add(out, ", beside what is told of its parts");
}

static void say_sync(const struct telling *t, const struct candidate *c, const char *where,
		     struct text *out)
{
	const struct wait_object *o =
		c->object == LEDGER_NONE ? NULL : &t->d->own->waits.objects.data[c->object];
	bool sleeps = o && o->kind == OBJECT_SLEEP;
	text_printf(out, "%s: %.0f %% of %s in %s", sleeps ? "Sleeping" : "Waiting for others",
		    percent(c->share), whole_of(t->d), where);
	if (o && !sleeps) {
		text_add(out, ", for ");
		add_object(t, c->object, out);
	}
}

static void say_io(const struct telling *t, const struct candidate *c, const char *where,
		   struct text *out)
{
	text_printf(out, "Blocked in input and output: %.0f %% of %s in %s", percent(c->share),
		    whole_of(t->d), where);
	if (c->object == LEDGER_NONE)
		return;
	text_add(out, ", for ");
	add_object(t, c->object, out);
}

static void say_small_io(const struct telling *t, const struct candidate *c, const char *where,
			 struct text *out)
{
	text_printf(out, "Too many small operations: %.0f %% of %s in %s", percent(c->share),
		    whole_of(t->d), where);
	if (c->object == LEDGER_NONE)
		return;
	text_add(out, ", on ");
	add_object(t, c->object, out);
}

static void say_imbalance(const struct telling *t, const struct candidate *c, const char *where,
			  struct text *out)
{
	(void)t;
	text_printf(out,
		    "Load imbalance: %.0f %% of the run is what one computes more than the average "
		    "of those that do the same, in %s",
		    percent(c->share), where);
}

static void (*const sayings[HYPOTHESES])(const struct telling *, const struct candidate *,
					 const char *, struct text *) = {
	[CPU_BOUND] = say_cpu,     [SYNC_WAITING] = say_sync,   [IO_BLOCKED] = say_io,
	[SMALL_IO] = say_small_io, [IMBALANCE] = say_imbalance,
};

/* ---- where ---- */

/* Loops of one procedure stand in one pair of brackets. */
static void add_step(struct telling *t, uint32_t part, bool *in_loops, struct text *out)
{
	struct code_name n = names_code(t->names, part);
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

/* From the outermost procedure to the part, with the loops on the way. */
static void add_path(struct telling *t, uint32_t finding, const struct candidate *c)
{
	const struct samples *s = &t->d->own->samples;
	struct text path = TEXT_INIT;
	bool in_loops = false;
	if (c->chain == UINT32_MAX)
		return;
	const struct chain *chain = &s->chains.data[c->chain];
	const uint32_t *parts = s->parts.data + chain->first;
	uint32_t end = 0;
	for (uint32_t i = 0; i < chain->length; i++)
		end = parts[i] == c->part ? i + 1 : end;
	for (uint32_t i = 0; i < end; i++) {
		if (i == PATH_FIRST && end > PATH_FIRST + PATH_LAST) {
			text_add(&path, in_loops ? ") > ..." : " > ...");
			in_loops = false;
			i = end - PATH_LAST;
		}
		add_step(t, parts[i], &in_loops, &path);
	}
	text_add(&path, in_loops ? ")" : "");
	if (path.len)
		remark(t, finding, "path", "%s", path.data);
	text_release(&path);
}

static void add_threads(struct telling *t, uint32_t finding, const struct candidate *c)
{
	const struct diagnosis *d = t->d;
	const struct experiment *e = search_get(d->own->search, c->experiment);
	struct {
		double sum, most;
		uint32_t count, who;
	} m = {0};
	uint32_t alive = 0;
	for (uint32_t i = 0; i < d->own->machine.threads.len; i++) {
		double own = 0;
		alive += d->own->machine.threads.data[i].tid != 0;
		ledger_each (x, &d->own->ledger, e->focus.part[CODE])
			if (x->thread == i &&
			    focus_has(d, &e->focus, hypotheses[c->hypothesis].measure, x))
				own += x->amount[AMOUNT_SEEN_CPU] + x->amount[AMOUNT_SEEN_WAIT];
		m.sum += own;
		m.count += own > 0 && d->own->machine.threads.data[i].tid;
		if (own > m.most) {
			m.most = own;
			m.who = i;
		}
	}
	if (alive < 2 || !m.count)
		return;
	const struct machine_thread *who = &d->own->machine.threads.data[m.who];
	if (m.count == 1 || m.most > 0.9 * m.sum)
		remark(t, finding, "where", "in thread %d (%s)", who->tid, who->name);
	else
		remark(t, finding, "where", "in %u threads", m.count);
}

/* ---- what it waits for ---- */

static void add_waits(struct telling *t, uint32_t finding, const struct candidate *c)
{
	const struct wait_object *o = &t->d->own->waits.objects.data[c->object];
	double run = t->d->seconds;
	if (!o->count || run <= 0)
		return;
	double rate = o->rate > 0 ? o->rate : (double)o->count / run;
	double each = o->seconds / (double)o->count;
	struct text line = TEXT_INIT;
	text_printf(&line, "%.*f %s a second, %.3g ms each", rate < 10 ? 1 : 0, rate,
		    object_kinds[o->kind].hierarchy == SYNC ? "waits" : "operations", 1e3 * each);
	if (o->bytes)
		text_printf(&line, ", %.0f bytes on average", (double)o->bytes / (double)o->count);
	remark(t, finding, "waits", "%s", line.data);
	text_release(&line);
}

static const struct profile_scope *procedure_scope(const struct profile *p, uint32_t scope)
{
	while (scope != PROFILE_NONE && p->scopes.data[scope].kind != PROFILE_PROCEDURE &&
	       p->scopes.data[scope].kind != PROFILE_INLINE)
		scope = p->scopes.data[scope].parent;
	return scope == PROFILE_NONE ? NULL : &p->scopes.data[scope];
}

/* The innermost procedure with a source on the way to a node. */
static const struct profile_scope *scope_of_node(const struct telling *t, uint32_t node,
						 uint32_t *line)
{
	const struct profile *p = &t->d->profile;
	for (; node; node = p->nodes.data[node].parent) {
		const struct profile_node *n = &p->nodes.data[node];
		const struct profile_scope *s =
			n->scope == PROFILE_NONE ? NULL : procedure_scope(p, n->scope);
		if (!s || !*s->name || !*s->file)
			continue;
		const struct profile_scope *innermost = &p->scopes.data[n->scope];
		*line = innermost->kind == PROFILE_LINE ? innermost->first_line : s->first_line;
		return s;
	}
	return NULL;
}

static const char *file_name(const struct profile_scope *s)
{
	const char *slash = strrchr(s->file, '/');
	return slash ? slash + 1 : s->file;
}

/* Where who holds it was, most of the time. */
struct holding {
	const struct profile_scope *scope;
	uint32_t line, thread;
	double seconds;
	bool several; /* threads */
};

static struct holding find_holder(const struct telling *t, uint32_t object, double *all)
{
	VEC(struct holding) list = {0};
	struct holding best = {0};
	*all = 0;
	vec_each (h, &t->d->own->samples.holders) {
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

static void add_holder(struct telling *t, uint32_t finding, const struct candidate *c)
{
	double all;
	struct holding h = find_holder(t, c->object, &all);
	if (!h.scope || h.seconds < 0.2 * all)
		return;
	const struct machine_thread *who = &t->d->own->machine.threads.data[h.thread];
	struct text by = TEXT_INIT;
	if (!h.several)
		text_printf(&by, "by thread %d (%s) ", who->tid, who->name);
	remark(t, finding, "held", "held %sin %s (%s:%u), %.0f %% of the times that it was seen",
	       by.len ? by.data : "", h.scope->name, file_name(h.scope), h.line,
	       percent(h.seconds / all));
	text_release(&by);
}

/* The part is a procedure or loop of the machine's code; what the compiler has inlined there may
 * tell more. */
static void add_inlined(struct telling *t, uint32_t finding, const struct candidate *c)
{
	const struct profile *p = &t->d->profile;
	struct code_part part = code_part(t->d->own->code, c->part);
	uint32_t node = c->chain == UINT32_MAX ? 0 : t->d->own->samples.chains.data[c->chain].node;
	if (!node || !part.code)
		return;
	uint32_t image = images_find(&t->d->own->sink.images, part.code);
	for (; node; node = p->nodes.data[node].parent) {
		const struct profile_node *n = &p->nodes.data[node];
		const struct profile_scope *s =
			n->scope == PROFILE_NONE ? NULL : procedure_scope(p, n->scope);
		if (n->image != image || !s ||
		    code_part_at(t->d->own->code, part.code, n->address) !=
			    code_part_at(t->d->own->code, part.code, part.va))
			continue;
		/* What stands in headers of the system tells nobody anything. */
		uint32_t line = p->scopes.data[n->scope].first_line;
		while (s->kind == PROFILE_INLINE && !strncmp(s->file, "/usr/", 5)) {
			line = s->call_line;
			s = procedure_scope(p, s->parent);
		}
		if (s->kind == PROFILE_INLINE && *s->name &&
		    strcmp(s->name, names_code(t->names, c->part).procedure) != 0)
			remark(t, finding, "where", "at %s:%u in %s, which is inlined there",
			       file_name(s), line, s->name);
		return;
	}
}

/* ---- all of one ---- */

static void add_while(struct telling *t, uint32_t finding, const struct candidate *c)
{
	const struct experiment *e = search_get(t->d->own->search, c->experiment);
	if (e->over)
		remark(t, finding, "note",
		       "not throughout the run: %.0f %% while it was measured, from %.1f s on",
		       percent(e->value), e->begun);
	else if (e->value > 1.5 * c->share && c->share > 0)
		remark(t, finding, "note", "%.0f %% while it was measured, from %.1f s on",
		       percent(e->value), e->begun);
}

/* A part of the code that samples name, though no experiment was made with it, or was decided. What
 * is made while a program runs (by an interpreter that compiles) cannot be named. */
static void add_seen(struct telling *t, uint32_t finding, const struct candidate *c)
{
	const struct samples *s = &t->d->own->samples;
	const struct chain *best = NULL;
	uint8_t class = hypotheses[c->hypothesis].samples;
	double named = 0;
	if (c->part != CODE || c->object != LEDGER_NONE)
		return;
	vec_each (x, &s->chains) {
		if (x->class != class)
			continue;
		named += x->seconds;
		best = !best || x->seconds > best->seconds ? x : best;
	}
	if (named < 0.5 * s->seconds[class]) {
		remark(t, finding, "where",
		       "%.0f %% of the samples were in code, or called from code, that is in no "
		       "file",
		       percent(1 - named / s->seconds[class]));
		return;
	}
	if (!best)
		return;
	uint32_t part = s->parts.data[best->first + best->length - 1];
	names_prepare(t->names, &part, 1);
	remark(t, finding, "where", "most samples (%.0f %%) were in %s; that was not tested",
	       percent(best->seconds / s->seconds[best->class]), names_sentence(t->names, part));
}

void words_of(struct telling *t, uint32_t candidate)
{
	const struct candidate *c = &t->list.data[candidate];
	const struct experiment *e = search_get(t->d->own->search, c->experiment);
	struct profile *p = &t->d->profile;
	const char *where = c->part == CODE ? "no part of the code in particular"
					    : names_sentence(t->names, c->part);
	struct text sentence = TEXT_INIT;
	sayings[c->hypothesis](t, c, where, &sentence);
	uint32_t finding = p->findings.len;
	vec_push(&p->findings,
		 (struct profile_finding){
			 .hypothesis = hypotheses[c->hypothesis].name,
			 .experiment = c->experiment,
			 .node = c->chain == UINT32_MAX
					 ? PROFILE_NONE
					 : t->d->own->samples.chains.data[c->chain].node,
			 .share = c->share,
			 .confidence = e->confidence,
			 .sentence = arena_strdup(&p->arena, sentence.data),
		 });
	text_release(&sentence);
	if (c->local)
		remark(t, finding, "where", "%.0f %% of the time of %s", percent(e->value),
		       names_component(t->names, e->focus.part[MACHINE]));
	add_path(t, finding, c);
	add_inlined(t, finding, c);
	if (!c->local)
		add_threads(t, finding, c);
	if (c->object != LEDGER_NONE) {
		add_waits(t, finding, c);
		add_holder(t, finding, c);
	}
	add_while(t, finding, c);
	add_seen(t, finding, c);
}

void words_of_nothing(struct telling *t)
{
	for (uint32_t i = 0; i < search_count(t->d->own->search); i++) {
		const struct experiment *e = search_get(t->d->own->search, i);
		if (e->origin == ORIGIN_ROOT && e->decided >= 0)
			remark(t, PROFILE_NONE, "evidence",
			       "%s: %.1f %%, where %.0f %% would be much",
			       hypotheses[e->hypothesis].title, percent(e->value),
			       percent(e->threshold));
	}
}

void words_of_search(struct telling *t)
{
	const struct diagnosis *d = t->d;
	uint32_t undecided = 0;
	uint64_t ignored = 0;
	for (uint32_t i = 0; i < search_count(d->own->search); i++)
		undecided += search_get(d->own->search, i)->state == EXPERIMENT_UNKNOWN;
	for (enum hierarchy h = 0; h < HIERARCHIES; h++)
		ignored += search_ignored(d->own->search, h);
	bool gone = !strcmp(d->ended, "exit") || !strcmp(d->ended, "signal");
	if (undecided)
		remark(t, PROFILE_NONE, "note", "%s: %u experiment%s not decided.",
		       gone ? "The program ended before the search did"
			    : "The search had not come to its end",
		       undecided, undecided == 1 ? " was" : "s were");
	if (!d->own->samples.sampler)
		remark(t, PROFILE_NONE, "note",
		       "The program was stopped some 25 times a second to see where it is, and "
		       "that "
		       "is coarse: %s",
		       d->note);
	if (ignored)
		remark(t, PROFILE_NONE, "note",
		       "%" PRIu64 " thread%s or object%s came and went too fast to be looked at "
		       "one by one.",
		       ignored, ignored == 1 ? "" : "s", ignored == 1 ? "" : "s");
	const struct machine *m = &d->own->machine;
	if (m->ready_all > 0.3 * m->cpu_all && m->ready_all > 0.1 * d->seconds)
		remark(t, PROFILE_NONE, "note",
		       "The machine was busy: threads ran for %.1f s in all, and were ready to run "
		       "but had no processor for %.1f s.",
		       m->cpu_all, m->ready_all);
	if (d->own->waits.ignored.len)
		remark(t, PROFILE_NONE, "note",
		       "There were so many system calls that watching them all would have cost too "
		       "much: samples tell the time in them.");
}
