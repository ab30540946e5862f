/* From the count areas of threads to lists of contexts, calls and so on. The program may have
 * overwritten any of it, or be about to change it: every value is checked. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "probe/region/contexts.h"
#include "probe/region/read.h"
#include "probe/region/region_file.h"

struct context_reader {
	const struct target *target;
	struct context_heap heap;
	struct arena *arena;
	VEC(uint64_t) addresses; /* of contexts, ascending */
	VEC(struct counted_context) contexts;
	VEC(struct counted_word) words; /* of one context */
	VEC(struct counted_call) calls;
	VEC(struct counted_departure) departures;
	VEC(struct counted_frame) frames;
	VEC(struct counted_trips) trips;
};

static uint32_t index_of(const struct context_reader *r, uint64_t address)
{
	const uint64_t *all = r->addresses.data;
	uint32_t n = order_up_to(all, r->addresses.len, sizeof(*all), 0, address);
	return n && all[n - 1] == address ? n - 1 : CONTEXT_NONE;
}

static void add_call(struct context_reader *r, uint64_t parent, uint64_t site, uint64_t child,
		     uint64_t calls)
{
	struct counted_call call = {.parent = index_of(r, parent),
				    .site = (uint32_t)site,
				    .child = index_of(r, child),
				    .calls = calls};
	if (calls && call.parent != CONTEXT_NONE && call.child != CONTEXT_NONE)
		vec_push(&r->calls, call);
}

/* ---- the heap ---- */

static const struct rt_context *context_of(const struct rt_record *record)
{
	return (const struct rt_context *)((const uint8_t *)record + record->context);
}

static uint64_t run_time_address(const struct context_reader *r, const void *p)
{
	return (uint64_t)((const uint8_t *)p - r->heap.bytes) + r->heap.first + r->heap.base;
}

static void add_context(struct context_reader *r, const struct rt_record *record)
{
	const struct rt_context *x = context_of(record);
	const struct rt_counted *table = target_at(r->target, RT_COUNTED);
	uint32_t room = (uint32_t)((record->size - record->context - sizeof(*x)) / 8);
	uint32_t words = x->function < RT_FUNCTIONS ? table[x->function].words : 0;
	vec_clear(&r->words);
	for (uint32_t i = 0; i < (words < room ? words : room); i++)
		if (x->words[i])
			vec_push(&r->words, (struct counted_word){i, x->words[i]});
	struct counted_context c = {.parent = index_of(r, x->parent),
				    .site = (uint32_t)x->site,
				    .function = (uint32_t)x->function,
				    .word_count = r->words.len,
				    .words = ARENA_DUP(r->arena, r->words.data, r->words.len)};
	vec_push(&r->addresses, run_time_address(r, x));
	vec_push(&r->contexts, c);
}

static void add_calls(struct context_reader *r, const struct rt_record *record)
{
	const struct rt_edge *edge = (const struct rt_edge *)record;
	const struct rt_context *x = context_of(record);
	if (!record->context) {
		add_call(r, edge->parent, edge->site, edge->child, edge->calls);
		return;
	}
	uint64_t self = run_time_address(r, x);
	uint32_t slots =
		(uint32_t)((record->context - sizeof(*record)) / sizeof(struct rt_context_slot));
	add_call(r, x->parent, x->site, self, x->calls);
	for (uint32_t site = 0; site < slots; site++) {
		const struct rt_context_slot *slot = (const struct rt_context_slot *)x - (site + 1);
		add_call(r, self, site, slot->child, slot->calls);
	}
}

static int compare_calls(const void *a, const void *b)
{
	const struct counted_call *x = a, *y = b;
	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return x->child < y->child ? -1 : x->child > y->child;
}

