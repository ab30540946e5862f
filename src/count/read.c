#include "count/read.h"

enum { PROGRESS_STEP = 1024 }; /* contexts between two reports of progress */

/* The contexts of a thread, while they are read. */
struct thread_reading {
	struct count_reader *r;
	struct target *target;
	const struct counted_thread *t;
	uint32_t thread;              /* row */
	const struct study **studies; /* of each context; NULL: the root, or no study */
	uint32_t *nodes;              /* of each context: its caller's frame, or the root */
	struct flat_counts **flats;   /* of each study, or NULL */
	struct arena *tmp, *kept;
};

/* What a thread executed of a function, in all contexts. */
struct flat_counts {
	const struct study *study;
	uint64_t *executions;           /* of each run */
	uint64_t *entries, *iterations; /* of each loop */
	bool *vague;                    /* of each loop: not all its entries are known */
};

static const struct study *study_of(struct thread_reading *d, uint32_t function)
{
	struct counted_function what;
	if (!target_counted(d->target, function, &what))
		return NULL;
	return studies_find(d->r->studies, &what);
}

static uint32_t module_of(struct thread_reading *d, const struct study *y)
{
	return modules_find(d->r->modules, y->what.code);
}

/* ---- calling contexts ---- */

/* The node of a call in a context. */
static uint32_t call_node(struct thread_reading *d, uint32_t context, uint32_t site)
{
	const struct study *y = d->studies[context];
	uint32_t at = d->nodes[context];
	if (!y || !site || site > y->counters.site_count)
		return at;
	const struct counters_site *s = &y->counters.sites[site - 1];
	return profile_child(d->r->profile, at, NODE_FRAME, module_of(d, y), s->va + s->length - 1);
}

static void place_contexts(struct thread_reading *d)
{
	for (uint32_t i = 0; i < d->t->context_count; i++) {
		const struct counted_context *c = &d->t->contexts[i];
		d->studies[i] = study_of(d, c->function);
		d->nodes[i] = c->parent == CONTEXT_NONE ? 0 : call_node(d, c->parent, c->site);
	}
}

/* Adds the calls along each edge between contexts; also those of recursion, which are counted in a
 * context further out. */
static void add_calls(struct thread_reading *d, uint64_t *called)
{
	for (uint32_t i = 0; i < d->t->call_count; i++) {
		const struct counted_call *e = &d->t->calls[i];
		const struct study *callee = d->studies[e->child];
		called[e->child] += e->calls;
		if (!callee || !e->calls)
			continue;
		uint32_t node = call_node(d, e->parent, e->site);
		node = profile_child(d->r->profile, node, NODE_LEAF, module_of(d, callee),
				     callee->what.va);
		profile_add(d->r->profile, node, d->thread, d->r->calls, e->calls, e->calls);
		uint32_t own = profile_counters(d->r->profile, module_of(d, callee),
						callee->what.va, false, d->thread);
		d->r->profile->counters.data[own].entries += e->calls;
	}
}

/* ---- counters ---- */

static void add_runs(struct thread_reading *d, uint32_t context, const struct counters_reading *r,
		     const int64_t *counts, struct flat_counts *flat)
{
	const struct study *y = d->studies[context];
	struct profile *p = d->r->profile;
	uint64_t *executed = ARENA_ARRAY(d->tmp, uint64_t, y->place_count);
	uint64_t *instructions = ARENA_ARRAY(d->tmp, uint64_t, y->place_count);
	for (uint32_t b = 0; b < y->block_count; b++) {
		for (uint32_t i = y->first_run[b]; i < y->first_run[b + 1]; i++) {
			const struct insn_run *run = &y->runs[i];
			uint64_t n = counters_executions(&y->counters, r, counts, b, run->first);
			executed[run->place] += n;
			instructions[run->place] += n * run->count;
			flat->executions[i] += n;
		}
	}
	for (uint32_t i = 0; i < y->place_count; i++) {
		if (!executed[i])
			continue;
		uint32_t leaf = profile_child(p, d->nodes[context], NODE_LEAF, module_of(d, y),
					      y->places[i]);
		profile_add(p, leaf, d->thread, d->r->instructions, executed[i], instructions[i]);
	}
}

static bool holds_entry(const struct study *y, uint32_t loop)
{
	uint32_t l = y->forest.innermost[y->entry];
	while (l != LOOP_NONE && l != loop)
		l = y->forest.loops[l].parent;
	return l == loop;
}

