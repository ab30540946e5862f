#include "probe/region/hits.h"

static uint64_t counter_hits(const struct target *t, uint32_t area)
{
	const uint64_t *counters =
		(const void *)((const uint8_t *)target_area(t, area) + RT_AREA_COUNTERS);
	uint64_t sum = 0;
	for (uint32_t i = 0; i < t->region.counters; i++)
		sum += __atomic_load_n(&counters[i], __ATOMIC_RELAXED);
	return sum;
}

void hits_add(const struct target *t, uint32_t area, struct probe_hits *sum)
{
	const struct rt_area *a = target_area(t, area);
	sum->of[HIT_ENTER] += a->hits[RT_ENTER];
	sum->of[HIT_EXIT] += a->hits[RT_EXIT];
	sum->of[HIT_WALK] += a->walks + a->instance_hits + a->raw_walks;
	sum->of[HIT_COUNT] += counter_hits(t, area);
	for (unsigned i = 0; i < ARRAY_SIZE(a->hits); i++)
		if (i != RT_ENTER && i != RT_EXIT)
			sum->of[HIT_OTHER] += a->hits[i];
}

struct probe_hits hits_all(const struct target *t)
{
	struct probe_hits sum = t->hits.ended;
	for (uint32_t i = 0; i < RT_AREAS; i++) {
		if (!t->slots[i].tid)
			continue;
		hits_add(t, i, &sum);
		hits_add(t, i + RT_AREAS, &sum);
	}
	return sum;
}
