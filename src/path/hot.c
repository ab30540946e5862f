/* Keeps the overhead within its limit. The engine measures the overhead of all probes; the part of
 * a function is estimated by its share of the calls. The first check is made after a tenth of a
 * second, so that a function that is far too hot does no harm for long. */
#include <stdio.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "path/targets.h"

static const uint64_t first_check = 100000000, next_checks = 1000000000; /* ns */
static const uint64_t least_run = 20000000; /* ns of run time before a share means anything */

void hot_measure(struct path_session *s)
{
	struct path_overhead *sums[] = {&s->overhead, &s->own->window.overhead};
	vec_each (t, &s->own->targets) {
		struct engine_overhead c = target_overhead(t->target);
		for (size_t i = 0; i < ARRAY_SIZE(sums); i++) {
			sums[i]->probe_ns += c.probe_ns;
			sums[i]->run_ns += c.run_ns;
			sums[i]->hits += c.hits;
		}
	}
}

void hot_begin(struct path_session *s, bool first)
{
	struct overhead_window *w = &s->own->window;
	hot_measure(s);
	w->overhead = (struct path_overhead){0};
	w->first = first;
	w->begin = now_ns();
	vec_clear(&w->calls);
	vec_each (f, &s->data.functions)
		vec_push(&w->calls, f->calls);
}

static uint64_t new_calls(const struct path_session *s, uint32_t function)
{
	const struct overhead_window *w = &s->own->window;
	uint64_t before = function < w->calls.len ? w->calls.data[function] : 0;
	return s->data.functions.data[function].calls - before;
}

/* The function that is called most of those that are in; *all: the calls of all of these. */
static uint32_t hottest(const struct path_session *s, uint64_t *all)
{
	uint32_t best = PROFILE_NONE;
	*all = 0;
	for (uint32_t i = 0; i < s->data.functions.len; i++) {
		if (s->data.functions.data[i].state != PATH_IN)
			continue;
		*all += new_calls(s, i);
		if (best == PROFILE_NONE || new_calls(s, i) > new_calls(s, best))
			best = i;
	}
	return best;
}

static void explain(struct path_session *s, uint32_t function, double share, double seconds,
		    struct too_hot *out)
{
	double rate = checked(A_RATE, (double)new_calls(s, function) / seconds);
	out->function = function;
	/* The suggested limit leaves some room, because rates vary. */
	snprintf(out->reason, sizeof(out->reason),
		 "it is called %.0f times per second, which would be about %.0f %% overhead; "
		 "--max-overhead=%.0f would allow it",
		 rate, percent(share), percent(share) * 1.2 + 1);
}

bool hot_is_due(const struct path_session *s)
{
	const struct overhead_window *w = &s->own->window;
	return now_ns() - w->begin >= (w->first ? first_check : next_checks);
}

bool hot_is_measured(struct path_session *s)
{
	hot_measure(s);
	return s->own->window.overhead.run_ns >= least_run;
}

double hot_share(const struct path_session *s)
{
	const struct path_overhead *c = &s->own->window.overhead;
	return (double)c->probe_ns / (double)c->run_ns;
}

double hot_find(struct path_session *s, double share, struct too_hot *out)
{
	uint64_t all;
	uint32_t f = hottest(s, &all);
	if (f == PROFILE_NONE || !new_calls(s, f))
		return 0;
	double part = share * (double)new_calls(s, f) / (double)all;
	explain(s, f, part, 1e-9 * (double)(now_ns() - s->own->window.begin), out);
	return part;
}
