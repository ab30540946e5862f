/* Victims of `sonde count`: they count their own loops and calls, and tell at their end.
 *
 * A victim is a function victim_NAME() that returns a checksum. A loop is written
 *
 *	LOOP(name);                          declares it, at the beginning of its function,
 *	                                     or LOOP_ELSEWHERE(name); before several
 *	ENTER(name);
 *	for (u64 i = 0; i < n; i++) {
 *		ITER(name);                  first in its body
 *		...
 *	}
 *	LEAVE(name);                         also before each return or goto out of it
 *
 * and CALLED(name) stands first in a function. None of them calls anything. ITER also plants a nop
 * and keeps its address in the section .countmark, so that tests know which loop of the machine
 * code it is, and whether the compiler has made several of it. At the end of the process there
 *goes, for each thread that counted, to the file that $COUNT_TRUTH names:
 *
 *	PID TID loop NAME ENTRIES ITERATIONS MIN MAX TRIPS:ENTRIES,...
 *	PID TID calls NAME N
 *
 * TRIPS are exact up to 31, then powers of two, as those of Sonde. The optimiser may not know how
 * often a loop runs: OPAQUE() its bound. */
#pragma once
#include "../kept.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { EXACT_TRIPS = 32, TRIP_BUCKETS = EXACT_TRIPS + 59, TRUTH_THREADS = 6 };

struct tally {
	u64 entries, iterations, ended, min, max, trips[TRIP_BUCKETS];
};

struct subject {
	const char *kind, *name;
	struct tally of[TRUTH_THREADS];
};

/* The number of this thread: 0 is the first. */
extern __thread unsigned truth_thread;
/* To be called first by a thread that counts. */
void truth_begin_thread(unsigned number);
/* Tells; a second time does nothing. The end of the process does it by itself, unless it is sudden.
 */
void truth_tell(void);
/* After a fork: the child has done nothing yet. */
void truth_forget(void);

#define SUBJECT(var, kind, name)                                                                   \
	static struct subject var                                                                  \
		__attribute__((section("subjects"), used, aligned(8))) = {kind, name, {}}

#define CALLED(name)                                                                               \
	do {                                                                                       \
		SUBJECT(called_here, "calls", #name);                                              \
		called_here.of[truth_thread].entries++;                                            \
	} while (0)

#define LOOP(name)                                                                                 \
	SUBJECT(truth_of_##name, "loop", #name);                                                   \
	u64 trip_##name = 0

/* One whose function is left by a jump, and told of elsewhere: not for recursion. */
#define LOOP_ELSEWHERE(name)                                                                       \
	SUBJECT(truth_of_##name, "loop", #name);                                                   \
	static __thread volatile u64 trip_##name

#define MARK(name)                                                                                 \
	__asm__ volatile("661:\tnop\n\t.pushsection .countmark,\"\"\n\t.8byte 661b\n\t"            \
			 ".asciz \"" #name "\"\n\t.popsection" ::                                  \
				 : "memory")

/* A choice of three that goes on either way. A loop of the machine code that always jumps back and
 * whose first branch leads out cannot be told from a `while`, nor if a condition is computed in
 * front, in one way or in two: one with a break there needs this before. */
#define BRANCH(condition)                                                                          \
	do {                                                                                       \
		u64 way_ = (condition);                                                            \
		OPAQUE(way_);                                                                      \
		if (way_ & 2)                                                                      \
			__asm__ volatile("nop" ::: "memory");                                      \
		else if (way_ & 1)                                                                 \
			__asm__ volatile("nop\n\tnop" ::: "memory");                               \
		else                                                                               \
			__asm__ volatile("nop\n\tnop\n\tnop" ::: "memory");                        \
	} while (0)

#define ENTER(name) (trip_##name = 0, truth_of_##name.of[truth_thread].entries++)
#define ITER(name)                                                                                 \
	do {                                                                                       \
		MARK(name);                                                                        \
		trip_##name++;                                                                     \
	} while (0)
#define LEAVE(name) tally_left(&truth_of_##name.of[truth_thread], trip_##name)
/* It is never left. */
#define STAY(name) (truth_of_##name.of[truth_thread].iterations += trip_##name)

static inline __attribute__((always_inline)) void tally_left(struct tally *t, u64 trip)
{
	t->iterations += trip;
	if (!t->ended++ || trip < t->min)
		t->min = trip;
	if (trip > t->max)
		t->max = trip;
	t->trips[trip < EXACT_TRIPS ? trip : (u64)(EXACT_TRIPS + 58 - __builtin_clzll(trip))]++;
}

#ifdef __cplusplus
}
#endif
