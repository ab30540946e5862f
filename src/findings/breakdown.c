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

/* True if a finding's objects are what the kernel or an allocator does, and not what is waited for.
 */
static bool is_about_calls(enum hypothesis_id h)
{
	return h == SYSTEM_TIME || h == MEMORY_MANAGEMENT;
}

/* Returns their number. */
static uint32_t list_objects(const struct breakdown *b, enum hypothesis_id h, struct text *out)
{
	struct known *k = b->t->k;
	uint32_t i = 0;
	for (; i < b->portions.len && i < MOST_PORTIONS; i++) {
		double share = known_share(k, h, b->portions.data[i].seconds);
		if (i && share < least_portion)
			break;
		text_printf(out, "%s%.0f %% %s ", i ? ", " : "", percent(share),
			    is_about_calls(h) ? "in" : "for");
		word_object(b->t, b->portions.data[i].of, out);
	}
	return i;
}

/* The length of the name of an allocator's function, without what the kernel does for it. */
static size_t function_length(const char *name)
{
	const char *end = strstr(name, " (");
	return end ? (size_t)(end - name) : strlen(name);
}

/* Returns the first object with the same name: each process sleeps for itself. With `function`,
 * names are compared up to what the kernel does. */
static uint32_t namesake(const struct wording *t, uint32_t object, bool function)
{
	const struct evidence_object *all = t->k->e->objects.data, *o = &all[object];
	size_t n = function ? function_length(o->name) : strlen(o->name);
	uint32_t i = 0;
	while (i < object &&
	       (strncmp(all[i].name, o->name, n) != 0 ||
		(function ? function_length(all[i].name) : strlen(all[i].name)) != n ||
		strcmp(all[i].kind, o->kind) != 0))
		i++;
	return i;
}

static void find_objects(struct breakdown *b, const struct candidate *c, bool functions)
{
	const struct wording *t = b->t;
	bool whole = c->part == t->k->whole.part[CODE];
	vec_each (chain, &t->k->e->chains)
		if (chain->object != PROFILE_NONE &&
		    chain->class == hypotheses[c->hypothesis].samples &&
		    (whole || is_of(t, c, chain)))
			add_portion(b, namesake(t, chain->object, functions), chain->seconds);
	sort_portions(b);
}

void word_objects(struct wording *t, uint32_t finding, const struct candidate *c)
{
	struct breakdown b = {.t = t};
	struct text list = TEXT_INIT;
	find_objects(&b, c, false);
	uint32_t count = list_objects(&b, (enum hypothesis_id)c->hypothesis, &list);
	bool allocates = c->hypothesis == MEMORY_MANAGEMENT;
	/* If it is only one, the sentence has it. */
	if (count > allocates)
		remark(t, finding, "where", "%s%s",
		       allocates                      ? "of that, "
		       : c->hypothesis == SYSTEM_TIME ? "the kernel: "
						      : "",
		       list.data);
	text_release(&list);
	breakdown_release(&b);
}

void word_allocators(const struct wording *t, const struct candidate *c, struct text *out)
{
	struct breakdown b = {.t = t};
	uint32_t count = 0;
	find_objects(&b, c, true);
	while (count < b.portions.len && count < MOST_ALLOCATORS &&
	       b.portions.data[count].seconds >= least_allocator * b.seconds)
		count++;
	for (uint32_t i = 0; i < count; i++) {
		const char *name = t->k->e->objects.data[b.portions.data[i].of].name;
		text_add(out, !i ? "" : i + 1 < count ? ", " : " and ");
		text_addn(out, name, function_length(name));
	}
	text_add(out, count ? "" : "an allocator");
	breakdown_release(&b);
}

/* Returns true if less than half of it is in the part's own function. */
static bool find_functions(struct breakdown *b, const struct candidate *c)
{
	const struct wording *t = b->t;
	bool whole = c->part == t->k->whole.part[CODE];
	vec_each (chain, &t->k->e->chains)
		if (is_of(t, c, chain) ||
		    (whole && chain->class == hypotheses[c->hypothesis].samples))
			add_chain(b, chain);
	uint32_t at = hashmap_get(&b->at, known_function(t->k, c->part));
	double self = at == HASHMAP_NONE ? 0 : b->portions.data[at].seconds;
	sort_portions(b);
	return b->portions.len > 1 && self < own_share * b->seconds;
}

void word_callers(struct wording *t, uint32_t finding, const struct candidate *c)
{
	struct breakdown b = {.t = t};
	struct text list = TEXT_INIT;
	if (find_functions(&b, c))
		list_functions(&b, (enum hypothesis_id)c->hypothesis, &list);
	if (list.len)
		remark(t, finding, "where", "callers: %s", list.data);
	text_release(&list);
	breakdown_release(&b);
}

void word_breakdown(struct wording *t, uint32_t finding, const struct candidate *c)
{
	struct breakdown b = {.t = t};
	struct text list = TEXT_INIT;
	bool divided = find_functions(&b, c);
	if (divided)
		list_functions(&b, (enum hypothesis_id)c->hypothesis, &list);
	if (list.len)
		remark(t, finding, "where", "%s%s",
		       known_share(t->k, (enum hypothesis_id)c->hypothesis,
				   b.portions.data[0].seconds) < flat_below
			       ? "flat: the largest parts are "
			       : "of that, ",
		       list.data);
	else if (divided)
		remark(t, finding, "where", "flat: %u functions, each with less than %.0f %%",
		       b.portions.len, percent(least_portion));
	text_release(&list);
	breakdown_release(&b);
}
