/* What threads waited for, from the cells that the runtime fills (struct rt_wait_cell), and what
 * they are waiting for now. */
#include <string.h>
#include <time.h>

#include "isa/native.h"
#include "probe/region/areas.h"
#include "probe/region/read.h"
#include "probe/region/readings.h"

enum {
	SNAPSHOT_TRIES = 400, /* attempts to read an area while its thread does not change it */
	PAUSES_IF_BUSY = 10,  /* pauses until a thread is outside of the runtime */
	PAUSES_MAX = 4000, /* pauses until a thread has finished a change: it may not get a CPU */
	PAUSE_NS = 50000,
	/* Cells of ended threads that are kept: above this number, threads are not kept separately,
	 * and above twice this number, objects neither. */
	KEPT_CELLS_MAX = 1 << 12,
	CELLS_BEFORE_CLEANUP = RT_WAIT_CELLS / 2,
};

struct reported_wait {
	struct rt_wait_cell cell;
	uint64_t in_progress; /* ticks of the wait in progress, which the cell includes */
};

/* The waits of an area at one time. */
struct snapshot {
	VEC(struct reported_wait) waits;
	struct hashmap active; /* subjects that have got their part of the wait in progress */
};

static struct rt_wait_cell *cells_of(struct rt_area *a)
{
	return (struct rt_wait_cell *)((uint8_t *)a + RT_AREA_WAITS);
}

static uint32_t cell_count(const struct rt_area *a)
{
	uint32_t n = __atomic_load_n(&a->wait_cells, __ATOMIC_ACQUIRE);
	return n < RT_WAIT_CELLS ? n : RT_WAIT_CELLS;
}

static void copy_cells(struct snapshot *s, struct rt_area *a)
{
	const struct rt_wait_cell *cells = cells_of(a);
	vec_clear(&s->waits);
	for (uint32_t i = 0, n = cell_count(a); i < n; i++)
		vec_push(&s->waits, (struct reported_wait){.cell = cells[i]});
}

static bool same_key(const struct rt_wait_cell *a, const struct rt_wait_cell *b)
{
	return a->pc == b->pc && a->object == b->object && a->subject == b->subject &&
	       a->call == b->call;
}

static struct reported_wait *find_or_add_wait(struct snapshot *s, const struct rt_wait_cell *key)
{
	vec_each (w, &s->waits)
		if (same_key(&w->cell, key))
			return w;
	vec_push(&s->waits, (struct reported_wait){.cell = *key});
	return &vec_last(&s->waits);
}

static void add_in_progress(struct snapshot *s, const struct rt_wait_cell *key, uint64_t since,
			    uint64_t now)
{
	struct reported_wait *w = find_or_add_wait(s, key);
	w->in_progress = now > since ? now - since : 0;
	w->cell.ticks += w->in_progress;
}

/* Adds the wait in progress to the active subjects, as the runtime does when the wait ends: see
 * add_for_stack() in runtime/cells.c. */
static void add_subjects(struct snapshot *s, const struct rt_area *a, struct rt_wait_cell key,
			 uint32_t top, uint64_t now)
{
	const struct rt_activation *all = (const void *)((const uint8_t *)a + RT_AREA_ACTIVATIONS);
	bool own = a->wait_cfa > a->stack_low && a->wait_cfa <= a->stack_high;
	for (uint32_t i = top, n = 0; i && i <= RT_ACTIVATIONS && n < RT_ACTIVATIONS;
	     i = all[i - 1].next, n++) {
		const struct rt_activation *it = &all[i - 1];
		if ((own && it->cfa < a->wait_cfa) || !(it->metrics & 1 << RT_WALL) ||
		    hashmap_add(&s->active, it->subject, n) != n)
			continue;
		uint64_t since = it->start[RT_WALL];
		key.subject = it->subject;
		add_in_progress(s, &key, since > a->wait_since ? since : a->wait_since, now);
	}
}

