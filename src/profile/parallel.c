#include "profile/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const uint32_t parallel_threads[PARALLEL_STEPS] = {2, 4, 8, 16, 32, 64};

/* Limits on the number of loops that are compared with each other (the work grows with the
 * square) and that are chosen. */
enum { MAX_COMPARED = 256, MAX_CHOSEN = 10 };

/* The least speed-up of the loop itself, on the best number of threads, for it to be worth it. */
static const double MIN_SPEEDUP = 1.5;
/* An outer loop is preferred if it saves at least this share of what the loops inside it save. */
static const double OUTER_IS_ENOUGH = 0.9;

struct parallel_builder {
	struct parallel *x;
	const struct tree *t;
	uint32_t *loop_of; /* by scope */
	uint32_t compared; /* number of loops compared: the first ones of x->loops */
	uint64_t *inside;  /* [outer * compared + inner]: the part of the inner loop's total that is
			      inside the outer one */
	uint32_t *around;  /* by loop: the loop around it, or PROFILE_NONE */
	double *best;      /* by loop: what is saved by it or by loops inside it */
	bool *inner;       /* by loop: the loops inside it save clearly more */
};

/* Returns the totals of loops by scope; in a recursion each sample counts once. */
static uint64_t *loop_totals(const struct tree *t)
{
	uint64_t *totals = xcalloc(t->profile->scopes.len + (size_t)1, sizeof(*totals));
	uint32_t *active = xcalloc(t->profile->scopes.len + (size_t)1, sizeof(*active));
	for (struct tree_step s = {0}; tree_walk(t, &s);) {
		const struct tree_node *n = &t->nodes.data[s.node];
		if (n->kind != TREE_LOOP)
			continue;
		if (s.leaving)
			active[n->scope]--;
		else if (!active[n->scope]++)
			totals[n->scope] += n->total;
	}
	free(active);
	return totals;
}

static uint64_t rounds(uint64_t iterations, uint32_t threads)
{
	return iterations / threads + (iterations % threads != 0);
}

static uint64_t middle(const struct counts_trips *b)
{
	return b->low + (b->high - b->low) / 2;
}

/* Returns, as one bucket, the entries that are not in the histogram: those that did not end, or
 * all. */
static struct counts_trips not_ended(const struct counts *c, const struct counts_row *r)
{
	uint64_t entries = r->entries, iterations = r->iterations, each = 0;
	for (uint32_t i = 0; i < r->trips_count; i++) {
		const struct counts_trips *b = &c->trips.data[r->first_trips + i];
		uint64_t those;
		entries -= b->entries < entries ? b->entries : entries;
		if (__builtin_mul_overflow(b->entries, middle(b), &those) || those > iterations)
			those = iterations;
		iterations -= those;
	}
	if (entries)
		each = iterations / entries;
	return (struct counts_trips){each, each, entries};
}

/* Returns the remaining run time of a loop on `threads` threads, 0 to 1: an entry with n
 * iterations takes ceil(n / threads) rounds. */
static double part_left(const struct counts *c, const struct counts_row *r, uint32_t threads)
{
	struct counts_trips rest = not_ended(c, r);
	double all = 0, left = 0;
	if (r->flags & COUNTS_ITERATIONS_UNKNOWN)
		return 1.0 / threads;
	for (uint32_t i = 0; i <= r->trips_count; i++) {
		const struct counts_trips *b =
			i < r->trips_count ? &c->trips.data[r->first_trips + i] : &rest;
		all += (double)b->entries * (double)middle(b);
		left += (double)b->entries * (double)rounds(middle(b), threads);
	}
	return all > left ? left / all : 1;
}

static double gain_of(double share, double part)
{
	return 1 / (1 - share + share * part);
}

static void find_gains(struct parallel_loop *l, const struct counts *c)
{
	double cost = PARALLEL_ENTRY_COST / l->entry, best = 0;
	for (int i = 0; i < PARALLEL_STEPS; i++) {
		l->part[i] = part_left(c, l->counts, parallel_threads[i]);
		l->gain[i] = gain_of(l->share, l->part[i]);
		l->saves += l->share * fmax(0, 1 - l->part[i] - cost) / PARALLEL_STEPS;
		best = fmax(best, 1 / (l->part[i] + cost));
	}
	if (best >= MIN_SPEEDUP)
		l->verdict = PARALLEL_WORTH_IT;
	else if (l->part[PARALLEL_STEPS - 1] * MIN_SPEEDUP > 1)
		l->verdict = PARALLEL_FEW_ITERATIONS;
	else
		l->verdict = PARALLEL_SMALL_ENTRIES;
}

