/* Views of the structure of a module: the selected functions, as text and as JSON. */
#pragma once
#include "base/json.h"
#include "structure/structure.h"

struct view {
	const struct structure *structure;
	const char *path;          /* of the module */
	const uint32_t *functions; /* indices of the selected functions, ascending */
	uint32_t count;
};

/* These pass `out` to output_write() whenever it has become large. */
void view_tree(const struct view *v, struct text *out);
void view_loops(const struct view *v, struct text *out);
void view_stats(const struct view *v, struct text *out);

/* Add members to the module's JSON object; sonde-structure(1) documents them. */
void view_module_json(const struct view *v, struct json *j);
void view_tree_json(const struct view *v, struct json *j);
void view_loops_json(const struct view *v, struct json *j);
void view_stats_json(const struct view *v, struct json *j);

const char *view_machine(const struct view *v);
/* Returns the text at an offset of the structure. */
const char *view_text(const struct view *v, uint32_t offset);
/* Lists the inlined calls around a scope, outermost first, at most `max`. Returns their number; if
 * that is more than `max`, the innermost ones are listed. */
uint32_t view_inline_chain(const struct view *v, uint32_t scope, const struct scope **chain,
			   uint32_t max);

/* Counts over the selected functions. */
enum { VIEW_DEPTHS = 10 };

struct view_counts {
	uint64_t found[FOUND_METHODS]; /* functions found by this method, perhaps by others, too ...
					*/
	uint64_t first[FOUND_METHODS]; /* ... and by no method with a lower index */
	uint64_t blocks, instructions, bytes, tables, unresolved, bad, noreturn;
	/* The last element of by_depth counts all loops at depth VIEW_DEPTHS and deeper. */
	uint64_t loops, irreducible, source_loops, inlined, by_depth[VIEW_DEPTHS];
};

void view_count(const struct view *v, struct view_counts *out);
