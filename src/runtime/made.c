/* Where synchronisation objects are initialised: struct rt_made. This uses neither the thread's
 * area nor its activations, and the table is consistent at any instant for threads and handlers
 * that interrupt it. */
#include "runtime/hit.h"

static uint64_t return_address(const struct rt_probe *probe, const struct probe_frame *frame)
{
	uint64_t cfa = step_cfa(probe->step, frame_sp(frame), frame_fp(frame));
	uint64_t mask = region_header()->link_mask;
	uint64_t link = probe->step & RT_STEP_IN_LINK ? frame_link(frame)
			: cfa ? *(const uint64_t *)(cfa - step_below_link(probe->step))
			      : 0;
	return mask ? link & mask : link;
}

/* Whether the entry belongs to the object, after an attempt to claim it. */
static bool claim_entry(struct rt_made *m, uint64_t object)
{
	uint64_t owner = 0;
	return __atomic_compare_exchange_n(&m->object, &owner, object, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED) ||
	       owner == object;
}

COLD void note_made(const struct rt_probe *probe, const struct probe_frame *frame)
{
	struct rt_made *table = region_at(RT_MADE_TABLE);
	uint64_t object = frame_first(frame);
	uint32_t home = rt_made_home(object);
	for (uint32_t i = 0; object && i < RT_MADE_CHAIN; i++) {
		struct rt_made *m = &table[(home + i) % RT_MADE_OBJECTS];
		uint64_t owner = __atomic_load_n(&m->object, __ATOMIC_RELAXED);
		if (owner != object && (owner || !claim_entry(m, object)))
			continue;
		__atomic_store_n(&m->pc, return_address(probe, frame), __ATOMIC_RELAXED);
		return;
	}
}
