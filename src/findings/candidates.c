#include "findings/candidates.h"

#include <math.h>
#include <string.h>

#include "findings/limits.h"

static const struct profile_experiment *experiment_of(const struct known *k, uint32_t number)
{
	return &k->p->experiments.data[number];
}

static uint32_t code_of(const struct known *k, uint32_t experiment)
{
	return experiment_of(k, experiment)->focus[CODE];
}

static bool is_over(const struct profile_experiment *x)
{
	return x->flags & EXPERIMENT_OVER;
}

static bool is_about_waiting(enum hypothesis_id h)
{
	return hypotheses[h].samples == SAMPLE_SYNC || hypotheses[h].samples == SAMPLE_IO;
}

/* Returns the share of the run, by samples; by the experiment's value if there are too few
 * samples. */
static double share_of_run(const struct known *k, uint32_t experiment, double seconds,
			   uint64_t samples)
{
	enum hypothesis_id h = (enum hypothesis_id)k->hypothesis[experiment];
	if (samples < FEW_SAMPLES || hypotheses[h].measure == MEASURE_IMBALANCE)
		return fmin(experiment_of(k, experiment)->value, 1);
	return known_share(k, h, seconds);
}

/* Returns false if the share of the whole run is too small: the experiment was true only for a
 * while, or barely. */
static bool matters(const struct known *k, uint32_t experiment, double share)
{
	return share >= whole_run_share * experiment_of(k, experiment)->threshold;
}

/* ---- truths ---- */

/* True experiments of a hypothesis on parts of the code, for the whole machine and all objects.
 * Those that do not matter for the whole run are left out: a caller explains their samples. */
struct truths {
	const struct known *k;
	enum hypothesis_id hypothesis;
	struct hashmap at; /* part -> experiment */
	VEC(uint32_t) list;
	double *explained; /* by part: s of samples that it is the innermost truth of */
	uint64_t samples;  /* samples of the hypothesis's class */
};

static bool is_about_code(const struct known *k, uint32_t experiment, enum hypothesis_id h)
{
	const struct profile_experiment *x = experiment_of(k, experiment);
	const uint32_t *whole = k->whole.part;
	return k->hypothesis[experiment] == h && x->state == PROFILE_TRUE &&
	       x->focus[CODE] != whole[CODE] && x->focus[MACHINE] == whole[MACHINE] &&
	       x->focus[SYNC] == whole[SYNC] && x->focus[FILES] == whole[FILES];
}

static bool is_truth(const struct truths *t, uint32_t experiment)
{
	uint32_t heaviest;
	uint64_t samples;
	if (!is_about_code(t->k, experiment, t->hypothesis))
		return false;
	double seconds = known_seconds(t->k, t->hypothesis, code_of(t->k, experiment), PROFILE_NONE,
				       &heaviest, &samples);
	return matters(t->k, experiment, share_of_run(t->k, experiment, seconds, samples));
}

static void find_truths(struct truths *t)
{
	for (uint32_t i = 0; i < t->k->p->experiments.len; i++) {
		if (!is_truth(t, i))
			continue;
		hashmap_put(&t->at, code_of(t->k, i), i);
		vec_push(&t->list, i);
	}
}

/* Returns the innermost part of a chain that is true, or PROFILE_NONE. */
static uint32_t innermost_truth(const struct truths *t, const struct evidence_chain *c)
{
	const uint32_t *parts = t->k->e->parts.data + c->first;
	uint32_t i = c->length;
	while (i && hashmap_get(&t->at, parts[i - 1]) == HASHMAP_NONE)
		i--;
	return i ? parts[i - 1] : PROFILE_NONE;
}

static void explain(struct truths *t)
{
	const struct evidence *e = t->k->e;
	t->explained = xcalloc(t->k->p->resources.len, sizeof(*t->explained));
	vec_each (c, &e->chains) {
		if (c->class != hypotheses[t->hypothesis].samples)
			continue;
		t->samples += c->samples;
		uint32_t part = innermost_truth(t, c);
		if (part != PROFILE_NONE)
			t->explained[part] += c->seconds;
	}
}

/* Returns the seconds of an object that a part itself explains, and none of its parts. */
static double explained_of(const struct truths *t, uint32_t part, uint32_t object)
{
	double sum = 0;
	vec_each (c, &t->k->e->chains)
		if (c->class == hypotheses[t->hypothesis].samples && c->object == object &&
		    innermost_truth(t, c) == part)
			sum += c->seconds;
	return sum;
}

