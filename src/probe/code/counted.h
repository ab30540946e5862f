/* Counting whole procedures: everything in them, by calling context (docs/COUNTING.md). */
#pragma once
#include "base/err.h"
#include "patch/fragment.h"
#include "probe/region/counts.h"

struct code;

/* Adds all procedures of the images for which `wants` says so, and that are not added yet, to the
 * next batch. *added: how many. */
typedef bool (*image_chooser)(void *ctx, const struct code *code);
int target_count(struct target *t, image_chooser wants, void *ctx, uint32_t *added, struct err *e);

/* A procedure by its number: 1 and up. */
struct counted_procedure {
	struct code *code;
	uint64_t va, bias;
	enum refusal refused;  /* it is not counted, because ... */
	struct regset private; /* as for tally/plan.h */
	const bool *without_trips;
	uint32_t first_loop;
};
/* False if there is none of this number. */
bool target_counted(const struct target *t, uint32_t number, struct counted_procedure *out);

enum counted_status {
	PLACE_COUNTED,  /* moved code of ours, or what it leaves in place */
	PLACE_REFUSED,  /* in the procedure at `va`, which cannot be counted */
	PLACE_STUB,     /* in an image that is counted, but in a linkage stub of it */
	PLACE_BETWEEN,  /* or in none of its procedures */
	PLACE_NO_COUNT, /* in an image that is not counted */
	PLACE_NO_IMAGE,
};

struct counted_place {
	enum counted_status status;
	struct code *code; /* NULL: in no image */
	uint64_t va;
};
/* What a run-time address is to counting. */
struct counted_place target_counted_place(struct target *t, uint64_t pc);
