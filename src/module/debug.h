/* A module's debugging information about its source: functions, inlined calls and lines, unit by
 * unit, on demand.
 *
 * libdw is confined to module/. A libdw handle must not be used by two threads at once, so a
 * `struct debug` belongs to one thread at a time; open one for each worker (they share the module's
 * bytes; all but the first open are cheap). A loaded unit is plain data that does not depend on the
 * handle, and any thread may read it. */
#pragma once
#include "module/module.h"

enum { DEBUG_NONE = UINT32_MAX };

struct address_range {
	uint64_t start, end;
};

/* One subprogram with code, or one inlined call within it. */
struct debug_scope {
	const char *name;    /* source name, as people write it; "" if the compiler gave none */
	const char *linkage; /* mangled name, or NULL */
	uint32_t parent;     /* enclosing subprogram or inlined call, in the unit's scopes */
	uint32_t decl_file, decl_line;              /* the definition; file DEBUG_NONE if unknown */
	uint32_t call_file, call_line, call_column; /* position of an inlined call in its parent */
	uint32_t first_range, range_count;          /* in the unit's ranges */
	bool inlined;
};

/* A row of the line table. If several rows have the same address, the last one gives the line of
 * the code there. The others are statements that begin there, whose code was moved elsewhere or
 * removed. */
struct debug_line {
	uint64_t va;
	uint32_t file; /* index in the unit's files; DEBUG_NONE if unknown */
	uint32_t line; /* 0: code made by the compiler, without a line of its own */
	uint16_t column;
	bool is_stmt;
	bool end; /* end of sequence: no line is known from va on */
};

/* The definition of a function that has no code of its own. It bounds source lines for the
 * alien-line rules. */
struct debug_decl {
	const char *name;
	uint32_t file, line;
};

struct debug_unit {
	const char *name; /* primary source file, as given to the compiler */
	const char *comp_dir;
	const char *producer; /* may be NULL */
	uint32_t language;    /* DW_LANG_* */
	bool has_inlining;    /* it describes inlined calls: the alien-line rules are not needed */

	const struct address_range *ranges; /* of scopes */
	const struct debug_scope *scopes;   /* parents before children */
	const struct debug_line *lines;     /* sorted by va */
	const struct debug_decl *decls;     /* sorted by file, line */
	const char *const *files;           /* full paths, where the unit gives them */
	uint32_t range_count, scope_count, line_count, decl_count, file_count;

	/* Subprograms sorted by address: for each range of a scope that is not inlined. */
	const struct debug_entry {
		uint64_t start, end;
		uint32_t scope;
	} * entries;
	/* Code by its innermost scope (inlined or not): sorted, disjoint. */
	const struct debug_entry *innermost;
	uint32_t entry_count, innermost_count;

	struct arena arena;
};

struct debug;

struct debug_options {
	bool fetch;     /* ask debuginfod servers, if $DEBUGINFOD_URLS names any */
	bool use_cache; /* for what is compressed: cache_file.h */
	/* Called during a download; may be NULL. Returns false to give up. */
	bool (*progress)(void *ctx, long done, long total);
	void *ctx;
};

/* Finds the debugging information of `m`: in the file itself, by build id, by debuglink, from
 * debuginfod. If there is none, *out is NULL and the result 0. An error means that there is some,
 * but it cannot be read; `m` can still be used without it. If the information is in a separate
 * file, debug_file() gives access to the symbols in it. `options` may be NULL; `m` must outlive
 * all handles. */
int debug_open(struct debug **out, const struct module *m, const struct debug_options *options,
	       struct err *e);
/* Another handle on the same information, for another thread. */
int debug_clone(struct debug **out, const struct debug *d, struct err *e);
void debug_close(struct debug *d);

/* The separate debug file in use, or NULL if the information is in the module itself. It lives
 * until the last handle is closed. */
const struct module *debug_file(const struct debug *d);

uint32_t debug_unit_count(const struct debug *d);
/* The number of the unit that has code at va, or DEBUG_NONE. */
uint32_t debug_unit_at(struct debug *d, uint64_t va);
/* Reads one unit. Invalid contents are left out; they never lead to accesses outside of the
 * file. */
struct debug_unit *debug_unit_load(struct debug *d, uint32_t number);
void debug_unit_free(struct debug_unit *u);

/* The line row that covers va, or NULL. */
const struct debug_line *debug_line_at(const struct debug_unit *u, uint64_t va);
/* The innermost scope (inlined call or subprogram) at va, or DEBUG_NONE. */
uint32_t debug_scope_at(const struct debug_unit *u, uint64_t va);