/* Returns true if one experiment leads to the other through true ones. */
static bool leads(const struct truths *t, uint32_t from, uint32_t to, uint8_t *seen)
{
	VEC(uint32_t) todo = {0};
	bool found = false;
	vec_push(&todo, from);
	while (todo.len && !found) {
		uint32_t at = vec_pop(&todo);
		found = at == to;
		if (seen[at])
			continue;
		seen[at] = 1;
		children_each (child, t->k, at)
			if (is_about_code(t->k, *child, t->hypothesis))
				vec_push(&todo, *child);
	}
	vec_free(&todo);
	return found;
}

/* Returns true if none of its parts is true. A part that leads back to it belongs to the same
 * recursion and does not count, unless it explains more samples. */
static bool is_leaf(const struct truths *t, uint32_t experiment)
{
	children_each (child, t->k, experiment) {
		if (!is_about_code(t->k, *child, t->hypothesis))
			continue;
		uint8_t *seen = xcalloc(t->k->p->experiments.len, 1);
		bool back = leads(t, *child, experiment, seen);
		free(seen);
		if (!back ||
		    t->explained[code_of(t->k, *child)] > t->explained[code_of(t->k, experiment)])
			return false;
	}
	return true;
}

/* Returns a lower bound of a share that only samples support, as certain as the decision of an
 * experiment: with a hundred samples, a share of 20 % may really be 10 %. */
static double least_share(const struct truths *t, double seconds)
{
	double share = known_share(t->k, t->hypothesis, seconds);
	double error = sqrt(share * (1 - share) / (double)t->samples);
	return share - sure_errors * error;
}

/* *spread is set if parts of it are large enough to be reported as well. */
static bool is_worth_reporting(const struct truths *t, uint32_t experiment, bool *spread)
{
	uint32_t part = code_of(t->k, experiment), ignored;
	uint64_t count;
	double all = known_seconds(t->k, t->hypothesis, part, PROFILE_NONE, &ignored, &count);
	double own = t->explained[part], threshold = experiment_of(t->k, experiment)->threshold;
	bool by_samples = hypotheses[t->hypothesis].measure != MEASURE_IMBALANCE;
	bool enough = by_samples && least_share(t, own) >= threshold;
	bool mostly_parts = own < own_share * all;
	*spread = mostly_parts ||
		  (by_samples &&
		   matters(t->k, experiment, known_share(t->k, t->hypothesis, all - own)));
	if (t->samples < FEW_SAMPLES)
		return is_leaf(t, experiment);
	return mostly_parts ? enough : all > 0;
}

/* ---- candidates ---- */

struct candidate_choice {
	const struct known *k;
	candidate_list *list;
};

/* `own`: s of samples that the part itself explains, and none of its parts. */
static void add_candidate(struct candidate_choice *c, enum hypothesis_id h, uint32_t experiment,
			  uint32_t part, uint32_t object, bool spread, double own)
{
	struct candidate x = {.hypothesis = (uint8_t)h,
			      .experiment = experiment,
			      .part = part,
			      .object = object,
			      .spread = spread};
	uint64_t count;
	x.seconds = known_seconds(c->k, h, part, object, &x.chain, &count);
	x.share = share_of_run(c->k, experiment, spread ? own : x.seconds, count);
	vec_push(c->list, x);
}

/* Returns the true experiment at the same focus for this object or, if `or_kind` is set, for its
 * kind; PROFILE_NONE if there is none. */
static uint32_t true_of_object(const struct known *k, uint32_t experiment, uint32_t object,
			       bool or_kind)
{
	struct focus f = known_focus(experiment_of(k, experiment));
	enum hypothesis_id h = (enum hypothesis_id)k->hypothesis[experiment];
	uint8_t hierarchy = object_kinds[known_kind(k, object)].hierarchy;
	uint32_t found = PROFILE_NONE, at = k->e->objects.data[object].resource;
	while (found == PROFILE_NONE && at != PROFILE_NONE && at != k->whole.part[hierarchy]) {
		f.part[hierarchy] = at;
		found = known_true(k, h, &f);
		at = or_kind ? k->p->resources.data[at].parent : PROFILE_NONE;
	}
	return found;
}

