/* What the victims share: counting the truth.
 *
 * A victim is a function victim_NAME() that returns the same checksum whenever and in whichever
 * thread it is called. What it counts on the way is the truth that probes are compared with; main.c
 * writes it to the file that $PROBE_TRUTH names, one line for each:
 *
 *	PID calls NAME N           the function was entered
 *	PID left NAME N            it was left by a return or a tail call
 *	PID entered NAME@DEPTH N   control came to a loop of this depth from outside
 *	PID iterated NAME@DEPTH N  its body began
 *	PID path A;B;NAME N        NAME was called along this path, as seen from victim_*
 *	PID wall|sync|io NAME N    ns spent in it, or waiting in it
 *	PID bytes NAME N           moved in it */
#pragma once
#include <time.h>

#include "../kept.h"

#ifdef __cplusplus
extern "C" {
#endif

struct truth {
	const char *kind, *name;
	u64 count;
};

#define TRUTH(what, whose, n)                                                                      \
	do {                                                                                       \
		static struct truth truth_here                                                     \
			__attribute__((section("truths"), used, aligned(8))) = {what, whose, 0};   \
		__atomic_fetch_add(&truth_here.count, n, __ATOMIC_RELAXED);                        \
	} while (0)
#define CALLED(name)   TRUTH("calls", name, 1)
#define LEFT(name)     TRUTH("left", name, 1)
#define ENTERED(loop)  TRUTH("entered", loop, 1)
#define ITERATED(loop) TRUTH("iterated", loop, 1)
#define PATH(path)     TRUTH("path", path, 1)

static inline u64 now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

/* Writes the truth so far; a fork's child begins with none. */
void truth_tell(void);
void truth_forget(void);

#ifdef __cplusplus
}
#endif