static void merge_calls(struct context_reader *r)
{
	uint32_t kept = 0;
	if (r->calls.len)
		qsort(r->calls.data, r->calls.len, sizeof(*r->calls.data), compare_calls);
	vec_each (call, &r->calls) {
		if (kept && !compare_calls(&r->calls.data[kept - 1], call))
			r->calls.data[kept - 1].calls += call->calls;
		else
			r->calls.data[kept++] = *call;
	}
	r->calls.len = kept;
}

static void read_heap(struct context_reader *r)
{
	const struct rt_record *record;
	for (uint64_t at = 0; (record = contexts_record(&r->heap, &at));)
		if (record->context)
			add_context(r, record);
	for (uint64_t at = 0; (record = contexts_record(&r->heap, &at));)
		add_calls(r, record);
	merge_calls(r);
}

/* ---- tables ---- */

typedef void (*entry_visitor)(struct context_reader *r, uint32_t number, const void *entry);

/* Visits only the parts that have memory: most of a table has none. */
static void each_entry(struct context_reader *r, uint64_t table, uint32_t count, size_t size,
		       entry_visitor visit)
{
	uint64_t from = table, to, end = table + count * size, next = 0;
	_Alignas(8) uint8_t entry[sizeof(struct rt_trips)];
	for (; region_next_data(r->target, &from, end, &to); from = to) {
		uint64_t first = (from - table) / size;
		for (next = first < next ? next : first; next < count && table + next * size < to;
		     next++)
			if (region_read(r->target, table + next * size, entry, size))
				visit(r, (uint32_t)next, entry);
	}
}

/* The va of a place (RT_PLACE), whose lower 31 bits are a signed distance; 0 if there is no
 * function with this number. */
static uint64_t place_va(const struct target *t, uint32_t function, uint32_t place)
{
	if (!function || function > t->counting.starts.len)
		return 0;
	int64_t distance = (int32_t)(place << 1) / 2;
	return t->counting.starts.data[function - 1] + (uint64_t)distance;
}

static void add_departure(struct context_reader *r, uint32_t number, const void *entry)
{
	const struct rt_departure *d = entry;
	uint32_t context = d->context ? index_of(r, d->context) : CONTEXT_NONE;
	(void)number;
	if (context == CONTEXT_NONE)
		return;
	struct counted_departure x = {.context = context,
				      .site = (uint32_t)d->site,
				      .left = d->left,
				      .resumed = d->resumed};
	if (x.site & RT_PLACE) {
		x.va = place_va(r->target, r->contexts.data[context].function, x.site);
		x.arriving = true;
		x.site = 0;
	}
	vec_push(&r->departures, x);
}

static void add_trips(struct context_reader *r, uint32_t number, const void *entry)
{
	static const struct rt_trips none;
	struct counted_trips trips = {.loop = number};
	memcpy(&trips.trips, entry, sizeof(trips.trips));
	if (memcmp(&trips.trips, &none, sizeof(none)))
		vec_push(&r->trips, trips);
}

/* ---- frames ---- */

static void add_frames(struct context_reader *r, uint8_t *from, uint64_t size, bool aside)
{
	struct shadow_walk w = {.heap = &r->heap, .at = from, .end = from + size};
	while (shadow_next(&w)) {
		uint32_t slots = (w.size - (uint32_t)sizeof(*w.frame)) / 8;
		struct counted_frame f = {.context = index_of(r, w.frame->context),
					  .site = (uint32_t)(w.frame->key >> RT_KEY_SITE),
					  .aside = aside,
					  .trip_count = slots,
					  .trips = ARENA_DUP(r->arena, w.frame->trips, slots)};
		if (f.context != CONTEXT_NONE)
			vec_push(&r->frames, f);
	}
}

/* Sets the place of the innermost activation. A function that calls nothing has no frame: then one
 * is added. */
