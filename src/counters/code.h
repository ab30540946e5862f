/* The probes that count a function: where they are, and what they do (isa/emit.h's operations). */
#pragma once
#include "counters/plan.h"
#include "patch/fragment.h"

/* Run-time addresses in the counted program, and the function's numbers in the runtime's tables. */
struct counters_numbers {
	uint64_t table, find; /* see emit_probe */
	uint64_t called, returned, landed, tripped;
	uint32_t function;
	uint32_t first_loop; /* number of loop 0; the others follow */
};

struct counters_probes {
	struct spot_probe *data;
	uint32_t len, cap;
};

/* Appends the function's probes to `out` (vec_free() it); their operations live in `a`. */
void counters_code(const struct counters *t, const struct flow *f, const struct counters_numbers *n,
		   struct counters_probes *out, struct arena *a);
/* The number that a call at the site adds to the stack pointer to form its key. */
int64_t counters_key(const struct counters *t, uint32_t site);
/* A probe that finds the context where control arrives from unknown code, at a distance from the
 * function's start, of which it has 31 bits. */
struct emit_probe counters_recover(const struct counters *t, const struct counters_numbers *n,
				   uint32_t distance, struct arena *a);
