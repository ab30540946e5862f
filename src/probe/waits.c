/* What threads waited for, from the cells that the runtime fills (struct rt_wait_cell), and what
 * they are waiting for now. */
#include <string.h>
#include <time.h>

#include "flow/entry.h"
#include "isa/calls.h"
#include "isa/native.h"
#include "probe/readings.h"

enum {
	TRIES = 400,
	WAITS_FREE = 10, /* for a thread to be outside of the runtime */
	WAITS = 4000,    /* for one that is in the middle of a change: it may have no processor */
	PAUSE_NS = 50000,
	/* Of cells of dead threads: from then on the threads are not told apart any more, and with
	 * twice as many objects neither. */
	KEPT_MOST = 1 << 12,
	ROOM_FOR = RT_WAIT_CELLS / 2,
};

struct told {
	struct rt_wait_cell cell;
	uint64_t going_on; /* ticks of the wait in progress, which are in the cell's */
};

/* The waits of an area at one time. */
struct snapshot {
	VEC(struct told) waits;
	struct hashmap active; /* subjects that have their part of the wait in progress */
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
		vec_push(&s->waits, (struct told){.cell = cells[i]});
}

static bool same_key(const struct rt_wait_cell *a, const struct rt_wait_cell *b)
{
	return a->pc == b->pc && a->object == b->object && a->subject == b->subject &&
	       a->call == b->call;
}

static struct told *told_of(struct snapshot *s, const struct rt_wait_cell *key)
{
	vec_each (w, &s->waits)
		if (same_key(&w->cell, key))
			return w;
	vec_push(&s->waits, (struct told){.cell = *key});
	return &vec_last(&s->waits);
}

static void add_going_on(struct snapshot *s, const struct rt_wait_cell *key, uint64_t since,
			 uint64_t now)
{
	struct told *w = told_of(s, key);
	w->going_on = now > since ? now - since : 0;
	w->cell.ticks += w->going_on;
}

/* As the runtime does it when the wait ends: add_for_stack() there. */
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
		add_going_on(s, &key, since > a->wait_since ? since : a->wait_since, now);
	}
}

/* Only where it will be in a cell when it ends. */
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
	add_going_on(s, &key, a->wait_since, now);
	bool own = a->wait_cfa > a->stack_low && a->wait_cfa <= a->stack_high;
	for (uint32_t i = 0; i < (own ? 1 : RT_STACKS); i++)
		add_subjects(s, a, key, a->stacks[i].top, now);
}

/* Whether the area has not changed since these two were read; when the wait in progress matters,
 * the lists neither. */
static bool is_as_before(const struct rt_area *a, uint32_t serial, uint64_t sequence)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&a->wait_serial, __ATOMIC_RELAXED) == serial &&
	       (!a->wait_since || __atomic_load_n(&a->sequence, __ATOMIC_RELAXED) == sequence);
}

/* A thread that changes something whenever one looks is in no long wait; what it has in cells is
 * never less than what was told before, then, because the wait that was in progress has ended. But
 * one that was put off its processor in the middle of a change may be about to end such a wait: it
 * gets some time to go on. */
static void take(struct snapshot *s, const struct target *t, uint32_t area)
{
	struct rt_area *a = target_area(t, area);
	for (unsigned tries = 0, waits = 0; tries < TRIES && waits < WAITS;) {
		uint32_t serial = __atomic_load_n(&a->wait_serial, __ATOMIC_ACQUIRE);
		uint64_t sequence = __atomic_load_n(&a->sequence, __ATOMIC_ACQUIRE);
		bool busy = a->wait_since && __atomic_load_n(&a->busy, __ATOMIC_ACQUIRE);
		if (serial % 2 || (busy && waits < WAITS_FREE)) {
			nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
			waits++;
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

static void release(struct snapshot *s)
{
	vec_free(&s->waits);
	hashmap_release(&s->active);
}

static bool is_told(const struct target *t, uint32_t subject)
{
	return subject == SUBJECT_NONE ||
	       (subject < t->subjects.len && !t->subjects.data[subject].removed);
}

static void visit_one(const struct rt_wait_cell *c, int tid, uint64_t going_on, wait_visitor visit,
		      void *ctx)
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
					.since_ns = reading_ns(RT_WALL, going_on)});
}

static void visit_area(struct target *t, uint32_t area, int tid, wait_visitor visit, void *ctx)
{
	struct snapshot s = {0};
	take(&s, t, area);
	vec_each (w, &s.waits)
		if (is_told(t, w->cell.subject))
			visit_one(&w->cell, tid, w->going_on, visit, ctx);
	release(&s);
}