static void place_innermost(struct context_reader *r, const struct abandoned_at *abandoned)
{
	struct counted_frame *f = r->frames.len ? &r->frames.data[0] : NULL;
	uint32_t context = abandoned->context ? index_of(r, abandoned->context) : CONTEXT_NONE;
	if (context == CONTEXT_NONE || (abandoned->framed && (!f || f->context != context)))
		return;
	if (!abandoned->framed) {
		vec_push(&r->frames, (struct counted_frame){.context = context});
		f = &vec_last(&r->frames);
	}
	f->site = 0;
	f->va = abandoned->va;
	f->arriving = abandoned->arriving;
	f->held_count = abandoned->held.len;
	f->held = ARENA_DUP(r->arena, abandoned->held.data, abandoned->held.len);
}

static void add_adopted(struct context_reader *r, uint32_t slot)
{
	vec_each (m, &r->target->slots[slot].adopted) {
		uint32_t context = index_of(r, m->context);
		if (context != CONTEXT_NONE)
			vec_push(&r->departures, (struct counted_departure){.context = context,
									    .site = m->site,
									    .va = m->va,
									    .resumed = m->times});
	}
}

static void read_frames(struct context_reader *r, uint32_t slot)
{
	struct frames f;
	if (!frames_copy(r->target, slot, r->heap.state.asides, &f))
		return;
	add_frames(r, f.shadow, f.size, false);
	place_innermost(r, &r->target->slots[slot].abandoned);
	for (uint32_t i = 0; i < f.aside_count; i++)
		if (f.asides[i].bytes <= sizeof(f.asides[i].frames))
			add_frames(r, f.asides[i].frames, f.asides[i].bytes, true);
	frames_release(&f);
}

/* ---- a thread ---- */

#define move_list(thread, name, count, r, list)                                                    \
	do {                                                                                       \
		(thread)->name = ARENA_DUP((r)->arena, (r)->list.data, (r)->list.len);             \
		(thread)->count = (r)->list.len;                                                   \
		vec_free(&(r)->list);                                                              \
	} while (0)

static void read_thread(const struct target *t, uint32_t slot, struct arena *arena,
			struct counted_thread *thread)
{
	struct context_reader r = {.target = t, .arena = arena};
	*thread = (struct counted_thread){.tid = t->slots[slot].tid,
					  .uncounted = !contexts_open(t, slot, &r.heap)};
	if (thread->uncounted)
		return;
	thread->state = r.heap.state;
	read_heap(&r);
	each_entry(&r, RT_COUNT_AREA(slot) + RT_COUNT_DEPARTURES, RT_DEPARTURES,
		   sizeof(struct rt_departure), add_departure);
	each_entry(&r, RT_AREA(slot) + RT_AREA_TRIPS, RT_LOOPS, sizeof(struct rt_trips), add_trips);
	add_adopted(&r, slot);
	read_frames(&r, slot);
	move_list(thread, contexts, context_count, &r, contexts);
	move_list(thread, calls, call_count, &r, calls);
	move_list(thread, departures, departure_count, &r, departures);
	move_list(thread, frames, frame_count, &r, frames);
	move_list(thread, trips, trips_count, &r, trips);
	vec_free(&r.words);
	vec_free(&r.addresses);
	free(r.heap.bytes);
}

void keep_counts(struct target *t, uint32_t slot, bool ended)
{
	struct counted_thread kept;
	read_thread(t, slot, &t->counting.arena, &kept);
	kept.ended = ended;
	vec_push(&t->counting.kept, kept);
}

void target_read_counts(struct target *t, counts_visitor visit, void *ctx)
{
	struct counted_thread now;
	struct arena arena;
	vec_each (kept, &t->counting.kept)
		visit(ctx, kept);
	arena_init(&arena);
	for (uint32_t i = 0; i < RT_AREAS && t->counting.on && !t->counting.over && t->region.map;
	     i++) {
		if (!t->slots[i].tid)
			continue;
		read_thread(t, i, &arena, &now);
		visit(ctx, &now);
		arena_clear(&arena);
	}
	arena_release(&arena);
}
