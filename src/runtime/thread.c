/* Threads whose entry is not at its home in the table. Either another thread has that entry, or the
 * thread pointer has changed since Sonde saw it (a static program sets its own up after its
 * start). */
#include "runtime/thread.h"

#include "runtime/permit.h"

static struct rt_area *no_area(void)
{
	return region_at(RT_NO_AREA);
}

/* Finds the area by the stack that the thread is on, if no other thread has it: programs may have
 * all stacks in one mapping. */
static struct rt_area *area_of_stack(void)
{
	uint64_t here = (uint64_t)__builtin_frame_address(0);
	struct rt_area *found = NULL;
	uint32_t count = region_header()->threads;
	for (uint32_t i = 0; i < count && i < RT_AREAS; i++) {
		struct rt_area *a = region_at(RT_AREA(i));
		if (!a->tid || !area_owns(a, here))
			continue;
		if (found)
			return no_area();
		found = a;
	}
	return found ? found : no_area();
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

/* The key is written last: a signal handler of this thread must not find it without the area. */
static bool claim_thread(struct rt_thread *t, uint64_t pointer, struct rt_area *a)
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

/* In a child that Sonde has not prepared, the areas belong to threads of its parent, even if a tid
 * matches. */
static struct rt_area *own_area(void)
{
	if (!region_is_ours())
		return no_area();
	if (!permit(RT_MAY_GETTID))
		return area_of_stack();
	long tid = system_call(__NR_gettid, 0, 0, 0, 0, 0);
	permit_end();
	return area_of_tid((uint32_t)tid);
}

static struct rt_area *register_thread(uint64_t pointer)
{
	struct rt_area *a = own_area();
	struct rt_thread *table = region_table();
	uint64_t home = pointer >> RT_THREAD_SHIFT;
	/* Several threads may have no pointer yet. */
	if (!pointer)
		return a;
	if (a->tid)
		a->thread_pointer = pointer;
	for (uint64_t i = 0; i < RT_THREADS; i++)
		if (claim_thread(&table[(home + i) % RT_THREADS], pointer, a))
			break;
	return a;
}

COLD struct rt_area *thread_find(uint64_t pointer)
{
	const struct rt_thread *table = region_table();
	uint64_t home = pointer >> RT_THREAD_SHIFT;
	for (uint64_t i = 0; i < RT_THREADS; i++) {
		const struct rt_thread *t = &table[(home + i) % RT_THREADS];
		if (!t->key)
			break;
		if (t->key == rt_thread_key(pointer))
			return (struct rt_area *)t->area;
	}
	return register_thread(pointer);
}

struct rt_area *rt_find(void)
{
	return thread_area();
}
