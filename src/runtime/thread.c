/* Threads that are not at their home in the table: another thread's pointer is there, or theirs has
 * changed since Sonde saw it (a static program sets its own up after its start). */
#include "runtime/thread.h"

static struct rt_area *no_area(void)
{
	return region_at(RT_NO_AREA);
}

static struct rt_area *area_of_tid(uint32_t tid)
{
	uint32_t count = region_header()->threads;
	for (uint32_t i = 0; i < count && i < RT_AREAS; i++) {
		struct rt_area *a = region_at(RT_AREA(i));
		if (a->tid == tid)
			return a;
	}
	return no_area();
}

/* The key comes last: a signal handler of this thread must not find it without the area. */
static bool claim(struct rt_thread *t, uint64_t pointer, struct rt_area *a)
{
	uint64_t key = __atomic_load_n(&t->key, __ATOMIC_RELAXED);
	if ((key && key != RT_THREAD_REMOVED) ||
	    !__atomic_compare_exchange_n(&t->key, &key, RT_THREAD_CLAIMED, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return false;
	t->area = (uint64_t)a;
	__atomic_store_n(&t->key, rt_thread_key(pointer), __ATOMIC_RELEASE);
	return true;
}

/* In a child that nobody prepared, the areas are its parent's threads', whatever their numbers. */
static struct rt_area *introduce(uint64_t pointer)
{
	struct rt_area *a = region_is_ours()
				    ? area_of_tid((uint32_t)system_call(__NR_gettid, 0, 0, 0, 0, 0))
				    : no_area();
	struct rt_thread *table = region_table();
	uint64_t home = pointer >> 12;
	/* Several threads may have none. */
	if (!pointer)
		return a;
	if (a->tid)
		a->thread_pointer = pointer;
	for (uint64_t i = 0; i < RT_THREADS; i++)
		if (claim(&table[(home + i) % RT_THREADS], pointer, a))
			break;
	return a;
}

COLD struct rt_area *thread_find(uint64_t pointer)
{
	const struct rt_thread *table = region_table();
	uint64_t home = pointer >> 12;
	for (uint64_t i = 0; i < RT_THREADS; i++) {
		const struct rt_thread *t = &table[(home + i) % RT_THREADS];
		if (!t->key)
			break;
		if (t->key == rt_thread_key(pointer))
			return (struct rt_area *)t->area;
	}
	return introduce(pointer);
}

struct rt_area *rt_find(void)
{
	return thread_area();
}