/* Adds waiting, for each object that has a large share of it. Where no samples show the waiting,
 * these are the objects for which it is true. */
static void add_waiting(struct candidate_choice *c, const struct truths *t, uint32_t experiment,
			uint32_t part, bool spread)
{
	const struct known *k = c->k;
	enum hypothesis_id h = t->hypothesis;
	uint32_t ignored, reported = 0;
	uint64_t count;
	double own = t->explained[part];
	double all = spread ? own : known_seconds(k, h, part, PROFILE_NONE, &ignored, &count);
	for (uint32_t i = 0; i < k->e->objects.len; i++) {
		double one = spread ? explained_of(t, part, i)
				    : known_seconds(k, h, part, i, &ignored, &count);
		uint32_t exact = true_of_object(k, experiment, i, all > 0);
		if (all > 0 ? one < object_share * all : exact == PROFILE_NONE)
			continue;
		reported++;
		if (!known_idle(k, part, i))
			add_candidate(c, h, exact == PROFILE_NONE ? experiment : exact, part, i,
				      spread, one);
	}
	if (!reported)
		add_candidate(c, h, experiment, part, PROFILE_NONE, spread, own);
}

static void add_truths(struct candidate_choice *c, enum hypothesis_id h)
{
	struct truths t = {.k = c->k, .hypothesis = h};
	bool spread;
	find_truths(&t);
	explain(&t);
	vec_each (i, &t.list) {
		uint32_t part = code_of(c->k, *i);
		if (!is_worth_reporting(&t, *i, &spread))
			continue;
		if (is_about_waiting(h))
			add_waiting(c, &t, *i, part, spread);
		else
			add_candidate(c, h, *i, part, PROFILE_NONE, spread, t.explained[part]);
	}
	free(t.explained);
	vec_free(&t.list);
	hashmap_release(&t.at);
}

/* Returns true if a part of the machine has all threads, as the only process has. */
static bool has_all_threads(const struct known *k, uint32_t machine)
{
	vec_each (t, &k->e->threads)
		if (t->tid && !known_within(k, t->resource, machine))
			return false;
	return true;
}

/* Returns true if an experiment is true of one process or thread, but not of the whole, and has no
 * true refinement. Such experiments exist where threads do different things. The waiting of threads
 * that have turned out to be idle does not count. */
static bool is_local(const struct known *k, uint32_t experiment)
{
	const struct profile_experiment *x = experiment_of(k, experiment);
	struct focus whole = known_focus(x);
	enum hypothesis_id h = (enum hypothesis_id)k->hypothesis[experiment];
	if (x->state != PROFILE_TRUE || is_over(x) || x->focus[CODE] == k->whole.part[CODE] ||
	    has_all_threads(k, x->focus[MACHINE]) || hypotheses[h].measure == MEASURE_IMBALANCE)
		return false;
	whole.part[MACHINE] = k->whole.part[MACHINE];
	if (is_about_waiting(h) && !known_worker(k, x->focus[MACHINE]))
		return false;
	if (known_true(k, h, &whole) != PROFILE_NONE)
		return false;
	children_each (child, k, experiment)
		if (experiment_of(k, *child)->state == PROFILE_TRUE && k->hypothesis[*child] == h)
			return false;
	return true;
}

/* Returns the object that an experiment is about; PROFILE_NONE: none in particular. */
static uint32_t object_in(const struct known *k, const struct profile_experiment *x)
{
	for (uint32_t i = 0; i < k->e->objects.len; i++) {
		uint32_t resource = k->e->objects.data[i].resource;
		if (resource != PROFILE_NONE &&
		    (resource == x->focus[SYNC] || resource == x->focus[FILES]))
			return i;
	}
	return PROFILE_NONE;
}

/* Processes and threads are parts with names like "4711 nginx". */
const char *command_of(const struct known *k, uint32_t machine)
{
	const struct profile_resource *r = &k->p->resources.data[machine];
	if (r->kind == RESOURCE_THREAD && r->parent != PROFILE_NONE)
		r = &k->p->resources.data[r->parent];
	const char *space = strchr(r->name, ' ');
	return space ? space + 1 : r->name;
}

