/* The region as the runtime sees it. Every value read from it is checked before it is used as an
 * address or a limit: see the head of abi.h. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "runtime/abi.h"
#include "runtime/machine.h"

/* Hidden: addressed relative to the code, not through a table that would have to be relocated. */
extern const struct rt_entry_table rt_entries __attribute__((visibility("hidden")));

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define COLD        __attribute__((cold, noinline))
#define HOT         static inline __attribute__((always_inline))

/* Sonde patches the table after compilation: the compiler must not treat its values as
 * constants. */
static inline const struct rt_entry_table *region_entries(void)
{
	const struct rt_entry_table *entries = &rt_entries;
	__asm__("" : "+r"(entries));
	return entries;
}

static inline uint64_t region_base(void)
{
	return region_entries()->region;
}

static inline uint64_t region_guard(void)
{
	return region_entries()->guard;
}

static inline struct rt_thread *region_table(void)
{
	return (struct rt_thread *)region_entries()->table;
}

/* False if the process is a forked child that Sonde has not prepared. */
static inline bool region_is_ours(void)
{
	uint64_t guard = region_guard();
	return !guard || likely(*(const volatile uint64_t *)guard == RT_GUARD);
}

static inline void *region_at(uint64_t offset)
{
	return (void *)(region_base() + offset);
}

static inline struct rt_header *region_header(void)
{
	return region_at(0);
}

/* Whether a word may be a code address of the program. */
static inline bool region_has_text(const struct rt_header *h, uint64_t word)
{
	uint32_t low = 0, high = h->text_ranges <= RT_TEXT_RANGES ? h->text_ranges : RT_TEXT_RANGES;
	/* Most words are outside of all ranges. */
	if (!high || word < h->text[0].start || word >= h->text[high - 1].end)
		return false;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (word < h->text[middle].start)
			high = middle;
		else if (word >= h->text[middle].end)
			low = middle + 1;
		else
			return true;
	}
	return false;
}

static inline struct rt_subject *region_subject(uint32_t i)
{
	return (struct rt_subject *)region_at(RT_SUBJECT_TABLE) + i % RT_SUBJECTS;
}

static inline void *area_at(struct rt_area *a, uint64_t offset)
{
	return (char *)a + offset;
}

static inline struct rt_activation *area_activation(struct rt_area *a, uint32_t number)
{
	return (struct rt_activation *)area_at(a, RT_AREA_ACTIVATIONS) +
	       (number - 1) % RT_ACTIVATIONS;
}

static inline struct rt_subject_state *area_subject(struct rt_area *a, uint32_t subject)
{
	return (struct rt_subject_state *)area_at(a, RT_AREA_SUBJECTS) + subject % RT_SUBJECTS;
}

/* Offsets of the users of the working space. */
enum { WORK_READINGS = 0, WORK_WALK = 1024, WORK_RAW = 2048 };

/* The fixed part of a path at the very end of the space reaches into the scratch part, which does
 * no harm. */
static inline struct rt_path *area_path(struct rt_area *a, uint32_t offset)
{
	return area_at(a, RT_AREA_PATHS + offset % (RT_PATH_BYTES / 8) * UINT64_C(8));
}

/* Whether a CFA or stack pointer is on the thread's own stack. */
static inline bool area_owns(const struct rt_area *a, uint64_t cfa)
{
	return cfa > a->stack_low && cfa <= a->stack_high;
}
