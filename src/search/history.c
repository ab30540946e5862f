#include "search/history.h"

#include <string.h>

#include "base/check.h"

void history_release(struct history *h)
{
	vec_each (e, &h->list) {
		vec_free(&e->parents);
		vec_free(&e->children);
	}
	vec_free(&h->list);
	vec_free(&h->trials);
	vec_free(&h->by_part);
	vec_free(&h->walk);
	vec_free(&h->exhausted);
	hashmap_release(&h->index);
}

/* If two experiments have the same hash, the second one is found with the next seed. */
static uint64_t hash(uint8_t hypothesis, const struct focus *f, uint64_t seed)
{
	return hash_bytes(f->part, sizeof(f->part), seed * HYPOTHESES + hypothesis);
}

static bool is_about(const struct experiment *e, uint8_t hypothesis, const struct focus *f)
{
	return e->hypothesis == hypothesis && !memcmp(&e->focus, f, sizeof(*f));
}

uint32_t history_find(const struct history *h, uint8_t hypothesis, const struct focus *f)
{
	for (uint64_t seed = 0;; seed++) {
		uint32_t known = hashmap_get(&h->index, hash(hypothesis, f, seed));
		if (known == HASHMAP_NONE || is_about(&h->list.data[known], hypothesis, f))
			return known;
	}
}

uint32_t history_first(const struct history *h, uint32_t resource)
{
	return resource < h->by_part.len ? h->by_part.data[resource].first
					 : (uint32_t)EXPERIMENT_NONE;
}

static void add_to_part(struct history *h, uint32_t experiment, enum hierarchy axis)
{
	uint32_t part = h->list.data[experiment].focus.part[axis];
	while (h->by_part.len <= part)
		vec_push(&h->by_part, (struct by_part){EXPERIMENT_NONE, EXPERIMENT_NONE});
	struct by_part *p = &h->by_part.data[part];
	if (p->first == EXPERIMENT_NONE)
		p->first = experiment;
	else
		h->trials.data[p->last].next[axis] = experiment;
	p->last = experiment;
	h->trials.data[experiment].next[axis] = EXPERIMENT_NONE;
}

static bool is_undecided(uint8_t state)
{
	return state == EXPERIMENT_READY || state == EXPERIMENT_ACTIVE;
}

uint32_t history_add(struct history *h, const struct experiment *e)
{
	uint32_t number = h->list.len;
	for (uint64_t seed = 0;; seed++)
		if (hashmap_add(&h->index, hash(e->hypothesis, &e->focus, seed), number) == number)
			break;
	vec_push(&h->list, *e);
	vec_push(&h->trials, (struct trial){0});
	for (uint32_t i = 0; i < HIERARCHIES; i++)
		add_to_part(h, number, (enum hierarchy)i);
	h->undecided += is_undecided(e->state);
	return number;
}

static bool is_ancestor(struct history *h, uint32_t candidate, uint32_t of)
{
	h->walks++;
	vec_clear(&h->walk);
	vec_push(&h->walk, of);
	while (h->walk.len) {
		uint32_t at = vec_pop(&h->walk);
		if (at == candidate)
			return true;
		if (h->trials.data[at].seen == h->walks)
			continue;
		h->trials.data[at].seen = h->walks;
		vec_each (p, &h->list.data[at].parents)
			vec_push(&h->walk, *p);
	}
	return false;
}

/* Returns the hierarchy along which a child refines its parent; HIERARCHIES: by its hypothesis. */
static uint32_t axis_between(const struct experiment *parent, const struct experiment *child)
{
	uint32_t i = 0;
	if (parent->hypothesis != child->hypothesis)
		return HIERARCHIES;
	while (i < HIERARCHIES && parent->focus.part[i] == child->focus.part[i])
		i++;
	return i;
}

static bool is_child(const struct history *h, uint32_t parent, uint32_t child)
{
	vec_each (p, &h->list.data[child].parents)
		if (*p == parent)
			return true;
	return false;
}

