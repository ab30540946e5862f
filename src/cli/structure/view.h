/* The structure of an image as it is shown: the procedures chosen, and the forms to show them in.
 */
#pragma once
#include "base/json.h"
#include "structure/structure.h"

struct view {
	const struct structure *structure;
	const char *path;           /* of the image */
	const uint32_t *procedures; /* the chosen ones, ascending */
	uint32_t count;
};

/* All of these hand `out` over to output_write() whenever it has grown large. */
void view_tree(const struct view *v, struct text *out);
void view_loops(const struct view *v, struct text *out);
void view_stats(const struct view *v, struct text *out);

/* The members of the image's JSON object; `sonde-structure(1)` documents them. */
void view_image_json(const struct view *v, struct json *j);
void view_tree_json(const struct view *v, struct json *j);
void view_loops_json(const struct view *v, struct json *j);
void view_stats_json(const struct view *v, struct json *j);

const char *view_machine(const struct view *v);
/* Text at an offset of the structure. */
const char *view_text(const struct view *v, uint32_t offset);
/* The inlined calls around a scope, outermost first, at most `max`. Returns how many there are;
 * where these are more than max, the innermost ones are given. */
uint32_t view_inline_chain(const struct view *v, uint32_t scope, const struct scope **chain,
			   uint32_t max);

/* Counts over the chosen procedures. */
enum { VIEW_DEPTHS = 10 };

struct view_counts {
	uint64_t found[FOUND_WAYS]; /* found this way, perhaps among others */
	uint64_t first[FOUND_WAYS]; /* found this way and by none that is named before it */
	uint64_t blocks, instructions, bytes, tables, unresolved, bad, noreturn;
	uint64_t loops, irreducible, source_loops, inlined,
		by_depth[VIEW_DEPTHS]; /* [9]: 10 and more */
};

void view_count(const struct view *v, struct view_counts *out);
