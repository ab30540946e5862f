/* A unit's debugging information, prepared for fusing with flow graphs: one row for each address
 * where line or inlining changes.
 *
 * A context is a place in the inlining tree: the function itself (context 0) or an inlined call.
 * When compilers copy code (unrolling, versioning), they describe an inlined call several times.
 * Here, calls of the same callee from the same place in the same context are one context. */
#pragma once
#include "module/debug.h"

enum { CONTEXT_FUNCTION = 0, CONTEXT_NONE = UINT32_MAX };

struct source_context {
	uint32_t parent, depth; /* for the function: itself and 0 */
	uint32_t scope;         /* inlined call in the unit's scopes; DEBUG_NONE for alien lines */
	/* For alien lines: their file, and their function as an index in the unit's outline. */
	uint32_t file, owner;
};

struct source_row {
	uint64_t va; /* it holds up to the va of the next row */
	uint32_t context;
	uint32_t file; /* DEBUG_NONE if unknown */
	uint32_t line; /* 0 if unknown or made by the compiler */
};

/* Where a statement begins, even if its code was moved elsewhere or removed (gcc only). */
struct source_marker {
	uint64_t va;
	uint32_t file, line, column;
};

/* The first line of a function in a source file, for the alien-line rules. */
struct outline_entry {
	uint32_t file, line;
	uint32_t scope; /* DEBUG_NONE for a function without code */
	const char *name;
};

struct source {
	const struct debug_unit *unit;
	const struct source_row *rows; /* sorted by va, without duplicates */
	const struct source_context *contexts;
	/* Sorted by file and line; only if the unit does not describe inlining. */
	const struct outline_entry *outline;
	const uint32_t *same_file; /* for each file of the unit, the first with the same path */
	/* Sorted by va; NULL if the compiler is not gcc. If no statement of a line begins near its
	 * code, the code was moved there from elsewhere, or it has no location of its own and just
	 * seems to have that of the code before it. */
	const struct source_marker *markers;
	bool marks_statements; /* markers are statements; otherwise they are only changes of line */
	bool nested_follow;    /* nested functions follow the one around them: Fortran */
	uint32_t row_count, context_count, outline_count, marker_count;
	struct arena arena;
};

/* The unit must outlive the result. */
struct source *source_prepare(const struct debug_unit *u);
void source_free(struct source *s);

/* The index of the row that covers va, or UINT32_MAX. */
uint32_t source_row_at(const struct source *s, uint64_t va);
/* The first marker at or after va. */
uint32_t source_marker_from(const struct source *s, uint64_t va);
/* The subprogram with code at va, or DEBUG_NONE. */
uint32_t source_subprogram_at(const struct source *s, uint64_t va);