/* Entries are the executions of the header that no back edge of the loop leads to. */
static bool count_entries_by_header(const struct study *y, const int64_t *counts, uint32_t loop,
				    uint64_t *out)
{
	const struct loop *l = &y->forest.loops[loop];
	*out = (uint64_t)counts[y->counters.block_edge[l->header]];
	for (uint32_t i = l->first_back; i < l->first_back + l->back_count; i++) {
		uint64_t n = counters_edge(&y->counters, counts, y->forest.edges[i]);
		if (n == UINT64_MAX || n > *out)
			return false;
		*out -= n;
	}
	return !l->irreducible;
}

/* A loop that contains the function's first block is also entered with each call, along no edge. If
 * entries along an edge cannot be counted separately, they follow from the executions of the
 * header. */
static bool count_entries(const struct study *y, const int64_t *counts, uint64_t calls,
			  uint32_t loop, uint64_t *out)
{
	const struct loop *l = &y->forest.loops[loop];
	*out = holds_entry(y, loop) ? calls : 0;
	for (uint32_t i = l->first_entry; i < l->first_entry + l->entry_count; i++) {
		uint64_t n = counters_edge(&y->counters, counts, y->forest.edges[i]);
		if (n == UINT64_MAX)
			return count_entries_by_header(y, counts, loop, out);
		*out += n;
	}
	return true;
}

/* Executions of the header, without those in which the test at the top leaves the loop. In an
 * irreducible region, an iteration begins when control goes back to one of its entries. */
static uint64_t count_iterations(const struct study *y, const int64_t *counts, uint32_t loop)
{
	const struct loop *l = &y->forest.loops[loop];
	uint64_t n = (uint64_t)counts[y->counters.block_edge[l->header]], tested = 0;
	for (uint32_t i = l->first_exit; i < l->first_exit + l->exit_count; i++)
		if (y->counters.tests[y->forest.edges[i]] == loop)
			tested += counters_edge(&y->counters, counts, y->forest.edges[i]);
	return n > tested ? n - tested : 0;
}

static void add_loops(const struct study *y, const int64_t *counts, uint64_t calls,
		      struct flat_counts *flat)
{
	for (uint32_t l = 0; l < y->forest.loop_count; l++) {
		uint64_t entries;
		bool known = count_entries(y, counts, calls, l, &entries);
		flat->vague[l] |= !known;
		flat->entries[l] += known ? entries : 0;
		flat->iterations[l] += count_iterations(y, counts, l);
	}
}

static struct flat_counts *flat_of(struct thread_reading *d, const struct study *y)
{
	struct flat_counts **flat = &d->flats[y->number];
	if (*flat)
		return *flat;
	struct arena *a = d->kept;
	*flat = ARENA_NEW(a, struct flat_counts);
	**flat = (struct flat_counts){
		.study = y,
		.executions = ARENA_ARRAY(a, uint64_t, y->first_run[y->block_count] + 1),
		.entries = ARENA_ARRAY(a, uint64_t, y->forest.loop_count + 1),
		.iterations = ARENA_ARRAY(a, uint64_t, y->forest.loop_count + 1),
		.vague = ARENA_ARRAY(a, bool, y->forest.loop_count + 1),
	};
	return *flat;
}

/* Where an activation was left: in a block, if `va` is known. `arriving`: control is about to
 * arrive there from elsewhere. */
static struct counters_departure place_of(const struct thread_reading *d, const struct study *y,
					  uint64_t va, bool arriving)
{
	struct counters_place p = {.block = BLOCK_NONE};
	if (va)
		p = study_place(d->r->studies, y, va);
	return (struct counters_departure){
		.block = p.block, .insn = p.insn, .arriving = arriving && p.first};
}

/* Adds the executions so far of loops that are running in a frame: they are not in the counters
 * yet. */
static void add_running(const struct study *y, const struct counted_frame *f, uint32_t block,
			uint64_t *words)
{
	uint32_t l = block == BLOCK_NONE ? LOOP_NONE : y->forest.innermost[block];
	for (; l != LOOP_NONE; l = y->forest.loops[l].parent) {
		const struct counters_loop *loop = &y->counters.loops[l];
		if (loop->method == TRIP_FRAME && loop->slot < f->trip_count)
			words[loop->word] += f->trips[loop->slot];
	}
	for (uint32_t i = 0; i < f->held_count; i++)
		if (f->held[i].number < y->counters.word_count)
			words[f->held[i].number] += f->held[i].value;
}

static struct counters_departure running_departure(const struct thread_reading *d,
						   const struct study *y,
						   const struct counted_frame *f, uint64_t *words)
{
	struct counters_departure out = place_of(d, y, f->site ? 0 : f->va, f->arriving);
	bool in_call = f->site && f->site <= y->counters.site_count;
	out.site = f->site;
	out.left = 1;
	add_running(y, f, in_call ? y->counters.sites[f->site - 1].block : out.block, words);
	return out;
}

