/* Builds the scopes of one function. The steps, each a pass over flat arrays:
 *
 *	pieces       the function's code, cut where block, line or inlining changes    pieces.c
 *	(alien)      contexts inferred from lines, if DWARF has no inlining            alien.c
 *	solid        the pieces that truly belong to the loop they are in              solid.c
 *	loops        the context and the lines of each machine loop                    loop_source.c
 *	scopes       the tree: loops first, then each piece below its innermost loop   scopes.c
 *	normalise    lines that were moved out of a loop go back into it               normalise.c
 *	emit         preorder, appended to the builder                                 emit.c
 *
 * A builder belongs to one thread. Its results refer to text by numbers of its own pool, and to
 * scopes, loops and ranges relative to the function's first; join.h makes one structure of the
 * results of many builders. */
#pragma once
#include "structure/source.h"
#include "structure/structure.h"
#include "structure/text_pool.h"

/* Code of one block with one line and one context. */
struct piece {
	uint64_t start, end;
	uint32_t block; /* BLOCK_NONE for code in no block */
	uint32_t loop;  /* innermost machine loop or LOOP_NONE */
	uint32_t context;
	uint32_t file, line; /* line 0: unknown */
	bool last;           /* holds the block's last instruction */
	bool solid;          /* it is in a loop, and its line truly belongs to the loop */
};

/* The source of a machine loop. */
struct loop_source {
	uint32_t context;
	uint32_t file, first_line, last_line; /* line 0: none */
	uint32_t node;
};

struct range_link {
	uint64_t start, end;
	uint32_t next; /* INDEX_NONE ends the list */
};

/* A scope that is being built. Two nodes with the same parent differ in (kind, id, file). */
struct node {
	uint32_t parent;
	uint32_t id;   /* line, first line of a loop, or context */
	uint32_t file; /* index in the unit's files; DEBUG_NONE if unknown */
	uint32_t first_line, last_line;
	uint32_t first_range, last_range; /* in range_links */
	uint32_t loop;                    /* first machine loop of a SCOPE_LOOP */
	uint32_t child, next;             /* set by emit.c */
	uint8_t kind, flags;
	bool dead; /* merged into another node */
};

/* A finished function; its scopes, loops and ranges begin at the given indices. */
struct built {
	uint32_t number;
	uint32_t first_scope, first_loop, first_range;
	uint32_t scope_count, range_count;
	struct structure_function function; /* .scope is not set, .first_loop is relative */
};

struct structure_builder {
	struct text_pool text;
	VEC(struct built) built;
	VEC(struct scope) scopes;
	VEC(struct machine_loop) loops;
	VEC(struct address_range) ranges;

	/* The current function. */
	const struct function *function;
	const struct part *parts; /* all of its parts, sorted */
	uint32_t part_count;
	const struct cfg *cfg;
	const struct loop_forest *forest;
	const struct source *source;     /* NULL without debugging information */
	uint32_t subprogram;             /* in the unit's scopes, or DEBUG_NONE */
	uint32_t entry_file, entry_line; /* of its first instruction; line 0 if unknown */
	bool alien;                      /* contexts are inferred: alien_contexts */
	const struct source_context *contexts;
	VEC(struct source_context) alien_contexts;
	VEC(struct piece) pieces;
	struct loop_source *loop_sources; /* one for each loop of the forest */
	VEC(struct node) nodes;           /* [0] is the function */
	VEC(struct range_link) range_links;
	struct hashmap node_at; /* by properties and parent */
	VEC(uint32_t) scope_of; /* for each node, relative to the function's first scope */

	struct arena cfg_arena, tmp;
};

void builder_init(struct structure_builder *b);
void builder_release(struct structure_builder *b);
/* Forgets the results. */
void builder_clear(struct structure_builder *b);

/* Appends the scopes of one function. `parts` are its split-off parts; `source` may be NULL. */
void builder_add(struct structure_builder *b, uint32_t number, const struct function *p,
		 const struct part *parts, const struct cfg *cfg, const struct loop_forest *forest,
		 const struct source *source);

/* The steps. */
void find_pieces(struct structure_builder *b);
void find_aliens(struct structure_builder *b);
void find_solid(struct structure_builder *b);
void find_loop_sources(struct structure_builder *b);
void build_scopes(struct structure_builder *b);
void normalise_lines(struct structure_builder *b);
void emit_function(struct structure_builder *b, uint32_t number,
		   const struct structure_function *description);

/* Files of the unit with the same path have one number: that of `file`, or DEBUG_NONE. */
uint32_t unit_file(const struct structure_builder *b, uint32_t file);

/* The function or inlined call that a context is, or NULL if the unit does not say. */
const struct debug_scope *context_scope(const struct structure_builder *b, uint32_t context);
/* True if code of context `inner` can be in a loop of context `outer`. */
bool context_holds(const struct structure_builder *b, uint32_t outer, uint32_t inner);
/* True if the piece holds a branch or call that has a line. Optimisers do not move these out of
 * their loop, because they decide or have effects. */
bool is_anchor(const struct structure_builder *b, const struct piece *p);

void nodes_clear(struct structure_builder *b);
/* The node with these properties below `parent`, or 0. */
uint32_t node_find(const struct structure_builder *b, uint32_t parent, enum scope_kind kind,
		   uint32_t id, uint32_t file);
/* The same; the node is made if it does not exist. */
uint32_t node_get(struct structure_builder *b, uint32_t parent, enum scope_kind kind, uint32_t id,
		  uint32_t file);
/* Appends a range; ranges must be added in the order of addresses. */
void node_add_range(struct structure_builder *b, struct node *n, uint64_t start, uint64_t end);
