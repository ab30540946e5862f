/* System calls that are too frequent to be watched: a program that writes byte by byte makes
 * millions per second. Their probes are removed from the function that makes them, and from then on
 * samples in the function measure its time. Which objects that time is for, and how much of it is
 * in operations that move few bytes, is known from what was measured before. */
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
		if (o->object == r->object) {
			o->share += own / all;
			return;
		}
	vec_push(&c->objects,
		 (struct ignored_object){.object = r->object,
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

/* Waits of the process that began at this place in this step. */
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

bool waits_are_ignored(const struct waits *w, uint32_t process, uint64_t pc)
{
	vec_each (c, &w->ignored)
		if (c->process == process && c->pc == pc)
			return true;
	return false;
}

bool waits_ignored(struct waits *w, uint32_t process, const struct code *code, uint64_t va,
		   uint32_t *object, double *small)
{
	uint32_t count, i = w->ignored.len && code && code->flow ? flow_function_at(code->flow, va)
								 : UINT32_MAX;
	if (i == UINT32_MAX)
		return false;
	uint64_t start = flow_functions(code->flow, &count)[i].start;
	vec_each (c, &w->ignored) {
		struct ignored_object *best = NULL;
		if (c->process != process || c->code != code || c->va != start || !c->objects.len)
			continue;
		vec_each (o, &c->objects) {
			o->credit += o->share;
			best = !best || o->credit > best->credit ? o : best;
		}
		best->credit -= 1;
		*object = best->object;
		*small = best->small;
		return true;
	}
	return false;
}
