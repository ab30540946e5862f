#include "profile/counts.h"

#include <stdlib.h>

/* `order` has the counters sorted by scope, then address, so that those of one row are adjacent. */
struct counts_builder {
	struct counts *c;
	const struct profile *p;
	VEC(const struct profile_counters *) order;
	uint32_t *row_of; /* by counters; PROFILE_NONE if it has none */
	bool *ended;      /* by counters: it has entries that ended */
};

static int by_scope(const void *a, const void *b)
{
	const struct profile_counters *x = *(const struct profile_counters *const *)a;
	const struct profile_counters *y = *(const struct profile_counters *const *)b;
	if (x->scope != y->scope)
		return x->scope < y->scope ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void add_mix(uint64_t *mix, uint64_t *sum, const struct profile_counters *t)
{
	for (int i = 0; i < INSN_CLASSES; i++) {
		mix[i] += t->mix[i];
		*sum += t->mix[i];
	}
}

static void add_counters(struct counts_row *r, const struct profile_counters *t, bool ended)
{
	r->flags |= t->flags;
	add_mix(r->mix, &r->instructions, t);
	r->entries += t->entries;
	r->iterations += t->iterations;
	if (ended && t->trip_min < r->trip_min)
		r->trip_min = t->trip_min;
	if (ended && t->trip_max > r->trip_max)
		r->trip_max = t->trip_max;
}

/* Selects and sorts the counters. The mix of a function includes that of its loops, so the
 * functions alone add up to everything. */
static void select_counters(struct counts_builder *x, bool (*thread)(void *ctx, uint32_t),
			    void *ctx)
{
	vec_each (t, &x->p->counters) {
		if (thread && !thread(ctx, t->thread))
			continue;
		if (!t->loop)
			add_mix(x->c->mix, &x->c->instructions, t);
		if (t->scope != PROFILE_NONE)
			vec_push(&x->order, t);
	}
	if (x->order.len)
		qsort(x->order.data, x->order.len, sizeof(*x->order.data), by_scope);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

/* Returns the number of distinct threads with entries among counters `first` to `end`. */
static uint32_t count_threads(const struct counts_builder *x, uint32_t first, uint32_t end)
{
	VEC(uint32_t) threads = {0};
	uint32_t count = 0;
	for (uint32_t i = first; i < end; i++)
		if (x->order.data[i]->entries)
			vec_push(&threads, x->order.data[i]->thread);
	if (threads.len)
		qsort(threads.data, threads.len, sizeof(*threads.data), by_number);
	for (uint32_t i = 0; i < threads.len; i++)
		count += !i || threads.data[i] != threads.data[i - 1];
	vec_free(&threads);
	return count;
}

static void make_rows(struct counts_builder *x)
{
	for (uint32_t i = 0, end; i < x->order.len; i = end) {
		const struct profile_counters *first = x->order.data[i];
		struct counts_row row = {
			.scope = first->scope, .loop = first->loop, .trip_min = UINT64_MAX};
		uint64_t before = 0;
		for (end = i; end < x->order.len && x->order.data[end]->scope == row.scope; end++) {
			const struct profile_counters *t = x->order.data[end];
			row.machine_loops += end == i || t->address != before;
			before = t->address;
			add_counters(&row, t, x->ended[t - x->p->counters.data]);
			x->row_of[t - x->p->counters.data] = x->c->rows.len;
		}
		row.trip_min = row.trip_min == UINT64_MAX ? 0 : row.trip_min;
		row.threads = count_threads(x, i, end);
		vec_push(&x->c->rows, row);
	}
}

/* A bucket of the histogram of a row. */
struct row_bucket {
	uint32_t row;
	struct counts_trips trips;
};

static int by_row_and_low(const void *a, const void *b)
{
	const struct row_bucket *x = a, *y = b;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->trips.low != y->trips.low)
		return x->trips.low < y->trips.low ? -1 : 1;
	return x->trips.high < y->trips.high ? -1 : x->trips.high > y->trips.high;
}

static void add_bucket(struct counts *c, const struct row_bucket *b)
{
	struct counts_row *r = &c->rows.data[b->row];
	if (!r->trips_count)
		r->first_trips = c->trips.len;
	if (r->trips_count) {
		struct counts_trips *last = &vec_last(&c->trips);
		if (last->low == b->trips.low && last->high == b->trips.high) {
			last->entries += b->trips.entries;
			return;
		}
	}
	vec_push(&c->trips, b->trips);
	r->trips_count++;
}

/* Narrows the first and last bucket to the known minimum and maximum, which often makes them
 * exact. */
static void trim_histogram(struct counts *c, const struct counts_row *r)
{
	if (!r->trips_count)
		return;
	struct counts_trips *first = &c->trips.data[r->first_trips];
	struct counts_trips *last = first + r->trips_count - 1;
	if (r->trip_min > first->low && r->trip_min <= first->high)
		first->low = r->trip_min;
	if (r->trip_max < last->high && r->trip_max >= last->low)
		last->high = r->trip_max;
}

static void make_histograms(struct counts_builder *x)
{
	VEC(struct row_bucket) buckets = {0};
	vec_each (t, &x->p->trips)
		if (t->entries && x->row_of[t->counters] != PROFILE_NONE)
			vec_push(&buckets, (struct row_bucket){x->row_of[t->counters],
							       {t->low, t->high, t->entries}});
	if (buckets.len)
		qsort(buckets.data, buckets.len, sizeof(*buckets.data), by_row_and_low);
	vec_each (b, &buckets)
		add_bucket(x->c, b);
	vec_each (r, &x->c->rows)
		trim_histogram(x->c, r);
	vec_free(&buckets);
}

void counts_build(struct counts *c, const struct profile *p, bool (*thread)(void *ctx, uint32_t),
		  void *ctx)
{
	struct counts_builder x = {.c = c, .p = p};
	*c = (struct counts){0};
	x.row_of = xmalloc((p->counters.len + (size_t)1) * sizeof(*x.row_of));
	x.ended = xcalloc(p->counters.len + (size_t)1, sizeof(*x.ended));
	for (uint32_t i = 0; i < p->counters.len; i++)
		x.row_of[i] = PROFILE_NONE;
	vec_each (t, &p->trips)
		x.ended[t->counters] |= t->entries > 0;
	select_counters(&x, thread, ctx);
	make_rows(&x);
	make_histograms(&x);
	vec_free(&x.order);
	free(x.row_of);
	free(x.ended);
}

void counts_release(struct counts *c)
{
	vec_free(&c->rows);
	vec_free(&c->trips);
}

const struct counts_row *counts_of(const struct counts *c, uint32_t scope)
{
	uint32_t low = 0, high = c->rows.len;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (c->rows.data[middle].scope < scope)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->rows.len && c->rows.data[low].scope == scope ? &c->rows.data[low] : NULL;
}