void history_link(struct history *h, uint32_t parent, uint32_t child)
{
	struct experiment *p = &h->list.data[parent], *c = &h->list.data[child];
	if (parent == child || is_child(h, parent, child) ||
	    (c->children.len && is_ancestor(h, child, parent)))
		return;
	vec_push(&p->children, child);
	vec_push(&c->parents, parent);
	uint32_t axis = axis_between(p, c);
	if (axis == HIERARCHIES)
		return;
	struct trial *t = &h->trials.data[parent];
	t->all[axis]++;
	t->undecided[axis] += is_undecided(c->state);
	t->true_ones[axis] += c->state == EXPERIMENT_TRUE;
}

static void recount(struct history *h, uint32_t parent, const struct experiment *child, uint8_t was)
{
	const struct experiment *p = &h->list.data[parent];
	uint32_t axis = axis_between(p, child);
	if (axis == HIERARCHIES)
		return;
	struct trial *t = &h->trials.data[parent];
	t->undecided[axis] -= is_undecided(was);
	t->undecided[axis] += is_undecided(child->state);
	t->true_ones[axis] -= was == EXPERIMENT_TRUE;
	t->true_ones[axis] += child->state == EXPERIMENT_TRUE;
	if (p->state == EXPERIMENT_TRUE && !t->undecided[axis] && !t->true_ones[axis])
		vec_push(&h->exhausted, parent);
}

void history_set(struct history *h, uint32_t experiment, enum experiment_state state)
{
	struct experiment *e = &h->list.data[experiment];
	uint8_t was = e->state;
	if (was == state)
		return;
	e->state = (uint8_t)state;
	h->undecided -= is_undecided(was);
	h->undecided += is_undecided(e->state);
	vec_each (p, &e->parents)
		recount(h, *p, e, was);
}

/* ---- checking ---- */

/* Checks H2 by repeatedly removing experiments that have no parents left. */
static void check_order(struct history *h)
{
	uint32_t *left = xcalloc(h->list.len, sizeof(*left)), taken = 0;
	vec_clear(&h->walk);
	for (uint32_t i = 0; i < h->list.len; i++) {
		left[i] = h->list.data[i].parents.len;
		if (!left[i])
			vec_push(&h->walk, i);
	}
	for (; h->walk.len; taken++) {
		uint32_t at = vec_pop(&h->walk);
		vec_each (c, &h->list.data[at].children)
			if (!--left[*c])
				vec_push(&h->walk, *c);
	}
	bug_on(taken != h->list.len, "H2");
	free(left);
}

static void check_children(const struct history *h, uint32_t number)
{
	const struct experiment *e = &h->list.data[number];
	const struct trial *t = &h->trials.data[number];
	uint32_t undecided[HIERARCHIES] = {0}, true_ones[HIERARCHIES] = {0};
	vec_each (c, &e->children) {
		bug_on(*c >= h->list.len || !is_child(h, number, *c), "H4");
		uint32_t axis = axis_between(e, &h->list.data[*c]);
		if (axis == HIERARCHIES)
			continue;
		undecided[axis] += is_undecided(h->list.data[*c].state);
		true_ones[axis] += h->list.data[*c].state == EXPERIMENT_TRUE;
	}
	bug_on(memcmp(undecided, t->undecided, sizeof(undecided)) != 0, "H3");
	bug_on(memcmp(true_ones, t->true_ones, sizeof(true_ones)) != 0, "H3");
}

void history_check(struct history *h)
{
	uint32_t undecided = 0, links = 0;
	bug_on(h->trials.len != h->list.len, "H1");
	for (uint32_t i = 0; i < h->list.len; i++) {
		const struct experiment *e = &h->list.data[i];
		bug_on(history_find(h, e->hypothesis, &e->focus) != i, "H1");
		check_children(h, i);
		undecided += is_undecided(e->state);
		links += e->children.len;
		links -= e->parents.len;
	}
	bug_on(undecided != h->undecided, "H3");
	bug_on(links != 0, "H4");
	check_order(h);
}
