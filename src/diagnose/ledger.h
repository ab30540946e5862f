/* All that was measured so far, as sums for each (code, thread, object). The amount of an
 * experiment is a sum over some of them. They only grow, so the amount of an interval is a
 * difference. */
#pragma once
#include "base/hashmap.h"
#include "base/vec.h"

enum amount {
	AMOUNT_CPU,   /* s of CPU time, by probes; for the root of the code, from the kernel */
	AMOUNT_WAIT,  /* s of waits that count, by probes; see machine.h */
	AMOUNT_SMALL, /* s of these waits in operations that move few bytes */
	AMOUNT_SPIN,  /* s of these waits in which the thread ran: spinning */
	AMOUNT_CALLS,
	/* The same by samples: s that these represent. */
	AMOUNT_SEEN_CPU,
	AMOUNT_SEEN_WAIT,
	AMOUNT_SEEN_SMALL,
	AMOUNT_SERIAL, /* s of AMOUNT_SEEN_CPU for which the other threads of a team wait (teams.h)
			*/
	AMOUNT_SYSTEM, /* s of AMOUNT_SEEN_CPU in the kernel, outside of allocators */
	AMOUNT_MEMORY, /* s of AMOUNT_SEEN_CPU in allocators, and in the kernel for them */
	/* s by samples of waiting for another process, whether the thread counts or not; of all
	 * code only. */
	AMOUNT_ASKED,
	AMOUNTS,
};

enum { LEDGER_NONE = UINT32_MAX };

struct ledger_entry {
	uint32_t part;   /* resource of CODE */
	uint32_t thread; /* of the machine */
	uint32_t object; /* of the waits; LEDGER_NONE: none */
	uint32_t next;   /* entry of the same part */
	double amount[AMOUNTS];
};

/* What was measured in some code in a thread since the last ledger_settle(): the elapsed time, and
 * how much of that was in waits. The CPU time is derived from the rates of the whole thread in the
 * step, because probes that read the CPU clock would take ten times as long on some machines. */
enum step_amount { STEP_WALL, STEP_WAITED, STEP_AMOUNTS };

struct ledger_step {
	uint32_t part, thread;
	double amount[STEP_AMOUNTS];
};

/* For how much of its time a thread was on a CPU. */
struct ledger_rate {
	double running, waiting; /* shares: of the time outside of waits, and of that in waits */
};

struct ledger {
	VEC(struct ledger_entry) list;
	struct hashmap index; /* hash of part, thread and object */
	struct hashmap first; /* part -> its newest entry */
	VEC(struct ledger_step) steps;
	struct hashmap step_at;
};

void ledger_release(struct ledger *l);
void ledger_add(struct ledger *l, uint32_t part, uint32_t thread, uint32_t object, enum amount what,
		double amount);

void ledger_step(struct ledger *l, uint32_t part, uint32_t thread, enum step_amount what,
		 double amount);
/* Turns the steps into AMOUNT_CPU; `rates` is by thread. */
void ledger_settle(struct ledger *l, const struct ledger_rate *rates);

/* Runs the body with `e` pointing at each entry of a part. */
#define ledger_each(e, l, part)                                                                    \
	for (const struct ledger_entry *e = ledger_first(l, part); e; e = ledger_next(l, e))

static inline const struct ledger_entry *ledger_at(const struct ledger *l, uint32_t i)
{
	return i == LEDGER_NONE ? NULL : &l->list.data[i];
}

static inline const struct ledger_entry *ledger_first(const struct ledger *l, uint32_t part)
{
	return ledger_at(l, hashmap_get(&l->first, part));
}

static inline const struct ledger_entry *ledger_next(const struct ledger *l,
						     const struct ledger_entry *e)
{
	return ledger_at(l, e->next);
}
