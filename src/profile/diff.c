#include "profile/diff.h"

#include <math.h>
#include <stdlib.h>

#include "base/quantity.h"
#include "profile/diff_match.h"

static const double FALSE_DISCOVERY_RATE = 0.05;
/* 95 % of a normal distribution are within this many standard deviations. */
static const double Z_95 = 1.959964;

/* An amount and the number of samples it consists of. */
struct compared_value {
	uint64_t amount, samples;
};

/* Returns the average amount per sample over the whole profile. */
static double weight_of(const struct diff_value *all)
{
	return all->total_samples ? (double)all->total / (double)all->total_samples : 0;
}

/* One sample is added: having seen no samples does not prove that the amount is zero. */
static double variance(struct compared_value m, double mean_weight)
{
	double weight = m.samples ? (double)m.amount / (double)m.samples : mean_weight;
	return ((double)m.samples + 1) * weight * weight;
}

/* The variance of a share of the whole, in percent. Binomial; one sample is added as in
 * variance(). */
static double share_variance(double percent, uint64_t samples)
{
	double n = (double)samples + 1;
	return samples ? percent * (100 - percent) / n + 1e4 / (n * n) : 0;
}

/* Shares are equal if the ratio of the amounts equals the ratio of the wholes. */
static bool differs(const struct diff *d, bool normalise, uint64_t a, uint64_t b)
{
	if (!normalise)
		return a != b;
	return (unsigned __int128)a * d->b.total != (unsigned __int128)b * d->a.total;
}

static struct diff_change compare_counts(const struct diff *d, bool normalise, uint64_t a,
					 uint64_t b)
{
	double change = a <= b ? (double)(b - a) : -(double)(a - b);
	if (normalise)
		change = percent_of(b, d->b.total) - percent_of(a, d->a.total);
	return (struct diff_change){.change = change, .significant = differs(d, normalise, a, b)};
}

static struct diff_change compare(const struct diff *d, bool normalise, struct compared_value a,
				  struct compared_value b)
{
	if (d->exact)
		return compare_counts(d, normalise, a.amount, b.amount);
	if (normalise) {
		double x = percent_of(a.amount, d->a.total), y = percent_of(b.amount, d->b.total);
		double v = share_variance(x, d->a.total_samples) +
			   share_variance(y, d->b.total_samples);
		return (struct diff_change){.change = y - x, .margin = Z_95 * sqrt(v)};
	}
	double mean_a = weight_of(&d->a), mean_b = weight_of(&d->b);
	double v = variance(a, mean_a > 0 ? mean_a : mean_b) +
		   variance(b, mean_b > 0 ? mean_b : mean_a);
	return (struct diff_change){.change = (double)b.amount - (double)a.amount,
				    .margin = Z_95 * sqrt(v)};
}

static void compare_row(const struct diff *d, bool normalise, struct diff_row *r)
{
	r->self = compare(d, normalise, (struct compared_value){r->a.self, r->a.self_samples},
			  (struct compared_value){r->b.self, r->b.self_samples});
	r->total = compare(d, normalise, (struct compared_value){r->a.total, r->a.total_samples},
			   (struct compared_value){r->b.total, r->b.total_samples});
}

/* Returns the p-value: the probability of at least this change if nothing has changed. */
static double p_value(const struct diff_change *c)
{
	return c->margin > 0 ? erfc(fabs(c->change) / c->margin * Z_95 / sqrt(2)) : 1;
}

typedef VEC(struct diff_change *) change_list;

static int by_p_value(const void *x, const void *y)
{
	double a = p_value(*(struct diff_change *const *)x);
	double b = p_value(*(struct diff_change *const *)y);
	return a < b ? -1 : a > b;
}

/* Benjamini-Hochberg: marks the largest set of changes with the lowest p-values in which a share
 * of FALSE_DISCOVERY_RATE is expected to be chance. */
static void find_significant(change_list *list)
{
	uint32_t count = 0;
	if (list->len)
		qsort(list->data, list->len, sizeof(*list->data), by_p_value);
	for (uint32_t i = 0; i < list->len; i++)
		if (p_value(list->data[i]) <= FALSE_DISCOVERY_RATE * (i + 1) / list->len)
			count = i + 1;
	for (uint32_t i = 0; i < count; i++)
		list->data[i]->significant = true;
}

/* Changes of self and of totals are judged separately: a change in one row also shows in the totals
 * of all its callers. */
