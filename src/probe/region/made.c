/* Where synchronisation objects were initialised, from the table that the runtime fills (struct
 * rt_made). A forked child starts with its parent's table: inject.c copies it with the others. */
#include <string.h>

#include "probe/region/read.h"
#include "probe/region/region_file.h"

uint64_t target_made(const struct target *t, uint64_t object)
{
	const struct rt_made *table = t->region.map ? target_at(t, RT_MADE_TABLE) : t->kept.made;
	uint32_t home = rt_made_home(object);
	for (uint32_t i = 0; table && object && i < RT_MADE_CHAIN; i++) {
		const struct rt_made *m = &table[(home + i) % RT_MADE_OBJECTS];
		uint64_t owner = __atomic_load_n(&m->object, __ATOMIC_RELAXED);
		if (owner == object)
			return __atomic_load_n(&m->pc, __ATOMIC_RELAXED);
		if (!owner)
			break;
	}
	return 0;
}

void keep_made(struct target *t)
{
	const uint64_t size = RT_MADE_OBJECTS * sizeof(struct rt_made);
	uint64_t to;
	for (uint64_t at = RT_MADE_TABLE;
	     t->region.map && region_next_data(t, &at, RT_MADE_TABLE + size, &to); at = to) {
		if (!t->kept.made)
			t->kept.made = xcalloc(1, size);
		memcpy((uint8_t *)t->kept.made + (at - RT_MADE_TABLE), target_at(t, at), to - at);
	}
}