/* Workers do the same: what is true of several is told once. */
static void add_like(const struct known *k, struct candidate *c, uint32_t experiment)
{
	const struct profile_experiment *x = experiment_of(k, experiment);
	if (!c->local || x->focus[MACHINE] == c->machine ||
	    strcmp(command_of(k, x->focus[MACHINE]), command_of(k, c->machine)) != 0)
		return;
	c->machine = x->focus[MACHINE];
	c->like++;
	c->least = fmin(c->least, x->value);
	c->most = fmax(c->most, x->value);
	if (c->object == object_in(k, x))
		return;
	uint64_t count;
	c->object = PROFILE_NONE;
	c->seconds = known_seconds(k, (enum hypothesis_id)c->hypothesis, c->part, PROFILE_NONE,
				   &c->chain, &count);
	c->share = share_of_run(k, c->experiment, c->seconds, count);
}

static struct candidate *candidate_about(const struct candidate_choice *c, uint8_t h, uint32_t part)
{
	vec_each (x, c->list)
		if (x->hypothesis == h && x->part == part)
			return x;
	return NULL;
}

static void add_local(struct candidate_choice *c)
{
	for (uint32_t i = 0; i < c->k->p->experiments.len; i++) {
		const struct profile_experiment *x = experiment_of(c->k, i);
		uint8_t h = c->k->hypothesis[i];
		if (h == HYPOTHESES || !is_local(c->k, i))
			continue;
		struct candidate *known = candidate_about(c, h, x->focus[CODE]);
		if (known) {
			add_like(c->k, known, i);
			continue;
		}
		add_candidate(c, (enum hypothesis_id)h, i, x->focus[CODE], object_in(c->k, x),
			      false, 0);
		struct candidate *new = &vec_last(c->list);
		new->local = true;
		new->like = 1;
		new->least = new->most = x->value;
		new->machine = x->focus[MACHINE];
	}
}

static void drop_small(struct candidate_choice *c)
{
	vec_keep_if(c->list, x, x->local || matters(c->k, x->experiment, x->share));
}

/* Returns true if another candidate has a more specific hypothesis about the same part and
 * object. */
static bool is_general(const candidate_list *list, const struct candidate *c)
{
	vec_each (x, list)
		if (hypotheses[x->hypothesis].general == c->hypothesis && x->part == c->part &&
		    x->object == c->object)
			return true;
	return false;
}

/* Returns true if another candidate says what the kernel does there: time that it spends in a call
 * for a file is part of that I/O. */
static bool is_io(const candidate_list *list, const struct candidate *c)
{
	double share = 0;
	vec_each (x, list)
		if ((x->hypothesis == IO_BLOCKED || x->hypothesis == SMALL_IO) &&
		    x->part == c->part)
			share += x->share;
	return c->hypothesis == SYSTEM_TIME && share >= own_share * c->share;
}

uint32_t region_of(const struct known *k, const struct candidate *c)
{
	uint32_t region = PROFILE_NONE;
	if (c->chain == PROFILE_NONE)
		return region;
	const struct evidence_chain *chain = &k->e->chains.data[c->chain];
	const uint32_t *parts = k->e->parts.data + chain->first;
	for (uint32_t i = 0; i < chain->length; i++) {
		if (known_is_region(k, known_function(k, parts[i])))
			region = known_function(k, parts[i]);
		if (parts[i] == c->part)
			break;
	}
	return region;
}

/* The same for waiting in all of the code. */
static bool is_all_explained(const struct known *k, const candidate_list *list,
			     const struct candidate *c)
{
	double explained = 0;
	bool uneven = false;
	vec_each (x, list) {
		uneven |= x->hypothesis == IMBALANCE;
		if (hypotheses[x->hypothesis].samples == SAMPLE_CPU)
			explained = fmax(explained, known_waited_for(k, x->part, OBJECT_SERIAL));
	}
	if (uneven)
		explained += known_waited_for(k, c->part, OBJECT_OPENMP);
	return c->hypothesis == SYNC_WAITING && explained >= own_share * c->share;
}

/* Returns true if something else tells why threads wait: what the process does that they wait for,
 * which code it is that one thread runs meanwhile, or which parallel region has uneven work. */