/* Adds the wait in progress, but only if it will be in a cell when it ends. */
static void add_waiting(struct snapshot *s, const struct target *t, const struct rt_area *a)
{
	uint64_t now = ticks_now();
	struct rt_wait_cell key = {.pc = a->wait_pc,
				   .object = a->wait_object,
				   .subject = SUBJECT_NONE,
				   .call = a->wait_number};
	hashmap_release(&s->active);
	if (!a->wait_since || !target_header(t)->watch_waits)
		return;
	add_in_progress(s, &key, a->wait_since, now);
	bool own = a->wait_cfa > a->stack_low && a->wait_cfa <= a->stack_high;
	for (uint32_t i = 0; i < (own ? 1 : RT_STACKS); i++)
		add_subjects(s, a, key, a->stacks[i].top, now);
}

/* Whether the wait has not changed since `serial` and `sequence` were read. If a wait is in
 * progress, the lists of activations must not have changed either. */
static bool is_as_before(const struct rt_area *a, uint32_t serial, uint64_t sequence)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&a->wait_serial, __ATOMIC_RELAXED) == serial &&
	       (!a->wait_since || __atomic_load_n(&a->sequence, __ATOMIC_RELAXED) == sequence);
}

/* Takes a consistent snapshot if it can. If every attempt finds a change, only the cells are
 * copied. That is right for a thread that changes something all the time: it is in no long wait.
 * The values do not decrease either, because a wait that was reported in progress before has ended
 * since, and is in a cell. But a thread that was preempted in the middle of a change may be about
 * to end a long wait: it gets some time to finish. */
static void take_snapshot(struct snapshot *s, const struct target *t, uint32_t area)
{
	struct rt_area *a = target_area(t, area);
	for (unsigned tries = 0, pauses = 0; tries < SNAPSHOT_TRIES && pauses < PAUSES_MAX;) {
		uint32_t serial = __atomic_load_n(&a->wait_serial, __ATOMIC_ACQUIRE);
		uint64_t sequence = __atomic_load_n(&a->sequence, __ATOMIC_ACQUIRE);
		bool busy = a->wait_since && __atomic_load_n(&a->busy, __ATOMIC_ACQUIRE);
		if (serial % 2 || (busy && pauses < PAUSES_IF_BUSY)) {
			nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
			pauses++;
			continue;
		}
		tries++;
		copy_cells(s, a);
		add_waiting(s, t, a);
		if (is_as_before(a, serial, sequence))
			return;
	}
	copy_cells(s, a);
}

static void release_snapshot(struct snapshot *s)
{
	vec_free(&s->waits);
	hashmap_release(&s->active);
}

static bool is_reported(const struct target *t, uint32_t subject)
{
	return subject == SUBJECT_NONE || target_reports(t, subject, REPORT_WAITS);
}

static void visit_one(const struct rt_wait_cell *c, int tid, uint64_t in_progress,
		      wait_visitor visit, void *ctx)
{
	visit(ctx, &(struct wait_value){.tid = tid,
					.subject = c->subject,
					.call = c->call,
					.pc = c->pc,
					.object = c->object,
					.count = c->count,
					.wall_ns = reading_ns(RT_WALL, c->ticks),
					.bytes = c->bytes,
					.small_count = c->small_count,
					.small_ns = reading_ns(RT_WALL, c->small_ticks),
					.since_ns = reading_ns(RT_WALL, in_progress)});
}

static void visit_area(struct target *t, uint32_t area, int tid, wait_visitor visit, void *ctx)
{
	struct snapshot s = {0};
	take_snapshot(&s, t, area);
	vec_each (w, &s.waits)
		if (is_reported(t, w->cell.subject))
			visit_one(&w->cell, tid, w->in_progress, visit, ctx);
	release_snapshot(&s);
}

