/* The probes that count a procedure: where they are, and what they do (isa/emit.h's operations). */
#pragma once
#include "patch/fragment.h"
#include "tally/plan.h"

/* Of the program that is counted: run-time addresses, and the procedure's numbers in the runtime's
 * tables. */
struct tally_numbers {
	uint64_t table, find; /* see emit_probe */
	uint64_t called, returned, landed, tripped;
	uint32_t procedure;
	uint32_t first_loop; /* of loop 0; the others follow */
};

struct tally_probes {
	struct spot_probe *data;
	uint32_t len, cap;
};

/* Appends the procedure's probes to `out` (vec_free() it); their operations live in `a`. */
void tally_code(const struct tally *t, const struct flow *f, const struct tally_numbers *n,
		struct tally_probes *out, struct arena *a);
/* What a call of the site adds to the stack pointer to be its key. */
int64_t tally_key(const struct tally *t, uint32_t site);
/* What makes the context known where control comes in from unknown code. */
struct emit_probe tally_recover(const struct tally *t, const struct tally_numbers *n,
				struct arena *a);
