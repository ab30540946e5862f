/* Finds functions and scopes by address.
 *
 * Several scopes may have an address. The last one of them in preorder is the innermost: a line,
 * or, if the code has no line, the deepest inlined call or loop. A line may have addresses outside
 * of the loop that it is in, so lines take precedence. A sweep over the addresses, with the open
 * ranges in a heap, cuts the ranges of a function into spans with one innermost scope each. */
#include "base/hashmap.h"
#include "base/order.h"
#include "base/vec.h"
#include "structure/structure.h"

/* From `start` up to the start of the next span. */
struct scope_span {
	uint64_t start;
	uint32_t scope;
};

/* The spans of a function. */
struct span_table {
	uint32_t first, count;
};

/* A range of a scope. Where ranges overlap, the one with the highest rank counts. */
struct ranked_range {
	uint64_t start, end;
	uint64_t rank;
	uint32_t scope;
};

/* A range of a function that has several. */
struct split_part {
	uint64_t start, end;
	uint32_t function;
};

struct scope_index {
	const struct structure *s;
	VEC(struct split_part) parts; /* sorted by start */
	struct hashmap indexed;       /* scope of a function -> its table */
	VEC(struct span_table) tables;
	VEC(struct scope_span) spans;          /* those of a function are sorted by start */
	VEC(struct ranked_range) ranges, open; /* of the current function */
};

/* Lines rank above all other scopes. Among lines, the first in preorder ranks highest; among other
 * scopes, the last. */
static uint64_t rank_of(const struct structure *s, uint32_t scope)
{
	return s->scopes[scope].kind == SCOPE_LINE ? UINT64_MAX - scope : scope;
}

static void find_parts(struct scope_index *x)
{
	const struct structure *s = x->s;
	for (uint32_t i = 0; i < s->function_count; i++) {
		const struct scope *c = &s->scopes[s->functions[i].scope];
		const struct address_range *r = s->ranges + c->first_range;
		for (uint32_t k = 0; c->range_count > 1 && k < c->range_count; k++)
			vec_push(&x->parts, (struct split_part){r[k].start, r[k].end, i});
	}
	order_by_address(x->parts.data, x->parts.len, sizeof(struct split_part),
			 offsetof(struct split_part, start));
}

struct scope_index *scope_index_new(const struct structure *s)
{
	struct scope_index *x = xcalloc(1, sizeof(*x));
	x->s = s;
	find_parts(x);
	return x;
}

void scope_index_free(struct scope_index *x)
{
	if (!x)
		return;
	vec_free(&x->parts);
	vec_free(&x->tables);
	vec_free(&x->spans);
	vec_free(&x->ranges);
	vec_free(&x->open);
	hashmap_release(&x->indexed);
	free(x);
}

uint32_t scope_index_function(const struct scope_index *x, uint64_t va)
{
	const struct structure *s = x->s;
	uint32_t n = ORDER_UP_TO(s->functions, s->function_count, start, va);
	if (n && va < s->functions[n - 1].end)
		return n - 1;
	n = ORDER_UP_TO(x->parts.data, x->parts.len, start, va);
	return n && va < x->parts.data[n - 1].end ? x->parts.data[n - 1].function : INDEX_NONE;
}

static void open_range(struct scope_index *x, const struct ranked_range *r)
{
	vec_push(&x->open, *r);
	uint32_t at = x->open.len - 1;
	for (; at && x->open.data[(at - 1) / 2].rank < r->rank; at = (at - 1) / 2)
		x->open.data[at] = x->open.data[(at - 1) / 2];
	x->open.data[at] = *r;
}

static void close_top(struct scope_index *x)
{
	struct ranked_range last = vec_pop(&x->open), *heap = x->open.data;
	uint32_t at = 0, len = x->open.len;
	if (!len)
		return;
	for (uint32_t child; (child = 2 * at + 1) < len; at = child) {
		if (child + 1 < len && heap[child + 1].rank > heap[child].rank)
			child++;
		if (heap[child].rank <= last.rank)
			break;
		heap[at] = heap[child];
	}
	heap[at] = last;
}

static void add_span(struct scope_index *x, uint64_t start, uint32_t scope)
{
	struct span_table *t = &vec_last(&x->tables);
	if (t->count && vec_last(&x->spans).scope == scope)
		return;
	vec_push(&x->spans, (struct scope_span){start, scope});
	t->count++;
}

/* Adds spans for [at, end). Code in none of the ranges belongs to the function itself. */
static void sweep(struct scope_index *x, uint64_t at, uint64_t end, uint32_t function)
{
	while (x->open.len && at < end) {
		struct ranked_range top = x->open.data[0];
		if (top.end > at) {
			add_span(x, at, top.scope);
			at = top.end;
		}
		if (top.end <= end)
			close_top(x);
	}
	if (at < end)
		add_span(x, at, function);
}

static void gather_ranges(struct scope_index *x, uint32_t function)
{
	const struct structure *s = x->s;
	vec_clear(&x->ranges);
	for (uint32_t i = function; i < s->scopes[function].end; i++) {
		const struct address_range *r = s->ranges + s->scopes[i].first_range;
		for (uint32_t k = 0; k < s->scopes[i].range_count; k++)
			if (r[k].start < r[k].end)
				vec_push(&x->ranges, (struct ranked_range){r[k].start, r[k].end,
									   rank_of(s, i), i});
	}
	order_by_address(x->ranges.data, x->ranges.len, sizeof(struct ranked_range),
			 offsetof(struct ranked_range, start));
}

static void add_table(struct scope_index *x, uint32_t function)
{
	uint64_t at = 0;
	vec_push(&x->tables, (struct span_table){.first = x->spans.len});
	gather_ranges(x, function);
	vec_clear(&x->open);
	vec_each (r, &x->ranges) {
		sweep(x, at, r->start, function);
		open_range(x, r);
		at = r->start;
	}
	sweep(x, at, UINT64_MAX, function);
}

uint32_t scope_index_at(struct scope_index *x, uint64_t va)
{
	uint32_t number = scope_index_function(x, va);
	if (number == INDEX_NONE)
		return INDEX_NONE;
	uint32_t function = x->s->functions[number].scope, next = x->tables.len;
	uint32_t table = hashmap_add(&x->indexed, function, next);
	if (table == next)
		add_table(x, function);
	const struct span_table *t = &x->tables.data[table];
	const struct scope_span *spans = x->spans.data + t->first;
	uint32_t n = ORDER_UP_TO(spans, t->count, start, va);
	return n ? spans[n - 1].scope : function;
}
