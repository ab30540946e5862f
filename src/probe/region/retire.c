#include "probe/region/retire.h"

#include "probe/region/areas.h"
#include "probe/region/contexts.h"
#include "probe/region/hits.h"
#include "probe/region/read.h"

void threads_retire(struct target *t, int tid)
{
	uint32_t i = areas_number(t, tid);
	if (i == RT_AREAS || !t->region.map)
		return;
	for (uint32_t area = i; area < 2 * RT_AREAS; area += RT_AREAS) {
		keep_paths(t, area, tid);
		keep_waits(t, area, tid);
		hits_add(t, area, &t->hits.ended);
	}
	if (t->counting.on && !t->counting.over)
		keep_counts(t, i, true);
	areas_free(t, i);
}

void threads_retire_all(struct target *t)
{
	for (uint32_t i = 0; i < RT_AREAS; i++)
		if (t->slots[i].tid)
			threads_retire(t, t->slots[i].tid);
}
