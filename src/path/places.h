/* Where the nodes of a call path are in the source, while the program still runs: the profile is
 * fused with its structure only at the end. Structure is recovered for the procedures that are
 * asked for, a batch at a time, and kept. */
#pragma once
#include "path/profile.h"
#include "structure/structure.h"

struct places;

struct places *places_new(const struct path_profile *p);
void places_free(struct places *p);

/* Recovers what is not known yet about these nodes. */
void places_prepare(struct places *p, const uint32_t *nodes, uint32_t count);

enum { PLACE_LOOPS = 8 };

/* A procedure, or a call inlined into the level before it. */
struct place_level {
	const char *name;
	const char *file; /* of `line` and `loops`; "" if not known */
	uint32_t line;    /* where it calls the next level, or is; 0 if not known */
	struct place_lines {
		uint32_t first, last;
	} loops[PLACE_LOOPS]; /* around that line, outermost first */
	uint32_t loop_count;
	bool inlined;
};

typedef VEC(struct place_level) level_list;

/* Adds the levels of a node's frame, outermost first. Names are good as long as `p`. */
void places_levels(struct places *p, uint32_t node, level_list *out);
