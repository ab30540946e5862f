/* The probes that count a function: where they are, and what they do (isa/emit.h's operations). */
#pragma once
#include "patch/fragment.h"
#include "tally/plan.h"

/* Run-time addresses in the counted program, and the function's numbers in the runtime's tables. */
struct tally_numbers {
	uint64_t table, find; /* see emit_probe */
	uint64_t called, returned, landed, tripped;
	uint32_t function;
	uint32_t first_loop; /* number of loop 0; the others follow */
};

struct tally_probes {
	struct spot_probe *data;
	uint32_t len, cap;
};

/* Appends the function's probes to `out` (vec_free() it); their operations live in `a`. */
void tally_code(const struct tally *t, const struct flow *f, const struct tally_numbers *n,
		struct tally_probes *out, struct arena *a);
/* The number that a call at the site adds to the stack pointer to form its key. */
int64_t tally_key(const struct tally *t, uint32_t site);
/* A probe that finds the context where control arrives from unknown code. */
struct emit_probe tally_recover(const struct tally *t, const struct tally_numbers *n,
				struct arena *a);
