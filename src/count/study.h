/* What is needed to understand the counters of a function: the plan by which they were made, and
 * its instructions, in runs that belong to one place of the source. */
#pragma once
#include "counters/solve.h"
#include "counters/where.h"
#include "probe/engine/engine.h"

/* Consecutive instructions of a block that have the same innermost scope. */
struct insn_run {
	uint64_t va;
	uint32_t place;        /* index in the function's places */
	uint32_t first, count; /* position of the first one in its block; their number */
	uint32_t mix[INSN_CLASSES];
};

struct study {
	struct counted_function what;
	uint32_t block_count, entry;
	struct loop_forest forest;
	const uint64_t *headers;  /* va of each loop's header */
	struct counters counters; /* without the graph and the liveness: they would be large */
	struct insn_run *runs;
	uint32_t *first_run; /* of each block, and one after the last */
	/* The scopes that the runs are in, each by its first instruction. A context has one node
	 * for each scope: with one for each run, profiles would be many times as large. */
	uint64_t *places;
	uint32_t place_count;
	uint32_t number; /* of the study */
};

/* Studies of all processes, and what is known of the source of modules. */
struct studies;

struct studies *studies_new(void);
void studies_free(struct studies *s);

/* Recovers the source structure of these functions, in one go for each module. */
void studies_prepare(struct studies *s, const struct counted_function *list, uint32_t count);
/* The source structure of all functions of the module that were prepared; NULL if there is none. */
const struct structure *studies_structure(struct studies *s, const struct code *code);
uint32_t studies_count(const struct studies *s);
/* NULL if the module is not what it was. */
const struct study *studies_find(struct studies *s, const struct counted_function *what);
/* The place of va in the function. */
struct counters_place study_place(struct studies *s, const struct study *y, uint64_t va);