static struct parallel_loop assess_loop(const struct counts_row *r, const struct counts *c,
					uint64_t total, uint64_t whole, uint64_t all)
{
	struct parallel_loop l = {.scope = r->scope,
				  .counts = r,
				  .total = total,
				  .share = (double)total / (double)all,
				  .trips = (double)r->iterations / (double)r->entries,
				  .entry = (double)whole / (double)r->entries};
	l.iteration = r->iterations ? (double)whole / (double)r->iterations : 0;
	l.busy = fmax((double)r->trip_max, fmax(ceil(l.trips), (double)not_ended(c, r).low));
	find_gains(&l, c);
	return l;
}

static int by_total(const void *a, const void *b)
{
	const struct parallel_loop *x = a, *y = b;
	bool p = x->verdict == PARALLEL_WORTH_IT, q = y->verdict == PARALLEL_WORTH_IT;
	if (p != q)
		return p ? -1 : 1;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->scope < y->scope ? -1 : x->scope > y->scope;
}

/* Lists all loops that were entered, those that may be worth it first. */
static void find_loops(struct parallel_builder *z, const struct tree *whole, const struct counts *c,
		       double least)
{
	uint64_t *totals = loop_totals(z->t), *wholes = loop_totals(whole);
	uint64_t all = z->t->nodes.data[0].total;
	vec_each (r, &c->rows) {
		if (!r->loop || !r->entries || !totals[r->scope])
			continue;
		struct parallel_loop l = assess_loop(r, c, totals[r->scope], wholes[r->scope], all);
		if (l.share < least)
			l.verdict = PARALLEL_SMALL;
		vec_push(&z->x->loops, l);
	}
	if (z->x->loops.len)
		qsort(z->x->loops.data, z->x->loops.len, sizeof(*z->x->loops.data), by_total);
	while (z->compared < z->x->loops.len && z->compared < MAX_COMPARED &&
	       z->x->loops.data[z->compared].verdict == PARALLEL_WORTH_IT)
		z->compared++;
	free(totals);
	free(wholes);
}

/* Finds in one walk how much of each loop is inside each other loop, lexically or through calls. */
static void find_nesting(struct parallel_builder *z)
{
	uint32_t n = z->compared;
	uint32_t *depth = xcalloc(n + (size_t)1, sizeof(*depth));
	VEC(uint32_t) around = {0};
	z->inside = xcalloc((size_t)n * n + 1, sizeof(*z->inside));
	for (struct tree_step s = {0}; tree_walk(z->t, &s);) {
		const struct tree_node *node = &z->t->nodes.data[s.node];
		uint32_t loop = node->kind == TREE_LOOP ? z->loop_of[node->scope] : PROFILE_NONE;
		if (loop >= n)
			continue;
		if (s.leaving) {
			around.len -= !--depth[loop];
		} else if (depth[loop]++) {
			z->x->loops.data[loop].recursive = true;
		} else {
			vec_each (outer, &around)
				z->inside[(size_t)*outer * n + loop] += node->total;
			vec_push(&around, loop);
		}
	}
	vec_free(&around);
	free(depth);
}

/* True if most of the inner loop is inside the outer one, and not also the reverse. */
static bool is_inside(const struct parallel_builder *z, uint32_t inner, uint32_t outer)
{
	uint64_t total = z->x->loops.data[inner].total;
	if (inner == outer || z->inside[(size_t)outer * z->compared + inner] <= total / 2)
		return false;
	return z->inside[(size_t)inner * z->compared + outer] <= z->x->loops.data[outer].total / 2;
}

static bool leads_to(const struct parallel_builder *z, uint32_t from, uint32_t to)
{
	while (from != PROFILE_NONE && from != to)
		from = z->around[from];
	return from == to;
}

/* Builds a forest: the parent of each loop is the smallest loop that contains it. */
static void find_forest(struct parallel_builder *z)
{
	const struct parallel_loop *loops = z->x->loops.data;
	for (uint32_t i = 0; i < z->compared; i++)
		z->around[i] = PROFILE_NONE;
	for (uint32_t i = 0; i < z->compared; i++) {
		uint32_t smallest = PROFILE_NONE;
		for (uint32_t o = 0; o < z->compared; o++) {
			if (!is_inside(z, i, o) || leads_to(z, o, i))
				continue;
			if (smallest == PROFILE_NONE || loops[o].total < loops[smallest].total ||
			    is_inside(z, o, smallest))
				smallest = o;
		}
		z->around[i] = smallest;
	}
}

/* Returns what the best loops below `around` save (PROFILE_NONE: all outermost loops). */
static double find_best(struct parallel_builder *z, uint32_t around)
{
	double sum = 0;
	for (uint32_t i = 0; i < z->compared; i++) {
		if (z->around[i] != around)
			continue;
		double own = z->x->loops.data[i].saves, others = find_best(z, i);
		z->inner[i] = own < OUTER_IS_ENOUGH * others;
		z->best[i] = z->inner[i] ? others : own;
		sum += z->best[i];
	}
	return sum;
}

