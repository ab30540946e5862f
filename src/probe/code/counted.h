/* Counting whole functions: everything in them, by calling context (docs/COUNTING.md). */
#pragma once
#include "base/err.h"
#include "patch/fragment.h"
#include "probe/region/counts.h"

struct code;

/* Adds all functions of the modules for which `wants` returns true to the next batch, unless they
 * were added before. *added: their number. */
typedef bool (*module_chooser)(void *ctx, const struct code *code);
int target_count(struct target *t, module_chooser wants, void *ctx, uint32_t *added, struct err *e);

/* A function by its number, from 1 on. */
struct counted_function {
	struct code *code;
	uint64_t va, bias;
	enum refusal refused;  /* why it is not counted */
	struct regset private; /* as for counters/plan.h */
	const bool *without_trips;
	uint32_t first_loop;
};
/* False if there is no such number. */
bool target_counted(const struct target *t, uint32_t number, struct counted_function *out);

enum counted_status {
	PLACE_COUNTED,  /* in our moved code, or in code that it leaves in place */
	PLACE_REFUSED,  /* in the function at `va`, which cannot be counted */
	PLACE_STUB,     /* in a counted module, but in a linkage stub */
	PLACE_BETWEEN,  /* in a counted module, but in none of its functions */
	PLACE_NO_COUNT, /* in a module that is not counted */
	PLACE_NO_MODULE,
};

struct counted_place {
	enum counted_status status;
	struct code *code; /* NULL: in no module */
	uint64_t va;
};
/* How a run-time address is counted. */
struct counted_place target_counted_place(struct target *t, uint64_t pc);
