/* What the time of a finding is made of, where no part of it is a finding itself: the functions
 * with most samples. */
#include <string.h>

#include "base/quantity.h"
#include "findings/limits.h"
#include "findings/wording.h"

struct portion {
	uint32_t of; /* function, or object */
	double seconds;
};

struct breakdown {
	const struct wording *t;
	VEC(struct portion) portions; /* largest first, when sorted */
	struct hashmap at;            /* function or object -> portion */
	double seconds;               /* of all portions */
};

static bool is_reported(const struct wording *t, uint8_t hypothesis, uint32_t part)
{
	vec_each (x, &t->list)
		if (x->hypothesis == hypothesis && x->part == part)
			return true;
	return false;
}

/* Returns true if a chain goes through the code of a finding, and then through that of no other
 * one. */
static bool is_of(const struct wording *t, const struct candidate *c,
		  const struct evidence_chain *chain)
{
	const uint32_t *parts = t->k->e->parts.data + chain->first;
	uint32_t i = chain->length;
	if (chain->class != hypotheses[c->hypothesis].samples)
		return false;
	while (i && parts[i - 1] != c->part && !is_reported(t, c->hypothesis, parts[i - 1]))
		i--;
	return i && parts[i - 1] == c->part;
}

static void add_portion(struct breakdown *b, uint32_t of, double seconds)
{
	uint32_t next = b->portions.len, at = hashmap_add(&b->at, of, next);
	if (at == next)
		vec_push(&b->portions, (struct portion){.of = of});
	b->portions.data[at].seconds += seconds;
	b->seconds += seconds;
}

static void add_chain(struct breakdown *b, const struct evidence_chain *chain)
{
	const struct known *k = b->t->k;
	uint32_t last = k->e->parts.data[chain->first + chain->length - 1];
	add_portion(b, known_function(k, last), chain->seconds);
}

static int by_seconds(const void *a, const void *b)
{
	const struct portion *x = a, *y = b;
	if (x->seconds != y->seconds)
		return x->seconds < y->seconds ? 1 : -1;
	return (x->of > y->of) - (x->of < y->of);
}

static void sort_portions(struct breakdown *b)
{
	if (b->portions.len)
		qsort(b->portions.data, b->portions.len, sizeof(*b->portions.data), by_seconds);
}

static void breakdown_release(struct breakdown *b)
{
	vec_free(&b->portions);
	hashmap_release(&b->at);
}

static void list_functions(const struct breakdown *b, enum hypothesis_id h, struct text *out)
{
	struct known *k = b->t->k;
	for (uint32_t i = 0; i < b->portions.len && i < MOST_PORTIONS; i++) {
		double share = known_share(k, h, b->portions.data[i].seconds);
		if (share < least_portion)
			break;
		text_printf(out, "%s%.0f %% in %s", i ? ", " : "", percent(share),
			    known_code(k, b->portions.data[i].of).function);
	}
}

static void list_objects(const struct breakdown *b, enum hypothesis_id h, struct text *out)
{
	struct known *k = b->t->k;
	for (uint32_t i = 0; i < b->portions.len && i < MOST_PORTIONS; i++) {
		double share = known_share(k, h, b->portions.data[i].seconds);
		if (i && share < least_portion)
			break;
		text_printf(out, "%s%.0f %% %s ", i ? ", " : "", percent(share),
			    h == SYSTEM_TIME ? "in" : "for");
		word_object(b->t, b->portions.data[i].of, out);
	}
}

/* Returns the first object with the same name: each process sleeps for itself. */
static uint32_t namesake(const struct wording *t, uint32_t object)
{
	const struct evidence_object *all = t->k->e->objects.data;
	uint32_t i = 0;
	while (i < object && (strcmp(all[i].name, all[object].name) != 0 ||
			      strcmp(all[i].kind, all[object].kind) != 0))
		i++;
	return i;
}

void word_objects(struct wording *t, uint32_t finding, const struct candidate *c)
{
	struct breakdown b = {.t = t};
	struct text list = TEXT_INIT;
	bool whole = c->part == t->k->whole.part[CODE];
	vec_each (chain, &t->k->e->chains)
		if (chain->object != PROFILE_NONE &&
		    chain->class == hypotheses[c->hypothesis].samples &&
		    (whole || is_of(t, c, chain)))
			add_portion(&b, namesake(t, chain->object), chain->seconds);
	sort_portions(&b);
	list_objects(&b, (enum hypothesis_id)c->hypothesis, &list);
	if (list.len)
		remark(t, finding, "where", "%s%s",
		       c->hypothesis == SYSTEM_TIME ? "the kernel: " : "", list.data);
	text_release(&list);
	breakdown_release(&b);
}

void word_breakdown(struct wording *t, uint32_t finding, const struct candidate *c)
{
	struct breakdown b = {.t = t};
	struct text list = TEXT_INIT;
	uint32_t own = known_function(t->k, c->part);
	vec_each (chain, &t->k->e->chains)
		if (is_of(t, c, chain))
			add_chain(&b, chain);
	uint32_t at = hashmap_get(&b.at, own);
	double self = at == HASHMAP_NONE ? 0 : b.portions.data[at].seconds;
	if (b.portions.len > 1 && self < own_share * b.seconds) {
		sort_portions(&b);
		list_functions(&b, (enum hypothesis_id)c->hypothesis, &list);
	}
	if (list.len)
		remark(t, finding, "where", "%s%s",
		       known_share(t->k, (enum hypothesis_id)c->hypothesis,
				   b.portions.data[0].seconds) < flat_below
			       ? "flat: the largest parts are "
			       : "of that, ",
		       list.data);
	else if (b.portions.len > 1 && self < own_share * b.seconds)
		remark(t, finding, "where", "flat: %u functions, each with less than %.0f %%",
		       b.portions.len, percent(least_portion));
	text_release(&list);
	breakdown_release(&b);
}
