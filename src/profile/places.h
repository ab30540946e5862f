/* Source locations of code while a program still runs (a profile is fused with source structure
 * only at the end). Structure is recovered for requested functions, one batch at a time, and
 * kept. */
#pragma once
#include "base/vec.h"
#include "structure/structure.h"

struct places;

/* Returns the opened module with an index, or NULL. Symbols may be added to it. */
typedef struct module *(*place_module)(void *ctx, uint32_t module);
/* Returns the functions of a module if they are already known, or NULL. */
typedef struct flow *(*place_flow)(void *ctx, uint32_t module);

/* `flow` may be NULL. */
struct places *places_new(place_module module, place_flow flow, void *ctx);
void places_free(struct places *p);

struct place_asked {
	uint32_t module;
	uint64_t address;
};
/* Recovers the structure of the functions at these addresses, as far as it is not known yet. */
void places_prepare(struct places *p, const struct place_asked *list, uint32_t count);
/* The structure of all functions of a module that were asked for, or NULL if it could not be
 * recovered, or not at once. */
const struct structure *places_structure(const struct places *p, uint32_t module);

enum { PLACE_LOOPS = 8 };

/* A function, or a call inlined into the level before it. */
struct place_level {
	const char *name;
	const char *file; /* of `line` and `loops`; "" if unknown */
	uint32_t line; /* line of the call of the next level or, in the last level, of the address;
			  0 if unknown */
	struct place_lines {
		uint32_t first, last;
	} loops[PLACE_LOOPS]; /* loops around that line, outermost first */
	uint32_t loop_count;
	bool inlined;
};

typedef VEC(struct place_level) level_list;

/* Appends the levels of an address, outermost first. Names live as long as `p`. */
void places_levels(struct places *p, uint32_t module, uint64_t address, level_list *out);
/* Appends the levels of the source loop to which the machine loop with this header belongs: it
 * is the innermost loop of the last level. If that loop is unknown, appends the levels of the
 * address and returns false. */
bool places_loop(struct places *p, uint32_t module, uint64_t header, level_list *out);
