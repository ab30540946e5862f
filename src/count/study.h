/* What is needed of a procedure to make sense of its counters: the plan that they were made by, and
 * its instructions in runs that belong to one place of the source. */
#pragma once
#include "probe/engine/engine.h"
#include "tally/solve.h"

/* Instructions of a block that follow each other and have the same innermost scope. */
struct insn_run {
	uint64_t va;
	uint32_t place;        /* of the procedure's places */
	uint32_t first, count; /* number in the block of the first one; how many */
	uint32_t mix[INSN_CLASSES];
};

struct study {
	struct counted_procedure what;
	const struct cfg *cfg;
	struct loop_forest forest;
	struct liveness live;
	struct tally tally;
	struct insn_run *runs;
	uint32_t *first_run; /* of each block, and behind the last */
	/* The scopes that the runs are in, each by its first instruction: a context has one node
	 * for each, or profiles would be many times as large. */
	uint64_t *places;
	uint32_t place_count;
	uint32_t number; /* of the study */
};

/* Studies of all processes, and what is known of the source of images. */
struct studies;

struct studies *studies_new(void);
void studies_free(struct studies *s);

/* Recovers the source structure of these procedures, in one go for each image. */
void studies_prepare(struct studies *s, const struct counted_procedure *list, uint32_t count);
/* That of all procedures of the image that were prepared; NULL if there is none to be had. */
const struct structure *studies_structure(struct studies *s, const struct code *code);
uint32_t studies_count(const struct studies *s);
/* NULL if the image is not what it was. */
const struct study *studies_find(struct studies *s, const struct counted_procedure *what);
