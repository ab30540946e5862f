#include "process/tid_index.h"

/* For fewer removed keys, rebuilding the map does not pay. */
enum { REMOVED_MIN = 64 };

void tid_index_release(struct tid_index *x)
{
	hashmap_release(&x->places);
	x->removed = 0;
}

uint32_t tid_index_find(const struct tid_index *x, int tid)
{
	uint32_t place = hashmap_get(&x->places, (uint64_t)tid);
	return place == HASHMAP_NONE ? (uint32_t)TID_NOWHERE : place;
}

void tid_index_put(struct tid_index *x, int tid, uint32_t place)
{
	x->removed -= hashmap_get(&x->places, (uint64_t)tid) == TID_NOWHERE;
	hashmap_put(&x->places, (uint64_t)tid, place);
}

/* Rebuilds the map without the removed keys. Otherwise short-lived threads would fill it with all
 * possible thread numbers. */
static void drop_removed(struct tid_index *x)
{
	struct hashmap old = x->places;
	x->places = (struct hashmap){0};
	x->removed = 0;
	for (uint32_t i = 0; i < old.cap; i++)
		if (old.values[i] < TID_NOWHERE)
			hashmap_put(&x->places, old.keys[i], old.values[i]);
	hashmap_release(&old);
}

void tid_index_remove(struct tid_index *x, int tid)
{
	hashmap_put(&x->places, (uint64_t)tid, TID_NOWHERE);
	x->removed++;
	if (x->removed > REMOVED_MIN && x->removed > x->places.len / 2)
		drop_removed(x);
}
