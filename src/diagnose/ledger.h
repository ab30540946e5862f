/* What was measured so far: sums for each (code, thread, object). Everything that an experiment
 * wants to know is a sum over some of them. They only grow; who wants to know about an interval
 * takes the difference. */
#pragma once
#include "base/hashmap.h"
#include "base/vec.h"

enum amount {
	AMOUNT_CPU,   /* s on a processor, by probes; of the code's root: as the kernel tells */
	AMOUNT_WAIT,  /* s of waits that count, by probes; see machine.h */
	AMOUNT_SMALL, /* s of those in operations that move little */
	AMOUNT_SPIN,  /* s of those in which it ran */
	AMOUNT_CALLS,
	AMOUNT_SEEN_CPU, /* the same as samples tell: s they stand for */
	AMOUNT_SEEN_WAIT,
	AMOUNT_SEEN_SMALL,
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

/* What was measured of code in a thread since the last settling: time that passed in it, and of
 * that in waits. How much of it was on a processor is known when what the whole thread did is:
 * reading such a clock in every probe would cost ten times as much on some machines. */
enum step_amount { STEP_WALL, STEP_WAITED, STEP_AMOUNTS };

struct ledger_step {
	uint32_t part, thread;
	double amount[STEP_AMOUNTS];
};

/* The shares of its time on a processor: outside of waits, and in them. */
struct ledger_rate {
	double running, waiting;
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
/* Makes AMOUNT_CPU of the steps; rates by thread. */
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
