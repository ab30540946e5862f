/* Finds the place of a thread in a list by the number of the thread. An all-zero index is empty and
 * valid. */
#pragma once
#include "base/hashmap.h"

struct tid_index {
	struct hashmap places;
	uint32_t removed; /* keys of the map without a place: hashmap has no deletion */
};

enum { TID_NOWHERE = HASHMAP_NONE - 1 };

void tid_index_release(struct tid_index *x);
/* The thread's place, or TID_NOWHERE. */
uint32_t tid_index_find(const struct tid_index *x, int tid);
/* Sets the place of a thread, whether it had one or not. */
void tid_index_put(struct tid_index *x, int tid, uint32_t place);
/* The thread must have a place. */
void tid_index_remove(struct tid_index *x, int tid);
