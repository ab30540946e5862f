#include "diagnose/trips.h"

#include "base/log.h"

enum { MOST_LOOPS = 8 }; /* loops that have their trips counted */

static const double count_time = 0.01; /* s for which counters stay in the program */

void trips_init(struct trips *t, struct probes *p)
{
	*t = (struct trips){.probes = p};
}

void trips_release(struct trips *t)
{
	vec_each (x, &t->list)
		vec_free(&x->in);
	vec_free(&t->list);
}

void trips_count(struct trips *t, uint32_t part)
{
	static const struct subject_request counted = {.counters = true, .iterations = true};
	struct trip x = {.part = part};
	if (t->list.len == MOST_LOOPS)
		return;
	vec_each (known, &t->list)
		if (known->part == part)
			return;
	vec_each (process, &t->probes->machine->live_processes) {
		uint32_t subject = probes_add(t->probes, part, *process, counted);
		if (subject != SUBJECT_NONE)
			vec_push(&x.in, (struct probe_in){*process, subject});
	}
	vec_push(&t->list, x);
}

static bool is_counted(const struct trip *x)
{
	return x->in.len && x->seconds <= 0;
}

bool trips_are_counted(const struct trips *t)
{
	vec_each (x, &t->list)
		if (is_counted(x))
			return true;
	return false;
}

static void end_counting(struct trips *t, struct trip *x, double now)
{
	x->seconds = now - x->since;
	vec_each (in, &x->in) {
		uint64_t counts[POINT_KINDS];
		struct target *target = t->probes->machine->processes.data[in->process].target;
		if (!target)
			continue;
		target_counters(target, in->subject, counts);
		x->entries += counts[POINT_LOOP_ENTRY];
		x->iterations += counts[POINT_ITERATION_BEGIN];
		probes_remove(t->probes, in);
	}
	debug(LOG_SEARCH, 1, "part %u: %llu iterations in %llu trips, %.3f s", x->part,
	      (unsigned long long)x->iterations, (unsigned long long)x->entries, x->seconds);
}

void trips_check(struct trips *t, double now)
{
	vec_each (x, &t->list) {
		if (!is_counted(x))
			continue;
		if (x->since <= 0)
			x->since = t->probes->dirty.len ? 0 : now;
		else if (now - x->since >= count_time)
			end_counting(t, x, now);
	}
}

const struct trip *trips_of(const struct trips *t, uint32_t part)
{
	vec_each (x, &t->list)
		if (x->part == part && x->entries)
			return x;
	return NULL;
}
