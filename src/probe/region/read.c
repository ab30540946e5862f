/* Reads values: those of activations that have ended, as the runtime added them up, and those of
 * activations in progress. */
#include "probe/region/read.h"

#include "probe/region/raw.h"
#include "probe/region/readings.h"

enum {
	READ_TRIES = 1000, /* attempts to read an area while its thread does not change it */
	FRAMES_MAX = 2 * RT_WALK_FRAMES, /* only the innermost frames of deeper paths (recursion)
					    are reported */
};

/* What activations in progress add to one path. */
struct running {
	uint32_t path;
	uint64_t count;
	uint64_t total[RT_METRICS], self[RT_METRICS];
};

struct area_reader {
	struct target *target;
	struct rt_area *area;
	int tid;
	VEC(struct running) running;
	struct hashmap running_index; /* path -> running */
	VEC(uint64_t) frames;
};

static struct running *running_of(struct area_reader *r, uint32_t path)
{
	uint32_t i = hashmap_add(&r->running_index, path, r->running.len);
	if (i == r->running.len)
		vec_push(&r->running, (struct running){.path = path});
	return &r->running.data[i];
}

/* Adds the values of one activation. `inner` is the total of the activation directly below it, and
 * becomes the total of this one. */
static void add_running(struct area_reader *r, const struct rt_activation *a,
			const uint64_t now[RT_METRICS], uint64_t inner[RT_METRICS])
{
	struct running *sum = running_of(r, a->path);
	sum->count++;
	for (unsigned m = 0; m < RT_METRICS; m++) {
		bool known = a->metrics >> m & 1 && m < RT_EVENT && now[m] > a->start[m];
		uint64_t total = known ? now[m] - a->start[m] : 0;
		uint64_t below = (a->below_set >> m & 1 ? a->below[m] : 0) + inner[m];
		sum->total[m] += total;
		sum->self[m] += total > below ? total - below : 0;
		inner[m] = total;
	}
}

static void add_stack(struct area_reader *r, uint32_t top, const uint64_t now[RT_METRICS])
{
	const struct rt_activation *all =
		(const void *)((const uint8_t *)r->area + RT_AREA_ACTIVATIONS);
	uint64_t inner[RT_METRICS] = {0};
	for (uint32_t i = top, n = 0; i && i <= RT_ACTIVATIONS && n < RT_ACTIVATIONS;
	     i = all[i - 1].next, n++)
		add_running(r, &all[i - 1], now, inner);
}

/* Tries again if the thread was changing its lists. */
static void find_running(struct area_reader *r)
{
	uint64_t now[RT_METRICS];
	for (unsigned tries = 0; tries < READ_TRIES; tries++) {
		uint64_t before = __atomic_load_n(&r->area->sequence, __ATOMIC_ACQUIRE);
		if (__atomic_load_n(&r->area->busy, __ATOMIC_ACQUIRE))
			continue;
		vec_clear(&r->running);
		hashmap_release(&r->running_index);
		r->running_index = (struct hashmap){0};
		readings_take(r->target, r->area, r->tid, OUTSIDE_METRICS, now);
		for (uint32_t i = 0; i < RT_STACKS; i++)
			add_stack(r, r->area->stacks[i].top, now);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&r->area->sequence, __ATOMIC_RELAXED) == before &&
		    !__atomic_load_n(&r->area->busy, __ATOMIC_RELAXED))
			return;
	}
}

static const struct rt_path *path_at(const struct area_reader *r, uint32_t offset)
{
	uint64_t at = (uint64_t)offset * 8;
	if (!offset || at + sizeof(struct rt_path) > RT_PATH_BYTES)
		return NULL;
	return (const void *)((const uint8_t *)r->area + RT_AREA_PATHS + at);
}

static void push_frames(struct area_reader *r, const uint64_t *frames, uint32_t count)
{
	for (uint32_t i = 0; i < count && r->frames.len < FRAMES_MAX; i++)
		vec_push(&r->frames, frames[i]);
}

/* Collects the frames of the path and of its parents. Returns whether they reach the root. */
static bool gather_frames(struct area_reader *r, const struct rt_path *p)
{
	struct raw_path raw;
	vec_clear(&r->frames);
	for (; p && r->frames.len < FRAMES_MAX; p = path_at(r, p->parent)) {
		if (p->raw) {
			bool found = p->raw != RT_RAW_UNKNOWN && raw_find(r->target, p->raw, &raw);
			if (found)
				push_frames(r, raw.frames, raw.count);
			return found && raw.complete;
		}
		push_frames(r, p->frames, p->frame_count);
		if (!p->parent)
			return p->complete;
	}
	return false;
}

/* The runtime did not know the callers of a raw path: they are checked here. */
static bool is_recursive(const struct area_reader *r, const struct rt_path *p)
{
	const struct rt_subject *s = target_subject(r->target, p->subject);
	if (!p->raw || s->flags & RT_LOOP)
		return p->recursive;
	vec_each (f, &r->frames)
		if (*f > s->start && *f <= s->end)
			return true;
	return false;
}

