/* Counting: what contexts and shadow stacks share, off the fast path. See abi_count.h. */
#pragma once
#include "runtime/hit.h"

/* One event of a thread that counts: a call into the runtime. */
struct count_event {
	struct rt_area *area;
	struct rt_count *count;
	uint64_t sp; /* the program's */
	bool own;    /* on the thread's own stack */
};

static inline void *count_at(const struct count_event *c, uint64_t offset)
{
	return (char *)c->count - RT_COUNT_STATE + offset;
}

static inline const struct rt_counted *counted(uint64_t function)
{
	return (const struct rt_counted *)region_at(RT_COUNTED) + function % RT_FUNCTIONS;
}

/* The innermost loop around a call that is counted in the frame: its number + 1, or 0. The caller
 * must check it: the table may have been overwritten. */
static inline uint32_t site_loop(const struct rt_counted *p, uint32_t site)
{
	const uint32_t *table = region_at(RT_SITE_TABLE);
	return site && site <= p->sites ? table[(p->first_site + site) % RT_SITES] : 0;
}

/* Atomic, because a signal handler of this thread may count the same word between any two
 * instructions. */
static inline void add(uint64_t *to, uint64_t n)
{
	__atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

static inline uint64_t key_sp(uint64_t key)
{
	return key & RT_KEY_SP;
}

static inline uint32_t key_site(uint64_t key)
{
	return (uint32_t)(key >> RT_KEY_SITE);
}

/* context.c */
/* Whether a word of a frame is a context of this thread. */
bool context_is_own(const struct count_event *c, uint64_t address);
struct rt_context *context_root(const struct count_event *c);
/* The context of a function; NULL if there is no memory for it. context_called(): it was called at
 * the parent's site, and the call is counted. context_reached(): control got there without a call.
 * context_met(): its callers are unknown. */
struct rt_context *context_called(const struct count_event *c, struct rt_context *parent,
				  uint32_t site, uint32_t function);
struct rt_context *context_reached(const struct count_event *c, const struct rt_context *parent,
				   uint32_t site, uint32_t function);
struct rt_context *context_met(const struct count_event *c, uint32_t function);
/* Makes the code of the program find and count, by itself, jumps from what the parent calls at the
 * site to the place in the middle of `reached`'s function. `times` is where they are counted. */
void context_remember_jump(const struct count_event *c, const struct rt_context *parent,
			   uint32_t site, struct rt_context *reached, uint32_t place,
			   uint64_t *times);

/* shadow.c */
struct rt_shadow *shadow_top(const struct count_event *c);
/* The context of a frame that is not damaged. */
struct rt_context *shadow_context(const struct rt_shadow *f);
void shadow_push(const struct count_event *c, const struct rt_context *context, uint64_t key,
		 uint64_t entry_sp);
/* Removes the frames on top that cannot be the caller: those that were left, and those of other
 * stacks. */
void shadow_strip(const struct count_event *c);
/* The frame of this function's activation, made the top one again; NULL if there is none. `key` is
 * that of the call that control returned from; 0: an exception arrived. */
struct rt_shadow *shadow_find(const struct count_event *c, uint32_t function, uint64_t key);
/* Control has left the call that a frame is making, and continues after another one. */
void shadow_resume(const struct count_event *c, struct rt_shadow *f, uint32_t site);
/* Ends the loops around the call that a frame is making, up to but not including the loop `until`
 * (its number + 1; 0: end all). */
void shadow_end_loops(const struct count_event *c, const struct rt_shadow *f, uint32_t until);

/* count_tables.c */
enum departure { DEPARTURE_LEFT, DEPARTURE_RESUMED };
/* Returns the word in which it was counted; NULL if there is no room for it. */
uint64_t *depart(const struct count_event *c, uint64_t context, uint32_t site, enum departure kind);
void count_trips(struct rt_area *a, uint32_t loop, uint64_t trips);

/* count.c: called by the stubs. */
uint64_t rt_called(uint64_t function, uint64_t sp, uint64_t link);
uint64_t rt_returned(uint64_t function_and_site, uint64_t sp);
uint64_t rt_landed(uint64_t function_and_loop, uint64_t sp);
uint64_t rt_tripped(uint64_t loop, uint64_t sp);
