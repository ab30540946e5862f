/* Which true experiments are worth telling.
 *
 * Every sample is explained by the innermost part of its stack that is true. A part is told if it
 * explains most of its own samples, or as many as make a hypothesis true; where samples are few, if
 * none of its parts is true: who is in a system call but does not wait there is seen computing.
 * What waits is told for each object that takes a good part of it. Of a hypothesis and one that
 * refines it, at the same place, the more specific one is told. */
#include "diagnose/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FINDINGS = 8 };

static const double object_share = 0.3; /* of a part's waiting, for an object to be told */
enum { FEW_SAMPLES = 20 };

/* True experiments of a hypothesis on code, of the whole machine and whatever object. */
struct truths {
	const struct diagnosis *d;
	enum hypothesis_id hypothesis;
	struct hashmap at; /* part -> experiment */
	VEC(uint32_t) list;
	double *explained; /* s, by part */
	uint64_t samples;  /* that could tell */
};

bool chain_has(const struct diagnosis *d, const struct chain *c, uint32_t part)
{
	const uint32_t *parts = d->own->samples.parts.data + c->first;
	for (uint32_t i = 0; i < c->length; i++)
		if (parts[i] == part)
			return true;
	return false;
}

/* What was measured of the whole program. */
static double whole_amount(const struct diagnosis *d, enum measure m)
{
	const struct focus whole = focus_whole();
	bool computes = m == MEASURE_CPU || m == MEASURE_IMBALANCE;
	enum amount what = computes                    ? AMOUNT_CPU
			   : d->own->waits.ignored.len ? AMOUNT_SEEN_WAIT
						       : AMOUNT_WAIT;
	double sum = 0;
	ledger_each (e, &d->own->ledger, CODE)
		if (focus_has(d, &whole, m, e))
			sum += e->amount[what];
	return sum;
}

double share_of_run(const struct diagnosis *d, enum hypothesis_id h, double seconds)
{
	struct machine_span s = machine_span(&d->own->machine, MACHINE);
	enum measure m = hypotheses[h].measure;
	double base = m == MEASURE_CPU ? s.cpu : m == MEASURE_IMBALANCE ? s.time : s.threads;
	double seen = d->own->samples.seconds[hypotheses[h].samples];
	if (base <= 0 || seen <= 0)
		return 0;
	double share = seconds / seen * whole_amount(d, m) / base;
	return share < 1 ? share : 1;
}

/* ---- truths ---- */

static bool is_about_code(const struct experiment *e, enum hypothesis_id h)
{
	return e->hypothesis == h && e->state == EXPERIMENT_TRUE && e->focus.part[CODE] != CODE &&
	       e->focus.part[MACHINE] == MACHINE && e->focus.part[SYNC] == SYNC &&
	       e->focus.part[FILES] == FILES;
}

static void find_truths(struct truths *t)
{
	for (uint32_t i = 0; i < search_count(t->d->own->search); i++) {
		const struct experiment *e = search_get(t->d->own->search, i);
		if (!is_about_code(e, t->hypothesis))
			continue;
		hashmap_put(&t->at, e->focus.part[CODE], i);
		vec_push(&t->list, i);
	}
}

static void explain(struct truths *t)
{
	const struct samples *s = &t->d->own->samples;
	t->explained = xcalloc(search_resources(t->d->own->search)->list.len, sizeof(double));
	vec_each (c, &s->chains) {
		uint32_t i = c->length;
		if (c->class != hypotheses[t->hypothesis].samples)
			continue;
		t->samples += c->count;
		while (i && hashmap_get(&t->at, s->parts.data[c->first + i - 1]) == HASHMAP_NONE)
			i--;
		if (i)
			t->explained[s->parts.data[c->first + i - 1]] += c->seconds;
	}
}

static uint32_t part_of(const struct truths *t, uint32_t experiment)
{
	return search_get(t->d->own->search, experiment)->focus.part[CODE];
}

/* Whether one leads to the other by true ones. */
static bool leads(const struct truths *t, uint32_t from, uint32_t to, uint8_t *seen)
{
	if (from == to)
		return true;
	if (seen[from])
		return false;
	seen[from] = 1;
	vec_each (child, &search_get(t->d->own->search, from)->children)
		if (is_about_code(search_get(t->d->own->search, *child), t->hypothesis) &&
		    leads(t, *child, to, seen))
			return true;
	return false;
}

/* Parts that lead back to it are of the same recursion, and no parts of it. */
static bool is_leaf(const struct truths *t, uint32_t experiment)
{
	vec_each (child, &search_get(t->d->own->search, experiment)->children) {
		const struct experiment *e = search_get(t->d->own->search, *child);
		if (!is_about_code(e, t->hypothesis))
			continue;
		uint8_t *seen = xcalloc(search_count(t->d->own->search), 1);
		bool back = leads(t, *child, experiment, seen);
		free(seen);
		if (!back ||
		    t->explained[e->focus.part[CODE]] > t->explained[part_of(t, experiment)])
			return false;
	}
	return true;
}