void engine_waits(struct engine *g, struct target *t, wait_visitor visit, void *ctx)
{
	(void)g;
	for (uint32_t i = 0; t->injected && i < RT_AREAS; i++) {
		if (!t->slots[i].tid)
			continue;
		visit_area(t, i, t->slots[i].tid, visit, ctx);
		visit_area(t, i + RT_AREAS, t->slots[i].tid, visit, ctx);
	}
	vec_each (k, &t->kept_waits)
		if (is_told(t, k->cell.subject))
			visit_one(&k->cell, k->tid, 0, visit, ctx);
}

/* ---- registers ---- */

/* Whether the area's last call is the one that a thread is in: at the instruction or behind it. */
static bool is_in_call(const struct target *t, const struct rt_area *a, uint64_t pc, uint64_t sp)
{
	uint64_t size = arch_calls(t->engine->arch)->insn_size;
	return a->call_sp == sp && (a->call_pc == pc || a->call_pc + size == pc);
}

/* Where the call instruction at `from` comes back to, if it calls the pinned procedure that holds
 * pc: then the probes are around that call. 0: it does not. */
static uint64_t passed_back_to(const struct target *t, uint64_t from, uint64_t pc)
{
	struct place call = space_find(t->space, from), at = space_find(t->space, pc);
	uint64_t callee = at.code == call.code ? pinned_around(at.code, at.va) : 0;
	struct insn in;
	return callee && decode_at(call.code->image, call.code->arch, call.va, DECODE_FLOW, &in) &&
			       in.kind == INSN_CALL && in.target == callee
		       ? from + in.length
		       : 0;
}

/* A thread that waits changes nothing. One that has gone on meanwhile was elsewhere before. */
static bool add_registers(const struct target *t, const struct rt_area *a, uint64_t pc,
			  struct registers *r)
{
	const struct arch *arch = t->engine->arch;
	uint64_t fp = a->call_fp, link = a->call_link, from = a->call_pc, sp = a->call_sp;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (pc == r->pc) {
		link = passed_back_to(t, from, pc);
		sp -= arch->link == REG_NONE ? sizeof(uint64_t) : 0; /* the return address */
		if (!link || sp != r->reg[arch->sp] || !a->wait_since)
			return false;
	} else if (!is_in_call(t, a, pc, r->reg[arch->sp])) {
		return false;
	}
	registers_set(r, arch->fp, fp);
	if (arch->link != REG_NONE)
		registers_set(r, arch->link, link);
	return true;
}

/* Probes in moved code tell, and those around calls of pinned code. */
void engine_call_registers(const struct target *t, int tid, struct registers *r)
{
	uint64_t pc = r->pc;
	uint32_t i = t->injected ? areas_number(t, tid) : RT_AREAS;
	if (i < RT_AREAS && engine_original(t, &pc) && !add_registers(t, target_area(t, i), pc, r))
		add_registers(t, target_area(t, i + RT_AREAS), pc, r);
}

/* ---- dead threads ---- */

static uint64_t key_hash(int tid, const struct rt_wait_cell *c)
{
	uint64_t words[] = {(uint32_t)tid, c->pc, c->object, (uint64_t)c->subject << 32 | c->call};
	return hash_bytes(words, sizeof(words), 0);
}

static void keep_cell(struct target *t, int tid, const struct rt_wait_cell *c)
{
	uint64_t key = key_hash(tid, c);
	uint32_t i = hashmap_add(&t->kept_wait_index, key, t->kept_waits.len);
	if (i == t->kept_waits.len) {
		vec_push(&t->kept_waits, (struct kept_wait){tid, *c});
		return;
	}
	struct rt_wait_cell *sum = &t->kept_waits.data[i].cell;
	sum->count += c->count;
	sum->ticks += c->ticks;
	sum->bytes += c->bytes;
	sum->small_count += c->small_count;
	sum->small_ticks += c->small_ticks;
}

void waits_forget_removed(struct target *t)
{
	uint32_t kept = 0;
	if (t->kept_waits.len < KEPT_MOST)
		return;
	hashmap_release(&t->kept_wait_index);
	vec_each (k, &t->kept_waits) {
		if (!is_told(t, k->cell.subject))
			continue;
		hashmap_put(&t->kept_wait_index, key_hash(k->tid, &k->cell), kept);
		t->kept_waits.data[kept++] = *k;
	}
	t->kept_waits.len = kept;
}

void keep_waits(struct target *t, uint32_t area, int tid)
{
	struct snapshot s = {0};
	take(&s, t, area);
	vec_each (w, &s.waits) {
		if (!is_told(t, w->cell.subject))
			continue;
		if (t->kept_waits.len >= 2 * KEPT_MOST)
			w->cell.object = UINT64_MAX;
		keep_cell(t, t->kept_waits.len < KEPT_MOST ? tid : 0, &w->cell);
	}
	release(&s);
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
		if (!is_told(t, cells[i].subject))
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
		if (!a->busy && cell_count(a) > ROOM_FOR)
			make_room(t, a);
	}
}
