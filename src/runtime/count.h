/* Counting: what the slow ways of contexts and shadow stacks share. See abi_count.h. */
#pragma once
#include "runtime/hit.h"

/* One event of a thread that counts. */
struct counting {
	struct rt_area *area;
	struct rt_count *count;
	uint64_t sp; /* the program's */
	bool own;    /* on the thread's own stack */
};

static inline void *count_at(const struct counting *c, uint64_t offset)
{
	return (char *)c->count - RT_COUNT_STATE + offset;
}

static inline const struct rt_counted *counted(uint64_t procedure)
{
	return (const struct rt_counted *)region_at(RT_COUNTED) + procedure % RT_PROCEDURES;
}

/* The innermost loop around a call that is counted in the frame, its number + 1, or 0; or anything
 * if the table was overwritten. */
static inline uint32_t site_loop(const struct rt_counted *p, uint32_t site)
{
	const uint32_t *table = region_at(RT_SITE_TABLE);
	return site && site <= p->sites ? table[(p->first_site + site) % RT_SITES] : 0;
}

/* A signal handler of this thread may count the same between any two instructions. */
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
bool context_is_own(const struct counting *c, uint64_t address);
struct rt_context *context_root(const struct counting *c);
/* The context of a procedure that was called at the parent's site, and the call is counted; or that
 * control has got to otherwise; or that was met, nobody knows where. NULL if there is no memory for
 * it. */
struct rt_context *context_called(const struct counting *c, struct rt_context *parent,
				  uint32_t site, uint32_t procedure);
struct rt_context *context_reached(const struct counting *c, const struct rt_context *parent,
				   uint32_t site, uint32_t procedure);
struct rt_context *context_met(const struct counting *c, uint32_t procedure);

/* shadow.c */
struct rt_shadow *shadow_top(const struct counting *c);
/* The context of a frame that is not damaged. */
struct rt_context *shadow_context(const struct rt_shadow *f);
void shadow_push(const struct counting *c, const struct rt_context *context, uint64_t key,
		 uint64_t entry_sp);
/* Takes away what cannot have called: frames that were left, and those of other stacks. */
void shadow_strip(const struct counting *c);
/* The frame of this procedure's activation, on top again; NULL if there is none. `key` is that of
 * the call that control came back from; 0: an exception came. */
struct rt_shadow *shadow_find(const struct counting *c, uint32_t procedure, uint64_t key);
/* Control has left the call that a frame is making, and goes on behind another one. */
void shadow_resume(const struct counting *c, struct rt_shadow *f, uint32_t site);
/* Ends the loops around the call that a frame is making, but not the loop `until` (its number + 1;
 * 0: none) and those around it. */
void shadow_end_loops(const struct counting *c, const struct rt_shadow *f, uint32_t until);

/* count_tables.c */
enum departure { DEPARTURE_LEFT, DEPARTURE_RESUMED };
void depart(const struct counting *c, uint64_t context, uint32_t site, enum departure kind);
void count_trips(struct rt_area *a, uint32_t loop, uint64_t trips);

/* count.c: called by the stubs. */
uint64_t rt_called(uint64_t procedure, uint64_t sp, uint64_t link);
uint64_t rt_returned(uint64_t procedure_and_site, uint64_t sp);
uint64_t rt_landed(uint64_t procedure_and_loop, uint64_t sp);
uint64_t rt_tripped(uint64_t loop, uint64_t sp);