/* ---- candidates ---- */

/* Seconds of samples through the part, for one object or any; and the heaviest chain. */
static double seconds_through(const struct diagnosis *d, enum hypothesis_id h, uint32_t part,
			      uint32_t object, uint32_t *heaviest, uint32_t *count)
{
	const struct samples *s = &d->own->samples;
	double sum = 0;
	*heaviest = UINT32_MAX;
	*count = 0;
	for (uint32_t i = 0; i < s->chains.len; i++) {
		const struct chain *c = &s->chains.data[i];
		if (c->class != hypotheses[h].samples ||
		    (object != LEDGER_NONE && c->object != object) || !chain_has(d, c, part))
			continue;
		sum += c->seconds;
		*count += c->count;
		if (*heaviest == UINT32_MAX || c->seconds > s->chains.data[*heaviest].seconds)
			*heaviest = i;
	}
	return sum;
}

uint32_t find_true(const struct diagnosis *d, enum hypothesis_id h, const struct focus *f)
{
	for (uint32_t i = 0; i < search_count(d->own->search); i++) {
		const struct experiment *e = search_get(d->own->search, i);
		if (e->hypothesis == h && e->state == EXPERIMENT_TRUE &&
		    !memcmp(&e->focus, f, sizeof(*f)))
			return i;
	}
	return EXPERIMENT_NONE;
}

/* `own`: s of samples that are explained by it and none of its parts. */
static void add_candidate(struct telling *t, enum hypothesis_id h, uint32_t experiment,
			  uint32_t part, uint32_t object, bool spread, double own)
{
	const struct experiment *e = search_get(t->d->own->search, experiment);
	struct candidate c = {.hypothesis = (uint8_t)h,
			      .experiment = experiment,
			      .part = part,
			      .object = object,
			      .spread = spread};
	uint32_t count;
	c.seconds = seconds_through(t->d, h, part, object, &c.chain, &count);
	c.share = share_of_run(t->d, h, c.seconds);
	if (spread)
		c.share = share_of_run(t->d, h, own);
	if (count < FEW_SAMPLES || hypotheses[h].measure == MEASURE_IMBALANCE)
		c.share = fmin(e->value, 1);
	vec_push(&t->list, c);
}

/* What is true of waiting for an object, or for any of its kind, where the experiment is. */
static uint32_t find_true_of_object(const struct diagnosis *d, uint32_t experiment,
				    const struct wait_object *o, bool or_kind)
{
	const struct experiment *e = search_get(d->own->search, experiment);
	const struct resources *r = search_resources(d->own->search);
	uint8_t hierarchy = object_kinds[o->kind].hierarchy;
	struct focus f = e->focus;
	uint32_t found = EXPERIMENT_NONE;
	for (uint32_t i = o->part; found == EXPERIMENT_NONE && i != RESOURCE_NONE && i != hierarchy;
	     i = or_kind ? r->list.data[i].parent : RESOURCE_NONE) {
		f.part[hierarchy] = i;
		found = find_true(d, e->hypothesis, &f);
	}
	return found;
}

/* Whether who waited there, for the object if there is one, was found to be idle: that takes a
 * while, in which it counts. */
static bool is_idling(const struct diagnosis *d, uint32_t part, uint32_t object)
{
	double all = 0, idle = 0;
	ledger_each (e, &d->own->ledger, part) {
		bool concerns = object == LEDGER_NONE || e->object == object;
		double seconds = concerns ? e->amount[AMOUNT_SEEN_WAIT] : 0;
		all += seconds;
		idle += d->own->machine.threads.data[e->thread].idle > 0 ? seconds : 0;
	}
	return idle > 0.5 * all;
}

/* Of waiting: with the objects that it is for. Where nobody was seen to wait, those that are true.
 */
static void add_waiting(struct telling *t, enum hypothesis_id h, uint32_t experiment, uint32_t part,
			bool spread, double own)
{
	const struct diagnosis *d = t->d;
	uint32_t ignored, count, told = 0;
	double all = seconds_through(d, h, part, LEDGER_NONE, &ignored, &count);
	for (uint32_t i = 0; i < d->own->waits.objects.len; i++) {
		const struct wait_object *o = &d->own->waits.objects.data[i];
		double one = seconds_through(d, h, part, i, &ignored, &count);
		uint32_t exact = find_true_of_object(d, experiment, o, all > 0);
		if (all > 0 ? one < object_share * all : exact == EXPERIMENT_NONE)
			continue;
		told++;
		if (!is_idling(d, part, i))
			add_candidate(t, h, exact == EXPERIMENT_NONE ? experiment : exact, part, i,
				      spread, one);
	}
	if (!told)
		add_candidate(t, h, experiment, part, LEDGER_NONE, spread, own);
}