/* The departures of a context. Activations that have not ended count as left. */
static const struct counters_departure *departures_of(struct thread_reading *d, uint32_t context,
						      uint64_t *words, uint32_t *count)
{
	VEC(struct counters_departure) list = {0};
	const struct counted_thread *t = d->t;
	const struct study *y = d->studies[context];
	for (uint32_t i = 0; i < t->departure_count; i++) {
		const struct counted_departure *x = &t->departures[i];
		if (x->context != context)
			continue;
		struct counters_departure at = place_of(d, y, x->site ? 0 : x->va, x->arriving);
		at.site = x->site;
		at.left = x->left;
		at.resumed = x->resumed;
		vec_push(&list, at);
	}
	for (uint32_t i = 0; i < t->frame_count; i++)
		if (t->frames[i].context == context)
			vec_push(&list, running_departure(d, y, &t->frames[i], words));
	struct counters_departure *all = ARENA_DUP(d->tmp, list.data, list.len);
	*count = list.len;
	vec_free(&list);
	return all;
}

static void add_counters(struct thread_reading *d, uint32_t context, uint64_t calls)
{
	const struct study *y = d->studies[context];
	const struct counted_context *c = &d->t->contexts[context];
	bool good;
	if (!y)
		return;
	uint64_t *words = xcalloc(y->counters.word_count + (size_t)1, sizeof(*words));
	for (uint32_t i = 0; i < c->word_count; i++)
		if (c->words[i].number < y->counters.word_count)
			words[c->words[i].number] = c->words[i].value;
	struct counters_reading r = {.words = words, .calls = calls};
	r.departures = departures_of(d, context, words, &r.departure_count);
	int64_t *counts = counters_solve(&y->counters, &r, &good, d->tmp);
	d->r->contradictions += !good;
	struct flat_counts *flat = flat_of(d, y);
	add_runs(d, context, &r, counts, flat);
	add_loops(y, counts, calls, flat);
	free(words);
}

/* ---- rows of the profile ---- */

static uint32_t row_of_loop(struct thread_reading *d, const struct study *y, uint32_t loop)
{
	return profile_counters(d->r->profile, module_of(d, y), y->headers[loop], true, d->thread);
}

static void add_mix(struct profile *p, uint32_t row, const struct insn_run *run,
		    uint64_t executions)
{
	for (int i = 0; i < INSN_CLASSES; i++)
		p->counters.data[row].mix[i] += executions * run->mix[i];
}

static void add_loop_row(struct thread_reading *d, const struct flat_counts *flat, uint32_t loop)
{
	const struct study *y = flat->study;
	uint32_t row = row_of_loop(d, y, loop); /* may move all rows */
	struct profile_counters *t = &d->r->profile->counters.data[row];
	t->iterations += flat->iterations[loop];
	t->entries += flat->entries[loop];
	if (y->forest.loops[loop].irreducible)
		t->flags |= COUNTS_IRREDUCIBLE;
	if (flat->vague[loop] || y->counters.loops[loop].method == TRIP_NONE)
		t->flags |= COUNTS_TRIPS_UNKNOWN;
}

/* Adds what the function and its loops executed. */
static void add_rows(struct thread_reading *d, const struct flat_counts *flat)
{
	const struct study *y = flat->study;
	struct profile *p = d->r->profile;
	uint32_t own = profile_counters(p, module_of(d, y), y->what.va, false, d->thread);
	for (uint32_t b = 0; b < y->block_count; b++) {
		uint32_t loop = y->forest.innermost[b];
		for (uint32_t i = y->first_run[b]; i < y->first_run[b + 1]; i++) {
			uint64_t n = flat->executions[i];
			if (!n)
				continue;
			uint32_t leaf =
				profile_child(p, 0, NODE_LEAF, module_of(d, y), y->runs[i].va);
			profile_add(p, leaf, d->thread, d->r->runs, n, n * y->runs[i].count);
			add_mix(p, own, &y->runs[i], n);
			if (loop != LOOP_NONE)
				add_mix(p, row_of_loop(d, y, loop), &y->runs[i], n);
		}
	}
	for (uint32_t l = 0; l < y->forest.loop_count; l++)
		if (flat->entries[l] || flat->iterations[l])
			add_loop_row(d, flat, l);
}

/* ---- trip counts ---- */

static void note_limits(struct count_reader *r, uint32_t row, uint64_t low, uint64_t high)
{
	struct profile_counters *t = &r->profile->counters.data[row];
	while (r->limited.len <= row)
		vec_push(&r->limited, false);
	bool first = !r->limited.data[row];
	r->limited.data[row] = true;
	if (first || low < t->trip_min)
		t->trip_min = low;
	if (first || high > t->trip_max)
		t->trip_max = high;
}