typedef VEC(uint32_t) loop_list;

/* Collects the loops that make up find_best() below `around`, and those passed over for them. */
static void collect_best(const struct parallel_builder *z, uint32_t around, loop_list *out,
			 loop_list *passed)
{
	for (uint32_t i = 0; i < z->compared; i++) {
		if (z->around[i] != around)
			continue;
		vec_push(z->inner[i] ? passed : out, i);
		if (z->inner[i])
			collect_best(z, i, out, passed);
	}
}

/* Sorts by saving, best first. */
static void rank(const struct parallel_builder *z, loop_list *list)
{
	const struct parallel_loop *loops = z->x->loops.data;
	for (uint32_t i = 1; i < list->len; i++) {
		uint32_t loop = list->data[i], at = i;
		for (; at && loops[list->data[at - 1]].saves < loops[loop].saves; at--)
			list->data[at] = list->data[at - 1];
		list->data[at] = loop;
	}
}

/* Keeps at most MAX_CHOSEN loops of a ranked list, none inside another. A loop that is inside
 * several loops has only one parent in the forest, so the list may still contain a loop and one
 * around it: then the better one is kept. */
static void keep_best(const struct parallel_builder *z, loop_list *list, loop_list *passed)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < list->len && kept < MAX_CHOSEN; i++) {
		uint32_t loop = list->data[i];
		bool in = false, around = false;
		for (uint32_t k = 0; k < kept; k++) {
			in |= is_inside(z, loop, list->data[k]);
			around |= is_inside(z, list->data[k], loop);
		}
		if (!in && !around)
			list->data[kept++] = loop;
		else if (!in)
			vec_push(passed, loop);
	}
	list->len = kept;
}

/* Computes the speed-up by several loops together. Parts that are in two of the loops are
 * counted twice. */
static void add_up(const struct parallel *x, const uint32_t *list, uint32_t count, double *gain)
{
	double share = 0, left[PARALLEL_STEPS] = {0};
	for (uint32_t i = 0; i < count; i++) {
		const struct parallel_loop *l = &x->loops.data[list[i]];
		share += l->share;
		for (int k = 0; k < PARALLEL_STEPS; k++)
			left[k] += l->share * l->part[k];
	}
	double scale = share > 1 ? 1 / share : 1;
	for (int k = 0; k < PARALLEL_STEPS; k++)
		gain[k] = 1 / (1 - share * scale + left[k] * scale);
}

static void add_inside(const struct parallel_builder *z, uint32_t loop)
{
	struct parallel_loop *l = &z->x->loops.data[loop];
	loop_list list = {0}, passed = {0};
	collect_best(z, loop, &list, &passed);
	rank(z, &list);
	keep_best(z, &list, &passed);
	l->first_inside = z->x->inside.len;
	l->inside_count = list.len;
	add_up(z->x, list.data, list.len, l->inside_gain);
	vec_each (i, &list)
		vec_push(&z->x->inside, *i);
	vec_free(&list);
	vec_free(&passed);
}

static void choose(struct parallel_builder *z)
{
	loop_list list = {0}, passed = {0};
	z->around = xmalloc((z->compared + (size_t)1) * sizeof(*z->around));
	z->best = xcalloc(z->compared + (size_t)1, sizeof(*z->best));
	z->inner = xcalloc(z->compared + (size_t)1, sizeof(*z->inner));
	find_forest(z);
	find_best(z, PROFILE_NONE);
	collect_best(z, PROFILE_NONE, &list, &passed);
	rank(z, &list);
	keep_best(z, &list, &passed);
	rank(z, &passed);
	add_up(z->x, list.data, list.len, z->x->together);
	vec_each (i, &list) {
		add_inside(z, *i);
		vec_push(&z->x->chosen, *i);
	}
	vec_each (i, &passed)
		vec_push(&z->x->around, *i);
	vec_free(&list);
	vec_free(&passed);
	free(z->around);
	free(z->best);
	free(z->inner);
}

void parallel_build(struct parallel *x, const struct tree *t, const struct tree *whole,
		    const struct counts *c, double least)
{
	struct parallel_builder z = {.x = x, .t = t};
	size_t size = (t->profile->scopes.len + (size_t)1) * sizeof(*z.loop_of);
	*x = (struct parallel){0};
	z.loop_of = memset(xmalloc(size), 0xff, size);
	find_loops(&z, whole, c, least);
	for (uint32_t i = 0; i < z.compared; i++)
		z.loop_of[x->loops.data[i].scope] = i;
	find_nesting(&z);
	choose(&z);
	free(z.loop_of);
	free(z.inside);
}

void parallel_release(struct parallel *x)
{
	vec_free(&x->loops);
	vec_free(&x->chosen);
	vec_free(&x->inside);
	vec_free(&x->around);
}
