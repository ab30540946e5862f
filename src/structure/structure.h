/* The source structure of a module: functions, inlined calls, loops and lines as one tree, fused
 * from flow graphs and debugging information (Tallent et al., PLDI 2009, section 3).
 *
 * The result is flat: arrays of plain structs that refer to each other by index and to text by
 * offset. So it can be written to the cache as it is, and used from there without conversion.
 *
 * Invariants:
 * 1. Scopes are in preorder; the scopes, loops and ranges of a function are contiguous.
 * 2. No two ranges of one function's lines overlap, and the ranges of a scope are sorted and
 *    disjoint.
 * 3. The inlined calls on the path from the function to the scope of an address are exactly those
 *    that the debugging information has for the address, outermost first.
 * 4. The ranges of a scope cover those of its children, except for code that the compiler moved out
 *    of a loop: its line is in the loop that it came from (section 3.4), its addresses are not. */
#pragma once
#include "flow/flow.h"
#include "flow/loops.h"
#include "module/debug.h"

enum { INDEX_NONE = UINT32_MAX };

/* Scopes are stored in preorder. The first child of scope i is i + 1, and the sibling after scope k
 * is scopes[k].end, as long as that is less than scopes[i].end. */
enum scope_kind {
	SCOPE_FUNCTION,
	SCOPE_INLINE, /* an inlined call; alien lines, if inlining had to be inferred */
	SCOPE_LOOP,
	SCOPE_LINE,
};

enum scope_flag {
	/* SCOPE_INLINE inferred from line numbers: the position of the call is unknown, and often
	 * its name. Nested inlining appears flat (section 3.2). */
	SCOPE_ALIEN = 1 << 0,
	SCOPE_NO_LINE = 1 << 1,     /* SCOPE_LOOP made by the compiler, without a line of its own */
	SCOPE_IRREDUCIBLE = 1 << 2, /* SCOPE_LOOP */
};

struct scope {
	uint32_t end;    /* index after its last descendant */
	uint32_t parent; /* INDEX_NONE for a function */
	uint32_t name;   /* text offset: function or inlined callee; 0 (the empty text) otherwise */
	uint32_t file;   /* text offset of the path, 0 if unknown */
	uint32_t first_line, last_line; /* in `file`, 0 if unknown; of an inlined call's body */
	uint32_t call_file, call_line;  /* SCOPE_INLINE: position of the call */
	uint32_t first_range, range_count;
	uint32_t loop;       /* SCOPE_LOOP: its first machine loop; otherwise INDEX_NONE */
	uint8_t kind;        /* enum scope_kind */
	uint8_t flags;       /* enum scope_flag */
	uint16_t loop_depth; /* source loops around it in the function, itself included */
};

/* A loop of the machine code. Several may come from one loop of the source (peeled, split,
 * vectorised): these have the same scope. */
struct machine_loop {
	uint64_t header; /* va */
	uint32_t function;
	uint32_t parent; /* enclosing machine loop or INDEX_NONE */
	uint32_t scope;  /* its SCOPE_LOOP */
	uint32_t depth;  /* 1 for an outermost loop */
	uint32_t block_count, insn_count, bytes, call_count; /* nested loops included */
	uint32_t entry_count, exit_count, back_count;        /* edges */
	uint32_t irreducible;
};

struct structure_function {
	uint64_t start, end; /* main part; the scope's ranges are all parts */
	uint32_t name;       /* demangled, as people write it; text offset; 0 if unknown */
	uint32_t linkage;    /* mangled; text offset */
	uint32_t scope;      /* its SCOPE_FUNCTION */
	uint32_t first_loop, loop_count;
	uint32_t block_count, edge_count, insn_count, unresolved, table_count, bad;
	uint16_t found_by; /* enum found_by */
	uint16_t flags;    /* enum function_flag */
};

struct structure_stats {
	double seconds_module, seconds_debug, seconds_flow, seconds_structure;
	double seconds_cache; /* reading or writing the cache */
	uint64_t peak_memory; /* bytes */
};

struct structure {
	const struct structure_function *functions; /* sorted by start */
	const struct scope *scopes;
	const struct machine_loop *loops;
	const struct address_range *ranges;
	const char *text; /* NUL-terminated strings; offset 0 is the empty string */
	uint32_t function_count, scope_count, loop_count, range_count, text_size;
	uint16_t machine;         /* EM_* */
	struct build_id build_id; /* size 0 if it has none */
	bool has_lines;           /* there is debugging information */
	bool cached;              /* it is that of the whole module, and came from the cache */
	struct structure_stats stats;
	void *storage[5]; /* memory that structure_free() frees */
};

struct structure_options {
	bool use_cache;
	bool use_debug; /* read DWARF if there is some */
	struct debug_options debug;
	/* For structure_of_addresses(): the module's functions, if they were discovered already.
	 * NULL: they are found again. */
	struct flow *flow;
};

/* The structure of a whole module, from the cache if possible. */
int structure_open(struct structure **out, const char *path, const struct structure_options *o,
		   struct err *e);
/* The same for a module that is open already; never cached unless it has a build id. Adds the
 * symbols and frame ranges of its separate debug file to the module. */
int structure_build(struct structure **out, struct module *m, const struct structure_options *o,
		    struct err *e);
void structure_free(struct structure *s);

/* The structure of a whole module if it is in the cache, else NULL. Reads only the build id of the
 * file. */
struct structure *structure_cached(const char *path, const struct structure_options *o);
/* The structure of the functions that have one of the addresses, for callers that need it at once.
 * If the whole module is in the cache, the result is its structure. Otherwise it may have more
 * functions, which were asked for in earlier runs and are in the cache. Adds symbols and frame
 * ranges to the module as structure_build() does, unless all functions are in the cache. */
int structure_of_addresses(struct structure **out, struct module *m, const uint64_t *addresses,
			   uint32_t count, const struct structure_options *o, struct err *e);

/* Finds functions and scopes by address. The scopes of a function are indexed when the first
 * address in it is looked up. */
struct scope_index;

/* The structure must outlive the index. */
struct scope_index *scope_index_new(const struct structure *s);
void scope_index_free(struct scope_index *x);
/* The number of the function that has va in any of its parts, or INDEX_NONE. */
uint32_t scope_index_function(const struct scope_index *x, uint64_t va);
/* The innermost scope at va, or INDEX_NONE. */
uint32_t scope_index_at(struct scope_index *x, uint64_t va);