static bool waits(enum hypothesis_id h)
{
	return hypotheses[h].samples != SAMPLE_CPU;
}

/* *spread: parts of it are told as well. */
static bool is_worth_telling(const struct truths *t, uint32_t experiment, bool *spread)
{
	uint32_t part = part_of(t, experiment), ignored, count;
	double all = seconds_through(t->d, t->hypothesis, part, LEDGER_NONE, &ignored, &count);
	double own = t->explained[part];
	*spread = own < 0.5 * all;
	if (t->samples < FEW_SAMPLES)
		return is_leaf(t, experiment);
	if (!*spread)
		return all > 0;
	return hypotheses[t->hypothesis].measure != MEASURE_IMBALANCE &&
	       share_of_run(t->d, t->hypothesis, own) >=
		       search_get(t->d->own->search, experiment)->threshold;
}

static void choose(struct telling *t, enum hypothesis_id h)
{
	struct truths truths = {.d = t->d, .hypothesis = h};
	bool spread;
	find_truths(&truths);
	explain(&truths);
	vec_each (i, &truths.list) {
		if (!is_worth_telling(&truths, *i, &spread))
			continue;
		if (waits(h))
			add_waiting(t, h, *i, part_of(&truths, *i), spread,
				    truths.explained[part_of(&truths, *i)]);
		else
			add_candidate(t, h, *i, part_of(&truths, *i), LEDGER_NONE, spread,
				      truths.explained[part_of(&truths, *i)]);
	}
	free(truths.explained);
	vec_free(&truths.list);
	hashmap_release(&truths.at);
}

/* Whether a part of the machine has a thread that is not idle, as far as that is known. */
static bool has_worker(const struct diagnosis *d, uint32_t part)
{
	for (uint32_t i = 0; i < d->own->machine.threads.len; i++) {
		const struct machine_thread *t = &d->own->machine.threads.data[i];
		if (t->tid && t->idle <= 0 && machine_has(&d->own->machine, part, i))
			return true;
	}
	return false;
}

/* True of one process or thread, and not of the whole: where many do different things. The deepest
 * in each. Waiting of who was found to be idle since does not count. */
static bool is_local(const struct diagnosis *d, const struct experiment *e)
{
	struct focus whole = e->focus;
	if (e->state != EXPERIMENT_TRUE || e->over || e->focus.part[CODE] == CODE ||
	    e->focus.part[MACHINE] == MACHINE ||
	    hypotheses[e->hypothesis].measure == MEASURE_IMBALANCE)
		return false;
	whole.part[MACHINE] = MACHINE;
	if (hypotheses[e->hypothesis].samples != SAMPLE_CPU &&
	    !has_worker(d, e->focus.part[MACHINE]))
		return false;
	if (find_true(d, e->hypothesis, &whole) != EXPERIMENT_NONE)
		return false;
	vec_each (child, &e->children) {
		const struct experiment *x = search_get(d->own->search, *child);
		if (x->state == EXPERIMENT_TRUE && x->hypothesis == e->hypothesis)
			return false;
	}
	return true;
}

/* LEDGER_NONE: it is about none in particular. */
static uint32_t object_in(const struct diagnosis *d, const struct focus *f)
{
	for (uint32_t i = 0; i < d->own->waits.objects.len; i++) {
		uint32_t part = d->own->waits.objects.data[i].part;
		if (part != RESOURCE_NONE && (part == f->part[SYNC] || part == f->part[FILES]))
			return i;
	}
	return LEDGER_NONE;
}

static void add_local(struct telling *t)
{
	for (uint32_t i = 0; i < search_count(t->d->own->search); i++) {
		const struct experiment *e = search_get(t->d->own->search, i);
		bool told = !is_local(t->d, e);
		vec_each (c, &t->list)
			told |= c->hypothesis == e->hypothesis && c->part == e->focus.part[CODE];
		if (told)
			continue;
		add_candidate(t, e->hypothesis, i, e->focus.part[CODE], object_in(t->d, &e->focus),
			      false, 0);
		vec_last(&t->list).local = true;
	}
}

/* What was so for a while, or only just, is told if it matters for the whole run. */
static void drop_small(struct telling *t)
{
	uint32_t kept = 0;
	vec_each (c, &t->list)
		if (c->local ||
		    c->share >= 0.9 * search_get(t->d->own->search, c->experiment)->threshold)
			t->list.data[kept++] = *c;
	t->list.len = kept;
}

