/* Tables of what is counted outside of contexts: calls that were left, places after calls that were
 * resumed, and trip counts. */
#include "runtime/count.h"

uint64_t *depart(const struct count_event *c, uint64_t context, uint32_t site, enum departure kind)
{
	struct rt_departure *table = count_at(c, RT_COUNT_DEPARTURES);
	uint64_t home = mix(context, site) >> (64 - RT_DEPARTURE_BITS);
	for (uint32_t i = 0; i < RT_DEPARTURES; i++) {
		struct rt_departure *d = &table[(home + i) % RT_DEPARTURES];
		if (!d->context) {
			d->site = site;
			order_stores();
			d->context = context;
		}
		if (d->context == context && d->site == site) {
			uint64_t *times = kind == DEPARTURE_LEFT ? &d->left : &d->resumed;
			add(times, 1);
			return times;
		}
	}
	c->count->dropped_departures++;
	return NULL;
}

/* Atomic, because a signal handler may count trips of the same loop at any time. */
static void keep_extremes(struct rt_trips *t, uint64_t trips)
{
	uint64_t least = t->large_min, most = t->large_max;
	while ((!least || trips < least) &&
	       !__atomic_compare_exchange_n(&t->large_min, &least, trips, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED)) {}
	while (trips > most && !__atomic_compare_exchange_n(&t->large_max, &most, trips, false,
							    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

void count_trips(struct rt_area *a, uint32_t loop, uint64_t trips)
{
	struct rt_trips *t = (struct rt_trips *)area_at(a, RT_AREA_TRIPS) + loop % RT_LOOPS;
	if (trips < RT_EXACT_TRIPS) {
		add(&t->exact[trips], 1);
		return;
	}
	/* large[0] begins with 2^5: see struct rt_trips. */
	add(&t->large[63 - 5 - __builtin_clzll(trips)], 1);
	keep_extremes(t, trips);
}
