#include "probe/region/areas.h"

#include <sys/mman.h>

#include "base/fault.h"
#include "probe/region/contexts.h"
#include "probe/region/layout.h"
#include "process/memory.h"

uint32_t areas_number(const struct target *t, int tid)
{
	for (uint32_t i = 0; i < RT_AREAS; i++)
		if (t->slots[i].tid == tid)
			return i;
	return RT_AREAS;
}

struct rt_area *areas_of(struct target *t, int tid)
{
	uint32_t i = areas_number(t, tid);
	return i < RT_AREAS ? target_area(t, i) : NULL;
}

struct thread_slot *areas_slot(struct target *t, int tid)
{
	uint32_t i = areas_number(t, tid);
	return i < RT_AREAS ? &t->slots[i] : NULL;
}

/* An entry of the program's thread table. It is read each time, because threads add themselves as
 * well. The memory is accessed through any thread's tid: the first thread may have ended, and then
 * the pid leads to no memory. */
struct table_place {
	int tid;
	uint32_t index;
	struct rt_thread entry;
};

static uint64_t entry_address(const struct target *t, uint32_t index)
{
	return t->region.table + index * sizeof(struct rt_thread);
}

static bool read_entry(const struct target *t, struct table_place *p)
{
	return memory_read(p->tid, entry_address(t, p->index), &p->entry, sizeof(p->entry)) ==
	       sizeof(p->entry);
}

/* The entry of a thread pointer, or a free one for it; false if the table is full. */
static bool find_entry(const struct target *t, int tid, uint64_t thread_pointer,
		       struct table_place *out)
{
	uint32_t home = (uint32_t)(thread_pointer >> RT_THREAD_SHIFT), removed = RT_THREADS;
	for (uint32_t i = 0; i < RT_THREADS; i++) {
		*out = (struct table_place){.tid = tid, .index = (home + i) % RT_THREADS};
		if (!read_entry(t, out))
			return false;
		if (out->entry.key == rt_thread_key(thread_pointer))
			return true;
		if (out->entry.key == RT_THREAD_REMOVED && removed == RT_THREADS)
			removed = out->index;
		if (!out->entry.key)
			break;
	}
	if (removed < RT_THREADS)
		out->index = removed;
	return removed < RT_THREADS || !out->entry.key;
}

/* Writing the entry is no race: the thread is stopped, and so are those that share its pointer.
 * Other threads see a key that is not theirs, before the write and after it. */
static void table_put(struct target *t, int tid, uint64_t thread_pointer, uint64_t area)
{
	struct table_place p;
	if (!thread_pointer || !find_entry(t, tid, thread_pointer, &p))
		return;
	p.entry = (struct rt_thread){.key = rt_thread_key(thread_pointer), .area = area};
	if (!fault("thread-enter", EIO))
		memory_write(tid, entry_address(t, p.index), &p.entry, sizeof(p.entry));
}

/* If this fails, the process is gone or an entry without a thread remains; a new thread with the
 * same pointer takes it over. */
static void table_remove(struct target *t, uint64_t thread_pointer, uint64_t area)
{
	struct table_place p;
	uint64_t removed = RT_THREAD_REMOVED;
	if (thread_pointer && find_entry(t, t->pid, thread_pointer, &p) &&
	    p.entry.key == rt_thread_key(thread_pointer) && p.entry.area == area)
		memory_write(t->pid, entry_address(t, p.index), &removed, sizeof(removed));
}

/* Gives the pages of an area back, which zeroes it, except for what its thread left open. */
static void wipe(struct target *t, uint32_t area)
{
	struct rt_area *a = target_area(t, area), left = {.left_page = a->left_page};
	bool any = false;
	if (a->clock_page > RT_CLOCK_UNAVAILABLE)
		left.left_page = a->clock_page;
	for (unsigned i = 0; i < RT_EVENTS; i++) {
		bool own = a->event_fd[i] > 0;
		left.left_fd[i] = own ? a->event_fd[i] : a->left_fd[i];
		left.left_id[i] = own ? a->event_id[i] : a->left_id[i];
		any |= left.left_fd[i] > 0;
	}
	madvise(a, RT_AREA_SIZE, MADV_REMOVE);
	if (any || left.left_page)
		*a = left;
}

/* Thread pointers are reused. Another slot with this pointer belongs to a thread that is gone, or
 * to one that shares the pointer and is found by its tid. */
