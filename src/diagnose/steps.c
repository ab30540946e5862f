/* What to do next, as far as the data supports it: rules in the order of what they are worth, at
 * most three of them told. */
#include <unistd.h>

#include "diagnose/findings.h"

enum { MOST_STEPS = 3 };

static const double short_trip = 4; /* iterations: more of them are worth a loop */

struct advising {
	struct telling *t;
	uint32_t told;
};

#define advise(a, ...)                                                                             \
	do {                                                                                       \
		if ((a)->told++ < MOST_STEPS)                                                      \
			remark((a)->t, PROFILE_NONE, "step", __VA_ARGS__);                         \
	} while (0)

static const struct wait_object *object_of(const struct telling *t, const struct candidate *c)
{
	return c->object == LEDGER_NONE ? NULL : &t->d->own->waits.objects.data[c->object];
}

/* The same lock from two paths. */
static void same_object(struct advising *a)
{
	struct telling *t = a->t;
	for (uint32_t i = 0; i < t->list.len; i++)
		for (uint32_t k = i + 1; k < t->list.len; k++) {
			const struct candidate *x = &t->list.data[i], *y = &t->list.data[k];
			const struct wait_object *o = object_of(t, x);
			if (!o || x->object != y->object || x->part == y->part ||
			    x->hypothesis != y->hypothesis || o->kind == OBJECT_SLEEP)
				continue;
			advise(a,
			       "%s and %s wait for the same %s %s: two locks, or less work under "
			       "this one, would let them go on side by side",
			       names_sentence(t->names, x->part), names_sentence(t->names, y->part),
			       object_kinds[o->kind].name, names_object(t->names, x->object));
		}
}

static void small_operations(struct advising *a)
{
	vec_each (c, &a->t->list) {
		const struct wait_object *o = object_of(a->t, c);
		if (c->hypothesis != SMALL_IO || !o || !o->count)
			continue;
		advise(a,
		       "%.0f operations a second move %.0f bytes each on average: gather them in a "
		       "buffer, and make them permanent (fsync) less often",
		       o->rate > 0 ? o->rate : (double)o->count / a->t->d->seconds,
		       (double)o->bytes / (double)o->count);
		return;
	}
}

static void lock_held(struct advising *a)
{
	vec_each (c, &a->t->list) {
		const struct wait_object *o = object_of(a->t, c);
		if (!o ||
		    (o->kind != OBJECT_MUTEX && o->kind != OBJECT_RWLOCK && o->kind != OBJECT_SPIN))
			continue;
		advise(a, "do less while %s %s is held, or split what it guards",
		       object_kinds[o->kind].name, names_object(a->t->names, c->object));
		return;
	}
}

/* The outermost part on the way to it that is true of the same: there the work is divided. */
static uint32_t divided_at(const struct telling *t, const struct candidate *c)
{
	const struct diagnosis *d = t->d;
	const struct samples *s = &d->own->samples;
	struct focus f = search_get(d->own->search, c->experiment)->focus;
	for (uint32_t i = 0; c->chain != UINT32_MAX && i < s->chains.data[c->chain].length; i++) {
		f.part[CODE] = s->parts.data[s->chains.data[c->chain].first + i];
		if (find_true(d, c->hypothesis, &f) != EXPERIMENT_NONE)
			return f.part[CODE];
	}
	return c->part;
}

static void uneven_work(struct advising *a)
{
	vec_each (c, &a->t->list)
		if (c->hypothesis == IMBALANCE && c->part != CODE)
			advise(a,
			       "divide the work of %s more evenly: that could save up to %.0f %% "
			       "of "
			       "the run",
			       names_sentence(a->t->names, divided_at(a->t, c)), 100 * c->share);
}

/* Whether it is divided among threads already, of which one has most of it. */
static bool is_divided(const struct telling *t)
{
	vec_each (c, &t->list)
		if (c->hypothesis == IMBALANCE)
			return true;
	return false;
}

/* The outermost loop around the finding that takes nearly all of it and is begun rarely. */
static void worth_dividing(struct advising *a)
{
	struct telling *t = a->t;
	const struct samples *s = &t->d->own->samples;
	struct machine_span span = machine_span(&t->d->own->machine, MACHINE);
	double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t busy = 0;
	vec_each (x, &t->d->own->machine.threads)
		busy += x->cpu_all > 0.1 * t->d->own->machine.cpu_all;
	vec_each (c, &t->list) {
		if (c->hypothesis != CPU_BOUND || c->share < 0.4 || c->chain == UINT32_MAX ||
		    cpus < 2 || busy > 1 || span.cpu > 1.3 * span.time || is_divided(t))
			continue;
		const struct chain *chain = &s->chains.data[c->chain];
		for (uint32_t i = 0; i < chain->length; i++) {
			uint32_t part = s->parts.data[chain->first + i];
			if (!code_part(t->d->own->code, part).loop)
				continue;
			advise(a,
			       "one processor of %.0f is used: if the iterations of %s do not "
			       "depend on each other, they can be divided among threads",
			       cpus, names_sentence(t->names, part));
			return;
		}
	}
}

/* A loop that is entered all the time for a few iterations. */
static bool add_trips(struct advising *a, const struct candidate *c)
{
	const struct telling *t = a->t;
	const struct trip *trip = c->part == CODE ? NULL : trips_of(&t->d->own->trips, c->part);
	if (!trip)
		return false;
	double length = (double)trip->iterations / (double)trip->entries;
	if (length > short_trip)
		return false;
	advise(a,
	       "%s is entered about %.3g million times a second, for %.1f iterations on average: "
	       "to treat the usual number apart, or to do the work of several trips in one, may "
	       "pay",
	       names_sentence(t->names, c->part), 1e-6 * (double)trip->entries / trip->seconds,
	       length);
	return true;
}

/* Many short calls: what they cost is the calling, too. */
static bool add_calls(struct advising *a, const struct candidate *c)
{
	const struct telling *t = a->t;
	const struct experiment *e = search_get(t->d->own->search, c->experiment);
	bool is_procedure = c->part != CODE && !code_part(t->d->own->code, c->part).loop;
	double rate = is_procedure ? begun_per_second(t->d, e) : 0;
	if (rate < often_begun || c->share / rate > 1e-6)
		return false;
	advise(a,
	       "%s is called about %.0f thousand times a second, %.2g us each: fewer calls, each "
	       "for more, may pay",
	       names_sentence(t->names, c->part), rate / 1000, 1e6 * c->share / rate);
	return true;
}

static void begun_often(struct advising *a)
{
	vec_each (c, &a->t->list)
		if (c->hypothesis == CPU_BOUND && (add_trips(a, c) || add_calls(a, c)))
			return;
}

void add_steps(struct telling *t)
{
	struct advising a = {t, 0};
	same_object(&a);
	small_operations(&a);
	uneven_work(&a);
	lock_held(&a);
	worth_dividing(&a);
	begun_often(&a);
}
