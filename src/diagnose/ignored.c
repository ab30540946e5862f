/* System calls that are too frequent to be watched: a program that writes byte by byte makes
 * millions per second. Their probes are removed from the function that makes them, and from then on
 * samples in the function measure its time. Which objects that time is for, and how much of it is
 * in operations that move few bytes, is known from what was measured of the thread before. The
 * function may make all sorts of calls (relay.h): a sampled call that names its object counts for
 * that object. */
#include "diagnose/waits.h"

static const double least_time = 0.02; /* s that must have passed for a rate to mean anything */

static bool function_of(const struct waits *w, uint32_t process, uint64_t pc, struct code **code,
			uint64_t *va)
{
	struct target *t = w->machine->processes.data[process].target;
	struct place p = t ? space_find(target_space(t), pc) : (struct place){0};
	uint32_t count,
		i = p.code && p.code->flow ? flow_function_at(p.code->flow, p.va) : UINT32_MAX;
	if (i == UINT32_MAX)
		return false;
	*code = p.code;
	*va = flow_functions(p.code->flow, &count)[i].start;
	return true;
}

static void add_object(struct ignored_calls *c, const struct wait_row *r, double all)
{
	double own = (double)r->last.wall_ns;
	vec_each (o, &c->objects)
		if (o->object == r->object && o->thread == r->thread) {
			o->share += own / all;
			return;
		}
	vec_push(&c->objects,
		 (struct ignored_object){.object = r->object,
					 .thread = r->thread,
					 .share = own / all,
					 .small = own > 0 ? (double)r->last.small_ns / own : 0});
}

static bool is_at(const struct wait_row *r, uint32_t process, uint64_t pc)
{
	return r->part == CODE && r->process == process && r->pc == pc;
}

static void ignore(struct waits *w, uint32_t process, uint64_t pc)
{
	struct ignored_calls c = {.process = process, .pc = pc};
	double all = 0;
	if (!function_of(w, process, pc, &c.code, &c.va))
		return;
	vec_each (r, &w->rows)
		all += is_at(r, process, pc) ? (double)r->last.wall_ns : 0;
	vec_each (r, &w->rows)
		if (all > 0 && is_at(r, process, pc))
			add_object(&c, r, all);
	vec_each (o, &c.objects) {
		struct wait_object *x = &w->objects.data[o->object];
		x->rate = (double)x->count / (w->time - x->first + least_time);
	}
	vec_push(&w->ignored, c);
	target_ignore_waits(w->machine->processes.data[process].target, pc);
}

/* Returns the number of waits that began at this place of the process in this step. */
static double begun_at(const struct waits *w, uint32_t process, uint64_t pc)
{
	double sum = 0;
	vec_each (i, &w->reported)
		if (is_at(&w->rows.data[*i], process, pc))
			sum += (double)w->rows.data[*i].begun;
	return sum;
}

bool waits_limit(struct waits *w, double seconds, double most)
{
	bool any = false;
	if (most <= 0 || w->passed < least_time)
		return false;
	vec_each (i, &w->reported) {
		struct wait_row *r = &w->rows.data[*i];
		/* A row is one thread and object. Small ones are skipped before all rows of the
		 * same call are added up, which takes longer. */
		if (r->part != CODE || r->spins ||
		    (double)r->begun * seconds < most / 8 * w->passed)
			continue;
		if (begun_at(w, r->process, r->pc) * seconds < most * w->passed)
			continue;
		ignore(w, r->process, r->pc);
		any = true;
		vec_each (k, &w->reported)
			if (is_at(&w->rows.data[*k], r->process, r->pc))
				w->rows.data[*k].begun = 0;
	}
	return any;
}

static struct ignored_calls *ignored_in(struct waits *w, uint32_t process, const struct code *code,
					uint64_t va)
{
	uint32_t count, i = w->ignored.len && code && code->flow ? flow_function_at(code->flow, va)
								 : UINT32_MAX;
	if (i == UINT32_MAX)
		return NULL;
	uint64_t start = flow_functions(code->flow, &count)[i].start;
	vec_each (c, &w->ignored)
		if (c->process == process && c->code == code && c->va == start && c->objects.len)
			return c;
	return NULL;
}

/* Chooses one of the thread's objects or, if the thread has none there, one of all objects. Each is
 * chosen in turn, in proportion to its share. */
static const struct ignored_object *next_object(struct ignored_calls *c, uint32_t thread)
{
	struct ignored_object *best = NULL;
	double own = 0, all = 0;
	vec_each (o, &c->objects) {
		own += o->thread == thread ? o->share : 0;
		all += o->share;
	}
	vec_each (o, &c->objects) {
		if (own > 0 && o->thread != thread)
			continue;
		o->credit += o->share / (own > 0 ? own : all);
		best = !best || o->credit > best->credit ? o : best;
	}
	best->credit -= 1;
	return best;
}

/* Returns the share of an object's time in operations that move few bytes; 0 if it was not
 * measured. */
static double small_share(const struct ignored_calls *c, uint32_t object)
{
	vec_each (o, &c->objects)
		if (o->object == object)
			return o->small;
	return 0;
}

bool waits_ignored(struct waits *w, const struct ignored_sample *x, uint32_t *object, double *small)
{
	struct ignored_calls *c = ignored_in(w, x->process, x->code, x->va);
	if (!c)
		return false;
	*object = x->call ? waits_in_call(w, x->process, x->call) : LEDGER_NONE;
	if (*object != LEDGER_NONE) {
		*small = small_share(c, *object);
		return true;
	}
	const struct ignored_object *o = next_object(c, x->thread);
	*object = o->object;
	*small = o->small;
	while (w->objects.data[*object].merged != LEDGER_NONE)
		*object = w->objects.data[*object].merged;
	return true;
}