static void forget_pointer(struct target *t, uint64_t thread_pointer, int tid)
{
	for (uint32_t i = 0; i < RT_AREAS; i++)
		if (t->slots[i].tid && t->slots[i].tid != tid &&
		    t->slots[i].thread_pointer == thread_pointer)
			t->slots[i].thread_pointer = 0;
}

/* A stack may share a mapping with a neighbour that is unmapped while the thread lives. But the C
 * libraries keep the thread's data at the upper end of its stack, and this part stays. */
static void find_stack(const struct memory_map *map, uint64_t sp, uint64_t thread_pointer,
		       uint64_t *low, uint64_t *high)
{
	memory_map_stack(map, sp, low, high);
	if (thread_pointer > sp && thread_pointer < *high)
		*high = thread_pointer & ~UINT64_C(15);
}

static void set_area(struct target *t, uint32_t i, struct control_thread *th,
		     const struct memory_map *map)
{
	uint64_t thread_pointer = 0, low = 0, high = 0;
	struct registers r;
	if (th->stopped)
		control_thread_pointer(th, &thread_pointer);
	if (th->stopped && control_registers(th, &r))
		find_stack(map, r.reg[t->shared->arch->sp], thread_pointer, &low, &high);
	forget_pointer(t, thread_pointer, th->tracee.tid);
	t->slots[i].thread_pointer = thread_pointer;
	for (uint32_t k = i; k < 2 * RT_AREAS; k += RT_AREAS) {
		struct rt_area *a = target_area(t, k);
		a->thread_pointer = thread_pointer;
		a->stack_low = low;
		a->stack_high = high;
		a->nested = k == i ? t->region.base + RT_AREA(i + RT_AREAS) : 0;
		a->tid = (uint32_t)th->tracee.tid;
	}
}

/* Enters the thread of a slot in the thread table. */
static void enter(struct target *t, uint32_t slot)
{
	table_put(t, t->slots[slot].tid, t->slots[slot].thread_pointer,
		  t->region.base + RT_AREA(slot));
}

static void prepare(struct target *t, struct control_thread *th, const struct memory_map *map)
{
	int tid = th->tracee.tid;
	uint32_t i = areas_number(t, tid);
	if (i == RT_AREAS)
		i = areas_number(t, 0);
	if (i == RT_AREAS)
		return;
	t->slots[i].tid = tid;
	set_area(t, i, th, map);
	if (i >= target_header(t)->threads)
		target_header(t)->threads = i + 1;
	if (t->counting.on)
		contexts_prepare(t, i);
	enter(t, i);
}

void areas_prepare(struct target *t, struct control_thread *th)
{
	struct memory_map map;
	memory_map_read(&map, t->pid);
	prepare(t, th, &map);
	memory_map_release(&map);
}

void areas_prepare_all(struct target *t)
{
	struct control_thread *threads[RT_AREAS];
	uint32_t count = control_threads(t->shared->control, t->pid, threads, RT_AREAS);
	struct memory_map map;
	memory_map_read(&map, t->pid);
	for (uint32_t i = 0; i < count && i < RT_AREAS; i++)
		prepare(t, threads[i], &map);
	memory_map_release(&map);
}

void areas_introduce(struct target *t)
{
	struct control_thread *threads[RT_AREAS];
	struct memory_map map = {0};
	uint32_t count = control_threads(t->shared->control, t->pid, threads, RT_AREAS);
	for (uint32_t i = 0; i < count && i < RT_AREAS; i++) {
		uint32_t slot = areas_number(t, threads[i]->tracee.tid);
		bool known = slot < RT_AREAS;
		if (!threads[i]->stopped || (known && target_area(t, slot)->thread_pointer))
			continue;
		if (!map.pid)
			memory_map_read(&map, t->pid);
		if (!known) {
			prepare(t, threads[i], &map);
			continue;
		}
		set_area(t, slot, threads[i], &map);
		enter(t, slot);
	}
	memory_map_release(&map);
}

void areas_free(struct target *t, uint32_t i)
{
	wipe(t, i);
	wipe(t, i + RT_AREAS);
	if (t->counting.on)
		contexts_wipe(t, i);
	table_remove(t, t->slots[i].thread_pointer, t->region.base + RT_AREA(i));
	slot_release(&t->slots[i]);
}