void target_waits(struct target *t, wait_visitor visit, void *ctx)
{
	for (uint32_t i = 0; t->region.in && i < RT_AREAS; i++) {
		if (!t->slots[i].tid)
			continue;
		visit_area(t, i, t->slots[i].tid, visit, ctx);
		visit_area(t, i + RT_AREAS, t->slots[i].tid, visit, ctx);
	}
	vec_each (k, &t->kept.waits)
		if (is_reported(t, k->cell.subject))
			visit_one(&k->cell, k->tid, 0, visit, ctx);
}

/* ---- threads that have ended ---- */

static uint64_t key_hash(int tid, const struct rt_wait_cell *c)
{
	uint64_t words[] = {(uint32_t)tid, c->pc, c->object, (uint64_t)c->subject << 32 | c->call};
	return hash_bytes(words, sizeof(words), 0);
}

static void keep_cell(struct target *t, int tid, const struct rt_wait_cell *c)
{
	uint64_t key = key_hash(tid, c);
	uint32_t i = hashmap_add(&t->kept.wait_index, key, t->kept.waits.len);
	if (i == t->kept.waits.len) {
		vec_push(&t->kept.waits, (struct kept_wait){tid, *c});
		return;
	}
	struct rt_wait_cell *sum = &t->kept.waits.data[i].cell;
	sum->count += c->count;
	sum->ticks += c->ticks;
	sum->bytes += c->bytes;
	sum->small_count += c->small_count;
	sum->small_ticks += c->small_ticks;
}

void waits_forget_removed(struct target *t)
{
	uint32_t kept = 0;
	if (t->kept.waits.len < KEPT_CELLS_MAX)
		return;
	hashmap_release(&t->kept.wait_index);
	vec_each (k, &t->kept.waits) {
		if (!is_reported(t, k->cell.subject))
			continue;
		hashmap_put(&t->kept.wait_index, key_hash(k->tid, &k->cell), kept);
		t->kept.waits.data[kept++] = *k;
	}
	t->kept.waits.len = kept;
}

void keep_waits(struct target *t, uint32_t area, int tid)
{
	struct snapshot s = {0};
	take_snapshot(&s, t, area);
	vec_each (w, &s.waits) {
		if (!is_reported(t, w->cell.subject))
			continue;
		if (t->kept.waits.len >= 2 * KEPT_CELLS_MAX)
			w->cell.object = UINT64_MAX;
		keep_cell(t, t->kept.waits.len < KEPT_CELLS_MAX ? tid : 0, &w->cell);
	}
	release_snapshot(&s);
}

/* ---- room ---- */

static void index_cell(struct rt_area *a, const struct rt_wait_cell *c, uint32_t number)
{
	uint16_t *index = (uint16_t *)((uint8_t *)a + RT_AREA_WAIT_INDEX);
	uint32_t home = rt_wait_home(c);
	for (uint32_t i = 0; i < RT_WAIT_CHAIN; i++) {
		uint16_t *entry = &index[(home + i) % (1 << RT_WAIT_BITS)];
		if (*entry)
			continue;
		*entry = (uint16_t)(number + 1);
		return;
	}
}

static void make_room(const struct target *t, struct rt_area *a)
{
	struct rt_wait_cell *cells = cells_of(a);
	uint32_t count = cell_count(a), kept = 0;
	memset((uint8_t *)a + RT_AREA_WAIT_INDEX, 0, UINT64_C(2) << RT_WAIT_BITS);
	for (uint32_t i = 0; i < count; i++) {
		if (!is_reported(t, cells[i].subject))
			continue;
		cells[kept] = cells[i];
		index_cell(a, &cells[kept], kept);
		kept++;
	}
	a->wait_cells = kept;
}

void waits_make_room(struct target *t, int tid)
{
	uint32_t i = areas_number(t, tid);
	for (uint32_t k = i; i < RT_AREAS && k < 2 * RT_AREAS; k += RT_AREAS) {
		struct rt_area *a = target_area(t, k);
		if (!a->busy && cell_count(a) > CELLS_BEFORE_CLEANUP)
			make_room(t, a);
	}
}
