/* Where code is in the source, while a program still runs: a profile is fused with its structure
 * only at the end. Structure is recovered for the procedures that are asked for, a batch at a time,
 * and kept. */
#pragma once
#include "base/vec.h"
#include "structure/structure.h"

struct places;

/* The opened image of a number, or NULL; symbols may be added to it. */
typedef struct image *(*place_image)(void *ctx, uint32_t image);
/* Its procedures, if they are known already; or NULL. */
typedef struct flow *(*place_flow)(void *ctx, uint32_t image);

/* `flow` may be NULL. */
struct places *places_new(place_image image, place_flow flow, void *ctx);
void places_free(struct places *p);

struct place_asked {
	uint32_t image;
	uint64_t address;
};
/* Recovers what is not known yet about the procedures that have these addresses. */
void places_prepare(struct places *p, const struct place_asked *list, uint32_t count);

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

/* Adds the levels of an address, outermost first. Names are good as long as `p`. */
void places_levels(struct places *p, uint32_t image, uint64_t address, level_list *out);
/* Those of the loop of the source that the machine's loop with this header is of: it is the
 * innermost of the last level. False, with the levels of the address, if it is not known. */
bool places_loop(struct places *p, uint32_t image, uint64_t header, level_list *out);