/* A general one is not told where a more specific one is. */
static void drop_general(struct telling *t)
{
	uint32_t kept = 0;
	vec_each (c, &t->list) {
		bool special = false;
		vec_each (x, &t->list)
			special |= hypotheses[x->hypothesis].general == c->hypothesis &&
				   x->part == c->part && x->object == c->object;
		if (!special)
			t->list.data[kept++] = *c;
	}
	t->list.len = kept;
}

/* Objects that are waited for in no code in particular, or only in plumbing. */
static void add_objects(struct telling *t, enum hypothesis_id h)
{
	for (uint32_t i = 0; waits(h) && i < t->d->own->waits.objects.len; i++) {
		const struct wait_object *o = &t->d->own->waits.objects.data[i];
		struct focus f = focus_whole();
		f.part[object_kinds[o->kind].hierarchy] = o->part;
		bool told = o->part == RESOURCE_NONE;
		vec_each (c, &t->list)
			told |= c->object == i &&
				(c->hypothesis == h || hypotheses[c->hypothesis].general == h);
		uint32_t experiment = told ? EXPERIMENT_NONE : find_true(t->d, h, &f);
		if (experiment == EXPERIMENT_NONE)
			continue;
		const struct experiment *e = search_get(t->d->own->search, experiment);
		if (!e->over && !is_idling(t->d, CODE, i))
			vec_push(&t->list, (struct candidate){.hypothesis = (uint8_t)h,
							      .experiment = experiment,
							      .part = CODE,
							      .object = i,
							      .share = e->value,
							      .chain = UINT32_MAX});
	}
}

/* A hypothesis that is true of the whole and of no part of it. */
static void add_whole(struct telling *t, enum hypothesis_id h)
{
	const struct focus whole = focus_whole();
	uint32_t root = find_true(t->d, h, &whole);
	vec_each (c, &t->list)
		if (c->hypothesis == h || hypotheses[c->hypothesis].general == h)
			return;
	if (root == EXPERIMENT_NONE || hypotheses[h].general != HYPOTHESIS_NONE ||
	    hypotheses[h].measure == MEASURE_IMBALANCE)
		return;
	const struct experiment *e = search_get(t->d->own->search, root);
	if (e->over || (waits(h) && is_idling(t->d, CODE, LEDGER_NONE)))
		return;
	vec_push(&t->list, (struct candidate){.hypothesis = (uint8_t)h,
					      .experiment = root,
					      .part = CODE,
					      .object = LEDGER_NONE,
					      .share = fmin(e->value, 1),
					      .chain = UINT32_MAX});
}

static int by_share(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	return (x->experiment > y->experiment) - (x->experiment < y->experiment);
}

static void find_candidates(struct telling *t)
{
	for (enum hypothesis_id h = 0; h < HYPOTHESES; h++)
		choose(t, h);
	add_local(t);
	drop_small(t);
	for (enum hypothesis_id h = 0; h < HYPOTHESES; h++)
		add_objects(t, h);
	drop_general(t);
	for (enum hypothesis_id h = 0; h < HYPOTHESES; h++)
		add_whole(t, h);
	if (t->list.len)
		qsort(t->list.data, t->list.len, sizeof(*t->list.data), by_share);
}

static void prepare_names(struct telling *t)
{
	VEC(uint32_t) parts = {0};
	const struct samples *s = &t->d->own->samples;
	vec_each (c, &t->list) {
		vec_push(&parts, c->part);
		if (c->object != LEDGER_NONE &&
		    t->d->own->waits.objects.data[c->object].part != RESOURCE_NONE)
			vec_push(&parts, t->d->own->waits.objects.data[c->object].part);
		if (c->chain == UINT32_MAX)
			continue;
		const struct chain *chain = &s->chains.data[c->chain];
		for (uint32_t i = 0; i < chain->length; i++)
			vec_push(&parts, s->parts.data[chain->first + i]);
	}
	names_prepare(t->names, parts.data, parts.len);
	vec_free(&parts);
}

void findings_write(struct diagnosis *d)
{
	struct telling t = {.d = d, .names = names_new(d)};
	find_candidates(&t);
	prepare_names(&t);
	uint32_t more = t.list.len > MOST_FINDINGS ? t.list.len - MOST_FINDINGS : 0;
	t.list.len -= more;
	for (uint32_t i = 0; i < t.list.len; i++)
		words_of(&t, i);
	if (more)
		remark(&t, PROFILE_NONE, "note", "%u more with smaller shares: --view=search",
		       more);
	if (!t.list.len)
		words_of_nothing(&t);
	words_of_search(&t);
	add_steps(&t);
	vec_free(&t.list);
	names_free(t.names);
}
