#include "diagnose/waits.h"

void waits_init(struct waits *w, struct machine *m, struct mapped *mapped, struct ledger *l,
		struct arena *a)
{
	*w = (struct waits){.machine = m, .mapped = mapped, .ledger = l, .arena = a};
}

void waits_release(struct waits *w)
{
	vec_free(&w->objects);
	vec_free(&w->rows);
	vec_free(&w->reported);
	vec_free(&w->now);
	vec_each (i, &w->ignored)
		vec_free(&i->objects);
	vec_free(&w->ignored);
	vec_free(&w->news);
	hashmap_release(&w->object_at);
	hashmap_release(&w->row_at);
	sockets_release(&w->sockets);
	vec_free(&w->awaited);
	hashmap_release(&w->awaited_at);
	hashmap_release(&w->polled);
}

/* ---- steps ---- */

struct wait_reading {
	struct waits *w;
	uint32_t process;
	subject_part part_of;
	void *ctx;
};

static double seconds_between(uint64_t from, uint64_t to)
{
	return to > from ? 1e-9 * (double)(to - from) : 0;
}

static uint32_t row_of(struct waits *w, uint32_t process, const struct wait_value *v)
{
	const uint64_t key[] = {(uint64_t)w->machine->processes.data[process].begun << 32 | process,
				(uint64_t)v->tid << 32 | v->subject, v->pc, v->object};
	uint32_t next = w->rows.len;
	uint32_t at = hashmap_add(&w->row_at, hash_bytes(key, sizeof(key), 0), next);
	if (at == next)
		vec_push(&w->rows, (struct wait_row){0});
	return at;
}

/* Adds a wait to the times of the whole thread. */
static void note_thread(struct waits *w, uint32_t thread, uint32_t object, double seconds)
{
	struct machine_thread *t = &w->machine->threads.data[thread];
	const struct object_kind_row *kind = &object_kinds[w->objects.data[object].kind];
	t->waited += seconds;
	t->idled[kind->idles] += seconds;
	t->joined += kind->joins ? seconds : 0;
}

static void note_object(struct wait_object *o, const struct wait_row *r, double seconds,
			double small)
{
	o->seconds += seconds;
	o->small_seconds += small;
	o->count += r->reported.count - r->last.count;
	o->bytes += r->reported.bytes - r->last.bytes;
	o->small_count += r->reported.small_count - r->last.small_count;
}

static void note_now(struct waits *w, uint32_t thread, uint32_t object)
{
	while (w->now.len <= thread)
		vec_push(&w->now, LEDGER_NONE);
	w->now.data[thread] = object;
}

/* Returns the share of its spinning for which a thread has a CPU. A spinning thread always wants to
 * run, so it is the same share as of all the time in which the thread wants to run. */
static double running_share(const struct machine_thread *t)
{
	return t->cpu > 0 ? t->cpu / (t->cpu + t->ready) : 0;
}

static void add_amounts(struct waits *w, const struct wait_row *r, double seconds, double small)
{
	const struct object_kind_row *kind = &object_kinds[w->objects.data[r->object].kind];
	if (!w->machine->threads.data[r->thread].counted || !object_wait_counts(kind))
		return;
	ledger_add(w->ledger, r->part, r->thread, r->object, AMOUNT_WAIT, seconds);
	if (small > 0)
		ledger_add(w->ledger, r->part, r->thread, r->object, AMOUNT_SMALL, small);
	if (r->spins)
		ledger_add(w->ledger, r->part, r->thread, r->object, AMOUNT_SPIN,
			   seconds * running_share(&w->machine->threads.data[r->thread]));
}

/* Returns true if waits of the call at this place are no longer watched (ignored.c). */
static bool is_ignored(const struct waits *w, uint32_t process, uint64_t pc)
{
	vec_each (c, &w->ignored)
		if (c->process == process && c->pc == pc)
			return true;
	return false;
}

static void on_value(void *ctx, const struct wait_value *v)
{
	struct wait_reading *s = ctx;
	struct waits *w = s->w;
	bool all = v->subject == SUBJECT_NONE;
	uint32_t part = all ? CODE : s->part_of(s->ctx, s->process, v->subject);
	/* A thread that was in a call when its probes were removed was not seen to return. */
	if (part == RESOURCE_NONE || is_ignored(w, s->process, v->pc))
		return;
	uint32_t at = row_of(w, s->process, v);
	uint32_t object = waits_of_value(w, s->process, v);
	struct wait_row *r = &w->rows.data[at];
	if (r->step != w->step) {
		r->step = w->step;
		r->reported = (struct wait_sums){0};
		vec_push(&w->reported, at);
	}
	r->process = s->process;
	r->pc = v->pc;
	r->part = part;
	r->thread = machine_thread_of(w->machine, s->process, v->tid);
	r->object = object;
	r->spins = v->call == UINT32_MAX;
	r->reported.wall_ns += v->wall_ns;
	r->reported.small_ns += v->small_ns;
	r->reported.count += v->count;
	r->reported.bytes += v->bytes;
	r->reported.small_count += v->small_count;
	/* Spinning is short, so it is hardly ever seen in progress: the object of the last spinning
	 * is taken for what the thread waits for. */
	if (all && (v->since_ns || (r->spins && v->count != r->last.count)))
		note_now(w, r->thread, object);
}

static void add_row(struct waits *w, struct wait_row *r)
{
	double seconds = seconds_between(r->last.wall_ns, r->reported.wall_ns);
	double small = seconds_between(r->last.small_ns, r->reported.small_ns);
	if (r->part == CODE) {
		note_thread(w, r->thread, r->object, seconds);
		note_object(&w->objects.data[r->object], r, seconds, small);
	}
	if (seconds > 0)
		add_amounts(w, r, seconds, small);
	if (seconds > 0 && r->part != CODE)
		ledger_step(w->ledger, r->part, r->thread, STEP_WAITED, seconds);
	r->begun = r->reported.count - r->last.count;
	r->last = r->reported;
}

void waits_step(struct waits *w, subject_part part_of, void *ctx)
{
	w->passed = w->machine->time - w->time;
	w->time = w->machine->time;
	w->step++;
	vec_clear(&w->reported);
	vec_each (object, &w->now)
		*object = LEDGER_NONE;
	vec_each (process, &w->machine->live_processes) {
		struct wait_reading s = {w, *process, part_of, ctx};
		struct machine_process *p = &w->machine->processes.data[*process];
		if (p->target)
			target_waits(p->target, on_value, &s);
		if (p->watched && w->step > 1)
			p->counted += w->passed;
	}
	vec_each (row, &w->reported)
		add_row(w, &w->rows.data[*row]);
	for (uint32_t i = 0; i < w->objects.len; i++)
		waits_register(w, i);
}

uint32_t waits_now(const struct waits *w, uint32_t thread)
{
	return thread < w->now.len ? w->now.data[thread] : LEDGER_NONE;
}