static void add_histogram(struct thread_reading *d, uint32_t row, const struct rt_trips *h)
{
	struct profile *p = d->r->profile;
	for (uint32_t i = 0; i < ARRAY_SIZE(h->exact); i++) {
		if (!h->exact[i])
			continue;
		profile_add_trips(p, row, i, i, h->exact[i]);
		note_limits(d->r, row, i, i);
	}
	for (uint32_t i = 0; i < ARRAY_SIZE(h->large); i++) {
		uint64_t low = (uint64_t)RT_EXACT_TRIPS << i;
		if (!h->large[i])
			continue;
		profile_add_trips(p, row, low, low + (low - 1), h->large[i]);
		note_limits(d->r, row, h->large_min, h->large_max);
	}
}

static const struct rt_trips *trips_of(const struct counted_thread *t, uint32_t loop)
{
	uint32_t low = 0, high = t->trips_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (t->trips[middle].loop < loop)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->trips_count && t->trips[low].loop == loop ? &t->trips[low].trips : NULL;
}

/* Adds the trip counts of a function by its number: a library that is loaded again has the same
 * functions under other numbers. */
static void add_trips(struct thread_reading *d, uint32_t function)
{
	const struct study *y = study_of(d, function);
	struct counted_function what;
	if (!y || !target_counted(d->target, function, &what))
		return;
	for (uint32_t l = 0; l < y->forest.loop_count; l++) {
		const struct rt_trips *h = trips_of(d->t, what.first_loop + l);
		if (h && y->counters.loops[l].method != TRIP_NONE)
			add_histogram(d, row_of_loop(d, y, l), h);
	}
}

/* ---- threads ---- */

typedef VEC(uint32_t) number_list;

/* Lists the functions that were executed at all. */
static void list_functions(const struct counted_thread *t, number_list *out)
{
	struct hashmap done = {0};
	for (uint32_t i = 0; i < t->context_count; i++) {
		uint32_t function = t->contexts[i].function;
		if (hashmap_add(&done, function, i) == i)
			vec_push(out, function);
	}
	hashmap_release(&done);
}

/* Recovers the source structure of all listed functions at once. */
static void prepare(struct count_reader *r, struct target *target, const number_list *functions)
{
	VEC(struct counted_function) list = {0};
	vec_each (number, functions) {
		struct counted_function what;
		if (target_counted(target, *number, &what))
			vec_push(&list, what);
	}
	studies_prepare(r->studies, list.data, list.len);
	vec_free(&list);
}

struct process_visit {
	struct count_reader *r;
	struct target *target;
};

static void read_thread(void *ctx, const struct counted_thread *t)
{
	const struct process_visit *v = ctx;
	struct arena tmp, kept;
	if (t->uncounted)
		return;
	arena_init(&tmp);
	arena_init(&kept);
	v->r->dropped += t->state.dropped_busy + t->state.dropped_calls +
			 t->state.dropped_departures + t->state.dropped_frames +
			 t->state.dropped_asides + t->state.dropped_contexts;
	v->r->merged += t->state.merged;
	v->r->cut += t->state.cut;
	struct thread_reading d = {
		.r = v->r, .target = v->target, .t = t, .tmp = &tmp, .kept = &kept};
	d.thread = watched_row(v->r->watched,
			       watched_thread(v->r->watched, target_pid(v->target), t->tid));
	d.studies = xcalloc(t->context_count + (size_t)1, sizeof(*d.studies));
	d.nodes = xcalloc(t->context_count + (size_t)1, sizeof(*d.nodes));
	uint64_t *called = xcalloc(t->context_count + (size_t)1, sizeof(*called));
	number_list functions = {0};
	list_functions(t, &functions);
	prepare(v->r, v->target, &functions);
	place_contexts(&d);
	d.flats = xcalloc(studies_count(v->r->studies) + (size_t)1, sizeof(*d.flats));
	add_calls(&d, called);
	for (uint32_t i = 0; i < t->context_count; i++) {
		add_counters(&d, i, called[i]);
		arena_clear(&tmp);
		if (v->r->progress && i % PROGRESS_STEP == 0)
			v->r->progress(v->r->ctx, i, t->context_count);
	}
	for (uint32_t i = 0; i < studies_count(v->r->studies); i++)
		if (d.flats[i])
			add_rows(&d, d.flats[i]);
	vec_each (number, &functions)
		add_trips(&d, *number);
	vec_free(&functions);
	free(called);
	free(d.flats);
	arena_release(&kept);
	free(d.nodes);
	free(d.studies);
	arena_release(&tmp);
}

void count_read(struct count_reader *r, struct target *t)
{
	struct process_visit v = {r, t};
	target_read_counts(t, read_thread, &v);
}
