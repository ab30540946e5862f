/* Where a walk differed from the truth, grouped by the frame whose step to its caller went wrong.
 */
#pragma once
#include "truth.h"
#include "unwind/walk.h"

/* One walk that differed. */
struct difference {
	uint64_t step;  /* the first */
	uint64_t steps; /* how many went wrong like this */
	uint32_t frame; /* the first whose caller, or whose caller's stack pointer, is wrong */
	uint32_t depth; /* of that frame's call in the true stack */
	bool overwritten;
	enum walk_end end;
	VEC(struct frame) got;
	VEC(struct true_call) expected; /* innermost first */
};

/* All walks that went wrong at one address. */
struct failure {
	uint64_t pc;
	uint64_t steps;
	struct difference first;
};

struct failures {
	VEC(struct failure) list;
	struct hashmap by_pc;
	/* Differences in functions that have not ended yet. If one ends in a jump out, nothing
	 * obliges it to keep its return address: the unwinder of C++ overwrites it on the stack
	 * (`overwritten`), and the unwind information of longjmp tells of the stack as it is after
	 * the jump. */
	VEC(struct difference) open;
	uint64_t steps;      /* that failed */
	uint64_t false_ends; /* of these, walks that claimed to be complete */
	uint64_t excused;    /* that differed for one of these reasons */
};

void failures_release(struct failures *f);

/* The first frame that is wrong, or UINT32_MAX. */
uint32_t walk_difference(const struct walk *w, const struct truth *t);
void failures_add(struct failures *f, const struct walk *w, const struct truth *t, uint32_t frame,
		  uint64_t step, bool overwritten);
/* Told when functions have ended: by a return or, if `jumped`, by a jump out to pc. */
void failures_settle(struct failures *f, const struct truth *t, bool jumped, uint64_t pc);
/* Prints them by function, and of up to `limit` functions. */
void failures_print(const struct failures *f, struct space *s, unsigned limit);