static void mark_significant(struct diff *d)
{
	change_list own = {0}, totals = {0};
	if (d->exact)
		return;
	vec_each (r, &d->functions) {
		vec_push(&own, &r->self);
		vec_push(&totals, &r->total);
	}
	vec_each (r, &d->loops) {
		vec_push(&own, &r->self);
		vec_push(&totals, &r->total);
	}
	find_significant(&own);
	find_significant(&totals);
	d->whole.significant = fabs(d->whole.change) > d->whole.margin;
	vec_free(&own);
	vec_free(&totals);
}

static struct diff_value value_of(const struct match_side *s, const struct match_item *i)
{
	const struct flat_row *r = &s->flat->rows.data[i->row];
	return (struct diff_value){r->self, r->self_samples, r->total, r->total_samples};
}

static struct diff_row make_row(const struct match_side *sa, const struct match_item *a,
				const struct match_side *sb, const struct match_item *b)
{
	struct diff_row r = {.scope_a = PROFILE_NONE, .scope_b = PROFILE_NONE};
	if (a) {
		r.scope_a = a->scope;
		r.a = value_of(sa, a);
	}
	if (b) {
		r.scope_b = b->scope;
		r.b = value_of(sb, b);
	}
	return r;
}

#define ADD_ROWS(rows, side_a, side_b, list)                                                       \
	do {                                                                                       \
		vec_each (x, &(side_a)->list)                                                      \
			vec_push(rows, make_row(side_a, x, side_b,                                 \
						x->partner == PROFILE_NONE                         \
							? NULL                                     \
							: &(side_b)->list.data[x->partner]));      \
		vec_each (y, &(side_b)->list)                                                      \
			if (y->partner == PROFILE_NONE)                                            \
				vec_push(rows, make_row(side_a, NULL, side_b, y));                 \
	} while (0)

static int by_significance(const void *x, const void *y)
{
	const struct diff_row *a = x, *b = y;
	double p = fabs(a->self.change), q = fabs(b->self.change);
	if (a->self.significant != b->self.significant)
		return a->self.significant ? -1 : 1;
	if (p != q)
		return p > q ? -1 : 1;
	return a->scope_a < b->scope_a ? -1 : a->scope_a > b->scope_a;
}

static struct diff_value root_value(const struct tree *t)
{
	const struct tree_node *root = &t->nodes.data[0];
	return (struct diff_value){.total = root->total, .total_samples = root->total_samples};
}

static void find_matched(struct diff *d)
{
	uint64_t a = 0, b = 0;
	vec_each (r, &d->functions) {
		bool both = r->scope_a != PROFILE_NONE && r->scope_b != PROFILE_NONE;
		a += both ? r->a.self : 0;
		b += both ? r->b.self : 0;
	}
	d->matched_a = percent_of(a, d->a.total) / 100;
	d->matched_b = percent_of(b, d->b.total) / 100;
}

static void compare_all(struct diff *d, bool normalise)
{
	vec_each (r, &d->functions)
		compare_row(d, normalise, r);
	vec_each (r, &d->loops)
		compare_row(d, normalise, r);
	if (!normalise)
		d->whole =
			compare(d, false, (struct compared_value){d->a.total, d->a.total_samples},
				(struct compared_value){d->b.total, d->b.total_samples});
	mark_significant(d);
	if (d->functions.len)
		qsort(d->functions.data, d->functions.len, sizeof(*d->functions.data),
		      by_significance);
	if (d->loops.len)
		qsort(d->loops.data, d->loops.len, sizeof(*d->loops.data), by_significance);
}

void diff_build(struct diff *d, const struct profile *a, const struct profile *b,
		const struct diff_options *o)
{
	struct tree tree_a, tree_b;
	struct flat flat_a, flat_b;
	*d = (struct diff){.exact = profile_is_counted(a, o->metric_a) &&
				    profile_is_counted(b, o->metric_b)};
	tree_build(&tree_a, a, &(struct tree_options){.metric = o->metric_a, .lines = true});
	tree_build(&tree_b, b, &(struct tree_options){.metric = o->metric_b, .lines = true});
	flat_build(&flat_a, &tree_a);
	flat_build(&flat_b, &tree_b);
	d->a = root_value(&tree_a);
	d->b = root_value(&tree_b);

	struct match_side sa = {.profile = a, .flat = &flat_a},
			  sb = {.profile = b, .flat = &flat_b};
	match_sides(&sa, &sb);
	ADD_ROWS(&d->functions, &sa, &sb, functions);
	ADD_ROWS(&d->loops, &sa, &sb, loops);
	find_matched(d);
	compare_all(d, o->normalise);

	match_release(&sa);
	match_release(&sb);
	flat_release(&flat_a);
	flat_release(&flat_b);
	tree_release(&tree_a);
	tree_release(&tree_b);
}

void diff_release(struct diff *d)
{
	vec_free(&d->functions);
	vec_free(&d->loops);
}
