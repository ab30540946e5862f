#include "profile/lineage.h"

#include <stdlib.h>
#include <string.h>

/* An experiment to be sorted among its siblings, or among the tops. */
struct sibling {
	const struct profile_experiment *x;
	uint32_t group; /* parent, or hypothesis */
	uint32_t experiment;
};

static int rank(const struct profile_experiment *x)
{
	return x->state == PROFILE_TRUE    ? 0
	       : experiment_is_untested(x) ? 3
	       : x->state == PROFILE_FALSE ? 2
					   : 1;
}

static int compare(const struct sibling *a, const struct sibling *b)
{
	if (rank(a->x) != rank(b->x))
		return rank(a->x) - rank(b->x);
	if (a->x->value != b->x->value)
		return a->x->value > b->x->value ? -1 : 1;
	return a->experiment < b->experiment ? -1 : a->experiment > b->experiment;
}

static int by_rank(const void *a, const void *b)
{
	return compare(a, b);
}

static int by_group(const void *a, const void *b)
{
	const struct sibling *x = a, *y = b;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return compare(x, y);
}

/* Returns the children of all refinements. A refinement of an experiment to itself has no
 * meaning and is skipped. */
static struct sibling *list_siblings(const struct profile *p, uint32_t *count)
{
	struct sibling *siblings = xcalloc((size_t)p->refinements.len + 1, sizeof(*siblings));
	*count = 0;
	vec_each (r, &p->refinements)
		if (r->parent != r->child)
			siblings[(*count)++] = (struct sibling){&p->experiments.data[r->child],
								r->parent, r->child};
	return siblings;
}

static void link_children(struct experiment_tree *h, const struct profile *p)
{
	uint32_t n = p->experiments.len, count, at = 0;
	struct sibling *siblings = list_siblings(p, &count);
	qsort(siblings, count, sizeof(*siblings), by_group);
	h->child_at = xcalloc((size_t)n + 1, sizeof(*h->child_at));
	h->children = xcalloc((size_t)count + 1, sizeof(*h->children));
	for (uint32_t i = 0; i < n; i++) {
		for (; at < count && siblings[at].group == i; at++)
			h->children[at] = siblings[at].experiment;
		h->child_at[i + 1] = at;
	}
	free(siblings);
}

static void link_parents(struct experiment_tree *h, const struct profile *p)
{
	uint32_t n = p->experiments.len, count = h->child_at[n];
	h->parent_at = xcalloc((size_t)n + 2, sizeof(*h->parent_at));
	h->parents = xcalloc((size_t)count + 1, sizeof(*h->parents));
	/* next[i] is where the next parent of i is put. Once all are placed, it is the end of the
	 * parents of i: parent_at[i + 1]. */
	uint32_t *next = h->parent_at + 1;
	for (uint32_t i = 0; i < count; i++)
		next[h->children[i] + 1]++;
	for (uint32_t i = 0; i < n; i++)
		next[i + 1] += next[i];
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = h->child_at[i]; k < h->child_at[i + 1]; k++)
			h->parents[next[h->children[k]]++] = i;
}

/* Marks all experiments reachable from `start` along `links`. */
static void reach(uint32_t start, const uint32_t *at, const uint32_t *links, bool *reached)
{
	VEC(uint32_t) todo = {0};
	if (reached[start])
		return;
	reached[start] = true;
	vec_push(&todo, start);
	while (todo.len) {
		uint32_t i = vec_pop(&todo);
		for (uint32_t k = at[i]; k < at[i + 1]; k++) {
			if (reached[links[k]])
				continue;
			reached[links[k]] = true;
			vec_push(&todo, links[k]);
		}
	}
	vec_free(&todo);
}

/* Sorts by hypothesis; hypotheses are ordered by their best experiment. */
static void sort_tops(struct experiment_tree *h, const struct profile *p)
{
	struct hashmap groups = {0};
	struct sibling *siblings = xcalloc((size_t)h->top_count + 1, sizeof(*siblings));
	for (uint32_t i = 0; i < h->top_count; i++)
		siblings[i] = (struct sibling){&p->experiments.data[h->tops[i]], 0, h->tops[i]};
	qsort(siblings, h->top_count, sizeof(*siblings), by_rank);
	for (uint32_t i = 0; i < h->top_count; i++) {
		const char *name = siblings[i].x->hypothesis;
		siblings[i].group = hashmap_add(&groups, hash_bytes(name, strlen(name), 0), i);
	}
	qsort(siblings, h->top_count, sizeof(*siblings), by_group);
	for (uint32_t i = 0; i < h->top_count; i++)
		h->tops[i] = siblings[i].experiment;
	free(siblings);
	hashmap_release(&groups);
}

/* Tops are the experiments without parents, and one of each cycle that is not reachable from
 * them. */
static void find_tops(struct experiment_tree *h, const struct profile *p)
{
	uint32_t n = p->experiments.len;
	bool *reached = xcalloc((size_t)n + 1, sizeof(*reached));
	h->tops = xcalloc((size_t)n + 1, sizeof(*h->tops));
	for (int cycles = 0; cycles < 2; cycles++) {
		for (uint32_t i = 0; i < n; i++) {
			if (reached[i] || (!cycles && lineage_parents(h, i)))
				continue;
			h->tops[h->top_count++] = i;
			reach(i, h->child_at, h->children, reached);
		}
	}
	free(reached);
	sort_tops(h, p);
}

void lineage_build(struct experiment_tree *h, const struct profile *p)
{
	*h = (struct experiment_tree){0};
	link_children(h, p);
	link_parents(h, p);
	find_tops(h, p);
	h->leads = xcalloc((size_t)p->experiments.len + 1, sizeof(*h->leads));
	for (uint32_t i = 0; i < p->experiments.len; i++)
		if (rank(&p->experiments.data[i]) < 2)
			reach(i, h->parent_at, h->parents, h->leads);
}

void lineage_release(struct experiment_tree *h)
{
	free(h->child_at);
	free(h->children);
	free(h->parent_at);
	free(h->parents);
	free(h->tops);
	free(h->leads);
	*h = (struct experiment_tree){0};
}