static bool is_explained(const struct known *k, const candidate_list *list,
			 const struct candidate *c)
{
	enum object_kind kind = known_kind(k, c->object);
	if (c->object != PROFILE_NONE &&
	    party_explains(&k->parties, &k->e->objects.data[c->object]))
		return true;
	if (c->part == k->whole.part[CODE] && c->object == PROFILE_NONE)
		return is_all_explained(k, list, c);
	vec_each (x, list)
		if ((kind == OBJECT_SERIAL && hypotheses[x->hypothesis].samples != SAMPLE_SYNC &&
		     (known_within(k, x->part, c->part) || known_within(k, c->part, x->part))) ||
		    (kind == OBJECT_OPENMP && x->hypothesis == IMBALANCE &&
		     region_of(k, x) != PROFILE_NONE &&
		     region_of(k, x) == known_function(k, c->part)))
			return true;
	return false;
}

static bool is_repeated(const struct known *k, const candidate_list *list,
			const struct candidate *c)
{
	(void)k;
	return is_general(list, c) || is_io(list, c);
}

static void drop_if(struct candidate_choice *c,
		    bool (*is)(const struct known *, const candidate_list *,
			       const struct candidate *))
{
	candidate_list kept = {0};
	vec_each (x, c->list)
		if (!is(c->k, c->list, x))
			vec_push(&kept, *x);
	vec_free(c->list);
	c->list->data = kept.data;
	c->list->len = kept.len;
	c->list->cap = kept.cap;
}

/* Returns true if there is a candidate of a hypothesis, or of one that refines it: for this object
 * or, with PROFILE_NONE, for any or none. */
static bool has_candidate(const struct candidate_choice *c, enum hypothesis_id h, uint32_t object)
{
	vec_each (x, c->list)
		if ((object == PROFILE_NONE || x->object == object) &&
		    (x->hypothesis == h || hypotheses[x->hypothesis].general == h))
			return true;
	return false;
}

static void add_whole_of(struct candidate_choice *c, enum hypothesis_id h, uint32_t experiment,
			 uint32_t object)
{
	const struct profile_experiment *x = experiment_of(c->k, experiment);
	uint32_t all = c->k->whole.part[CODE];
	if (is_over(x) || (is_about_waiting(h) && known_idle(c->k, all, object)))
		return;
	vec_push(c->list, (struct candidate){.hypothesis = (uint8_t)h,
					     .experiment = experiment,
					     .part = all,
					     .object = object,
					     .share = fmin(x->value, 1),
					     .chain = PROFILE_NONE});
}

/* Adds objects that threads wait for in no particular code, or only in plumbing. */
static void add_objects(struct candidate_choice *c, enum hypothesis_id h)
{
	for (uint32_t i = 0; is_about_waiting(h) && i < c->k->e->objects.len; i++) {
		struct focus f = c->k->whole;
		uint32_t resource = c->k->e->objects.data[i].resource;
		f.part[object_kinds[known_kind(c->k, i)].hierarchy] = resource;
		uint32_t experiment = resource == PROFILE_NONE || has_candidate(c, h, i)
					      ? PROFILE_NONE
					      : known_true(c->k, h, &f);
		if (experiment != PROFILE_NONE)
			add_whole_of(c, h, experiment, i);
	}
}

/* Adds a hypothesis that is true of the whole program, if it is reported for none of its parts. */
static void add_whole(struct candidate_choice *c, enum hypothesis_id h)
{
	uint32_t root = known_true(c->k, h, &c->k->whole);
	if (root != PROFILE_NONE && !has_candidate(c, h, PROFILE_NONE) &&
	    hypotheses[h].general == HYPOTHESIS_NONE && hypotheses[h].measure != MEASURE_IMBALANCE)
		add_whole_of(c, h, root, PROFILE_NONE);
}

static int by_share(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	if (x->experiment != y->experiment)
		return x->experiment < y->experiment ? -1 : 1;
	return (x->object > y->object) - (x->object < y->object);
}

void candidates_find(const struct known *k, candidate_list *out)
{
	struct candidate_choice c = {k, out};
	for (enum hypothesis_id h = 0; h < HYPOTHESES; h++)
		add_truths(&c, h);
	add_local(&c);
	drop_small(&c);
	for (enum hypothesis_id h = 0; h < HYPOTHESES; h++)
		add_objects(&c, h);
	drop_if(&c, is_repeated);
	for (enum hypothesis_id h = 0; h < HYPOTHESES; h++)
		add_whole(&c, h);
	drop_if(&c, is_explained);
	if (out->len)
		qsort(out->data, out->len, sizeof(*out->data), by_share);
}
