/* Where each thread is in a list, by the number of the thread. All-zero is a valid empty index. */
#pragma once
#include "base/hashmap.h"

struct tid_index {
	struct hashmap places;
	uint32_t removed; /* keys of the map that lead nowhere: it has no deletion */
};

enum { TID_NOWHERE = HASHMAP_NONE - 1 };

void tid_index_release(struct tid_index *x);
/* The thread's place, or TID_NOWHERE. */
uint32_t tid_index_find(const struct tid_index *x, int tid);
/* Sets the place of a thread, whether it had one or not. */
void tid_index_put(struct tid_index *x, int tid, uint32_t place);
/* Of a thread that has a place. */
void tid_index_remove(struct tid_index *x, int tid);
