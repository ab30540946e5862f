#include "diagnose/trips.h"

#include "base/log.h"

enum { MOST_COUNTED = 8 }; /* loops and functions */

static const double count_time = 0.01; /* s for which counters stay in the program */

void trips_init(struct trips *t, struct probes *p)
{
	*t = (struct trips){.probes = p};
}

void trips_release(struct trips *t)
{
	vec_free(&t->list);
}

/* Returns false if the process is not ready to be probed yet. */
static bool begin_counting(struct trips *t, struct trip *x)
{
	static const struct subject_request counted = {.counters = true, .iterations = true};
	uint32_t process = probes_busiest(t->probes, x->part);
	t->probes->later = false;
	x->subject = process == UINT32_MAX ? SUBJECT_NONE
					   : probes_add(t->probes, x->part, process, counted);
	x->process = process;
	return x->subject != SUBJECT_NONE || !t->probes->later;
}

void trips_count(struct trips *t, uint32_t part)
{
	struct trip x = {.part = part};
	if (t->list.len == MOST_COUNTED)
		return;
	vec_each (known, &t->list)
		if (known->part == part)
			return;
	if (begin_counting(t, &x))
		vec_push(&t->list, x);
}

static bool is_counted(const struct trip *x)
{
	return x->subject != SUBJECT_NONE && x->seconds <= 0;
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
	uint64_t counts[POINT_KINDS];
	struct target *target = t->probes->machine->processes.data[x->process].target;
	x->seconds = now - x->since;
	if (target) {
		target_counters(target, x->subject, counts);
		x->entries = counts[POINT_LOOP_ENTRY] + counts[POINT_ENTRY];
		x->iterations = counts[POINT_ITERATION_BEGIN];
		probes_remove(t->probes, &(struct probe_in){x->process, x->subject});
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
