/* From the executing thread to its area. */
#pragma once
#include "runtime/hit.h"

static inline struct rt_thread *thread_home(uint64_t pointer)
{
	return region_table() + (pointer >> RT_THREAD_SHIFT) % RT_THREADS;
}

/* NULL if the thread's entry is not at its home in the table. */
HOT struct rt_area *thread_at_home(void)
{
	uint64_t pointer = thread_pointer();
	const struct rt_thread *t = thread_home(pointer);
	return likely(t->key == rt_thread_key(pointer)) ? (struct rt_area *)t->area : NULL;
}

static inline struct rt_area *thread_area(void)
{
	struct rt_area *a = thread_at_home();
	return a ? a : thread_find(thread_pointer());
}