static void visit_path(struct area_reader *r, uint32_t offset, const struct rt_path *p,
		       path_visitor visit, void *ctx)
{
	uint32_t i = hashmap_get(&r->running_index, offset);
	const struct running none = {0}, *run = i == HASHMAP_NONE ? &none : &r->running.data[i];
	struct path_value v = {.subject = p->subject,
			       .tid = r->tid,
			       .complete = gather_frames(r, p),
			       .calls = p->calls,
			       .running = run->count};
	v.recursive = is_recursive(r, p);
	v.frames = r->frames.data;
	v.frame_count = r->frames.len;
	for (unsigned m = 0; m < RT_METRICS; m++) {
		v.total[m] = reading_ns(m, p->total[m] + run->total[m]);
		v.self[m] = reading_ns(m, p->self[m] + run->self[m]);
	}
	visit(ctx, &v);
}

static void read_area(struct target *t, uint32_t area, int tid, path_visitor visit, void *ctx)
{
	struct area_reader r = {.target = t, .area = target_area(t, area), .tid = tid};
	find_running(&r);
	uint32_t offset = __atomic_load_n(&r.area->first_path, __ATOMIC_ACQUIRE);
	for (const struct rt_path *p; (p = path_at(&r, offset)); offset = p->next)
		if (target_reports(t, p->subject, REPORT_PATHS))
			visit_path(&r, offset, p, visit, ctx);
	vec_free(&r.running);
	vec_free(&r.frames);
	hashmap_release(&r.running_index);
}

static void visit_kept(struct target *t, path_visitor visit, void *ctx)
{
	vec_each (k, &t->kept.paths) {
		struct path_value v = k->value;
		v.frames = t->kept.frames.data + k->first_frame;
		visit(ctx, &v);
	}
}

void target_read(struct target *t, path_visitor visit, void *ctx)
{
	if (t->region.in)
		raw_resolve(t);
	for (uint32_t i = 0; t->region.in && i < RT_AREAS; i++) {
		if (!t->slots[i].tid)
			continue;
		read_area(t, i, t->slots[i].tid, visit, ctx);
		read_area(t, i + RT_AREAS, t->slots[i].tid, visit, ctx);
	}
	visit_kept(t, visit, ctx);
}

/* ---- calls ---- */

static void visit_calls(struct target *t, uint32_t area, call_visitor visit, void *ctx)
{
	const struct rt_target *table =
		(const void *)((uint8_t *)target_area(t, area) + RT_AREA_TARGETS);
	for (uint32_t i = 0; i < RT_TARGETS; i++) {
		uint64_t site = __atomic_load_n(&table[i].site, __ATOMIC_ACQUIRE);
		if (site)
			visit(ctx, site, table[i].target, table[i].count);
	}
}

static void keep_call(void *ctx, uint64_t site, uint64_t target, uint64_t count)
{
	struct target *t = ctx;
	uint64_t key = hash_bytes(&(uint64_t[]){site, target}, 2 * sizeof(uint64_t), 0);
	uint32_t known = hashmap_add(&t->kept.call_index, key, t->kept.calls.len);
	if (known == t->kept.calls.len)
		vec_push(&t->kept.calls, (struct rt_target){site, target, 0});
	t->kept.calls.data[known].count += count;
}

void read_calls(struct target *t, call_visitor visit, void *ctx)
{
	for (uint32_t i = 0; t->region.in && i < 2 * RT_AREAS; i++)
		if (t->slots[i % RT_AREAS].tid)
			visit_calls(t, i, visit, ctx);
	vec_each (k, &t->kept.calls)
		visit(ctx, k->site, k->target, k->count);
}

static void add_values(struct path_value *sum, const struct path_value *v)
{
	sum->calls += v->calls;
	for (unsigned m = 0; m < RT_METRICS; m++) {
		sum->total[m] += v->total[m];
		sum->self[m] += v->self[m];
	}
}

/* Activations in progress when the thread ended count with their time up to then. */
static void keep_one(void *ctx, const struct path_value *v)
{
	struct target *t = ctx;
	struct kept_path k = {.value = *v, .first_frame = t->kept.frames.len};
	uint64_t key = hash_bytes(v->frames, v->frame_count * sizeof(*v->frames),
				  (uint64_t)v->tid << 32 | v->subject << 1 | v->recursive);
	uint32_t known = hashmap_add(&t->kept.path_index, key, t->kept.paths.len);
	if (known != t->kept.paths.len) {
		add_values(&t->kept.paths.data[known].value, v);
		return;
	}
	for (uint32_t i = 0; i < v->frame_count; i++)
		vec_push(&t->kept.frames, v->frames[i]);
	k.value.running = 0;
	vec_push(&t->kept.paths, k);
}

void keep_paths(struct target *t, uint32_t area, int tid)
{
	raw_resolve(t);
	read_area(t, area, tid, keep_one, t);
	const uint64_t *counters =
		(const void *)((uint8_t *)target_area(t, area) + RT_AREA_COUNTERS);
	vec_reserve(&t->kept.counters, t->region.counters);
	while (t->kept.counters.len < t->region.counters)
		vec_push(&t->kept.counters, 0);
	visit_calls(t, area, keep_call, t);
	for (uint32_t i = 0; i < t->region.counters; i++)
		if (counters[i])
			t->kept.counters.data[i] += counters[i];
}

uint64_t read_counter(struct target *t, uint32_t counter)
{
	uint64_t sum = counter < t->kept.counters.len ? t->kept.counters.data[counter] : 0;
	for (uint32_t i = 0; t->region.in && i < 2 * RT_AREAS; i++) {
		const uint64_t *counters =
			(const void *)((uint8_t *)target_area(t, i) + RT_AREA_COUNTERS);
		if (t->slots[i % RT_AREAS].tid)
			sum += __atomic_load_n(&counters[counter], __ATOMIC_RELAXED);
	}
	return sum;
}
