/* From the executing thread to its area. */
#pragma once
#include "runtime/hit.h"

static inline struct rt_thread *thread_home(uint64_t pointer)
{
	return (struct rt_thread *)region_at(RT_TABLE) + (pointer >> 12) % RT_THREADS;
}

static inline struct rt_area *thread_area(void)
{
	uint64_t pointer = thread_pointer();
	const struct rt_thread *t = thread_home(pointer);
	if (likely(t->thread_pointer == pointer && pointer))
		return (struct rt_area *)t->area;
	return thread_find(pointer);
}
