/* The source structure of an image: procedures, inlined calls, loops and lines as one tree, fused
 * from flow graphs and debugging information (Tallent et al., PLDI 2009, section 3).
 *
 * The result is flat: arrays of plain structs that refer to each other by index and to text by
 * offset, so that it can be written to the cache as it is and used from there without conversion.
 *
 * Invariants:
 *  1. Scopes are in preorder; a procedure's scopes, loops and ranges are contiguous.
 *  2. Of one procedure's lines no two ranges overlap, and a scope's ranges are sorted and disjoint.
 *  3. The inlined calls on the way from the procedure to the scope of an address are exactly those
 * that the debugging information gives for the address, outermost first.
 *  4. A scope's ranges cover its children's, except for code that the compiler moved out of a loop:
 * its line stands in the loop that it came from (section 3.4), its addresses do not. */
#pragma once
#include "flow/flow.h"
#include "flow/loops.h"
#include "image/debug.h"

enum { INDEX_NONE = UINT32_MAX };

/* Scopes are stored in preorder: the children of scope i are i+1, scopes[i+1].end, ... <
 * scopes[i].end. */
enum scope_kind {
	SCOPE_PROCEDURE,
	SCOPE_INLINE, /* an inlined call; or, where inlining had to be inferred, alien lines */
	SCOPE_LOOP,
	SCOPE_LINE,
};

enum scope_flag {
	/* SCOPE_INLINE inferred from line numbers: the call's place is unknown, the name often.
	 * Nested inlining appears flat (section 3.2). */
	SCOPE_ALIEN = 1 << 0,
	SCOPE_NO_LINE = 1 << 1,     /* SCOPE_LOOP made by the compiler, without a line of its own */
	SCOPE_IRREDUCIBLE = 1 << 2, /* SCOPE_LOOP */
};

struct scope {
	uint32_t end;    /* index behind its last descendant */
	uint32_t parent; /* INDEX_NONE for a procedure */
	uint32_t name; /* text offset: procedure or inlined callee; 0 (the empty text) otherwise */
	uint32_t file; /* text offset of the path, 0 if unknown */
	uint32_t first_line,
		last_line; /* in `file`; 0 if unknown. Of an inlined call: of its body */
	uint32_t call_file, call_line; /* SCOPE_INLINE: where the call stands */
	uint32_t first_range, range_count;
	uint32_t loop;       /* SCOPE_LOOP: the first machine loop that it stands for; INDEX_NONE
				otherwise */
	uint8_t kind;        /* enum scope_kind */
	uint8_t flags;       /* enum scope_flag */
	uint16_t loop_depth; /* source loops around it in the procedure, itself included */
};

/* A loop of the machine code. Several may be one loop of the source (peeled, split, vectorised):
 * those have the same scope. */
struct machine_loop {
	uint64_t header; /* va */
	uint32_t procedure;
	uint32_t parent; /* enclosing machine loop or INDEX_NONE */
	uint32_t scope;  /* its SCOPE_LOOP */
	uint32_t depth;  /* 1 for an outermost loop */
	uint32_t block_count, insn_count, bytes, call_count; /* nested loops included */
	uint32_t entry_count, exit_count, back_count;        /* edges */
	uint32_t irreducible;
};

struct structure_procedure {
	uint64_t start, end; /* main part; the scope's ranges tell all parts */
	uint32_t name;       /* demangled, as people write it; text offset; 0 if unknown */
	uint32_t linkage;    /* mangled; text offset */
	uint32_t scope;      /* its SCOPE_PROCEDURE */
	uint32_t first_loop, loop_count;
	uint32_t block_count, edge_count, insn_count, unresolved, table_count, bad;
	uint16_t found_by; /* enum found_by */
	uint16_t flags;    /* enum procedure_flag */
};

struct structure_stats {
	double seconds_image, seconds_debug, seconds_flow, seconds_structure;
	double seconds_cache; /* reading or writing it */
	uint64_t peak_memory; /* bytes */
};

struct structure {
	const struct structure_procedure *procedures; /* sorted by start */
	const struct scope *scopes;
	const struct machine_loop *loops;
	const struct address_range *ranges;
	const char *text; /* NUL-terminated strings; offset 0 is the empty string */
	uint32_t procedure_count, scope_count, loop_count, range_count, text_size;
	uint16_t machine;         /* EM_* */
	struct build_id build_id; /* size 0 if it has none */
	bool has_lines;           /* debugging information was there */
	bool cached;              /* came from the cache */
	struct structure_stats stats;
	void *storage; /* what structure_free() frees */
};

struct structure_options {
	bool use_cache;
	bool use_debug; /* read DWARF where there is some */
	struct debug_options debug;
	/* structure_of_addresses(): the image's procedures, if they are discovered already; NULL:
	 * they are found anew. */
	struct flow *flow;
};

/* The structure of a whole image, from the cache where it can be. */
int structure_open(struct structure **out, const char *path, const struct structure_options *o,
		   struct err *e);
/* The same for an image that is open already; never cached unless it has a build id. Adds to the
 * image the symbols of its separate debug file. */
int structure_build(struct structure **out, struct image *im, const struct structure_options *o,
		    struct err *e);
void structure_free(struct structure *s);

/* The structure of a whole image if it is in the cache, found by reading no more of the file than
 * its build id; else NULL. */
struct structure *structure_cached(const char *path, const struct structure_options *o);
/* The structure of the procedures that have one of the addresses and no others, for callers that
 * need these now; of the whole image if that is in the cache. It is not cached. Adds to the image
 * as structure_build() does. */
int structure_of_addresses(struct structure **out, struct image *im, const uint64_t *addresses,
			   uint32_t count, const struct structure_options *o, struct err *e);

/* From addresses to procedures and scopes. The scopes of a procedure are indexed when the first
 * address in it is looked up. */
struct scope_index;

/* The structure must outlive the index. */
struct scope_index *scope_index_new(const struct structure *s);
void scope_index_free(struct scope_index *x);
/* The number of the procedure that has va in any of its parts, or INDEX_NONE. */
uint32_t scope_index_procedure(const struct scope_index *x, uint64_t va);
/* The innermost scope at va, or INDEX_NONE. */
uint32_t scope_index_at(struct scope_index *x, uint64_t va);
