/* An outline: the common form of all views that are trees or lists of scopes. A view builds an
 * outline; sorting, pruning, per-thread columns, text, JSON and CSV are the same for all. */
#pragma once
#include "base/json.h"
#include "cli/report/data.h"
#include "cli/report/fold.h"
#include "profile/flat.h"

enum outline_kind {
	OUTLINE_ROOT,
	OUTLINE_MODULE,
	OUTLINE_FILE,
	OUTLINE_FUNCTION,
	OUTLINE_INLINE,
	OUTLINE_LOOP,
	OUTLINE_LINE,
	OUTLINE_KERNEL,
	OUTLINE_WAIT,
	OUTLINE_PARTIAL,
	OUTLINE_OUTSIDE, /* all code outside loops */
	OUTLINE_REST,    /* the sum of callers that are too small to be listed */
	OUTLINE_KINDS,
};

extern const char *const outline_kind_name[OUTLINE_KINDS];

struct outline_node {
	uint32_t parent, first_child, next; /* PROFILE_NONE if none */
	uint32_t scope;                     /* PROFILE_NONE if it is not a scope */
	uint32_t levels;                    /* levels of recursion folded into it */
	uint8_t kind;                       /* enum outline_kind */
	const char *name;                   /* path of a module or file, otherwise NULL */
	uint64_t self, total, self_samples, total_samples;
};

struct outline {
	VEC(struct outline_node) nodes; /* 0 is the root; parents before children */
	bool overlapping; /* totals of siblings overlap: only their self amounts add up */
	bool no_self;     /* self has no meaning in this view */
};

uint32_t outline_add(struct outline *o, struct outline_node n);
void outline_release(struct outline *o);

void outline_from_tree(struct outline *o, const struct tree *t);
void outline_from_folded(struct outline *o, const struct folded *f);
void outline_from_flat(struct outline *o, const struct flat *f);
/* Removes the nodes marked in `away`; their children move up. */
void outline_remove(struct outline *o, const bool *away);
/* Removes startup code (_start and the like). */
void outline_skip_startup(struct outline *o, const struct profile *p);
/* True if a node of a linked outline of calls is startup code. */
bool outline_is_startup(const struct outline *o, uint32_t node, const struct profile *p);
/* Sorts and links siblings. Call it when all nodes have been added. */
void outline_link(struct outline *o, const struct profile *p, enum report_sort sort);

/* A line of the output, in display order. */
struct outline_row {
	uint32_t node;   /* PROFILE_NONE: the sum of siblings that are too small to show */
	uint32_t parent; /* index of the parent's row, or PROFILE_NONE */
	uint32_t depth;  /* 0 below the root */
	uint32_t hidden; /* the number of nodes in the sum */
	uint64_t amount; /* the sum */
};

struct outline_rows {
	VEC(struct outline_row) list;
};

/* Lists the rows to show, pruned by r->min_share and r->depth. */
void outline_rows(const struct outline *o, const struct report *r, struct outline_rows *out);

/* Self and total of single threads, for --per-thread. */
struct outline_threads {
	uint32_t *threads, count;
	struct outline_amount {
		uint64_t self, total;
	} * amounts; /* [node * count + i] */
};

typedef void (*outline_build)(const struct report *r, struct outline *out);

void outline_by_thread(const struct outline *o, const struct report *r, outline_build build,
		       struct outline_threads *out);
void outline_threads_release(struct outline_threads *t);

/* Adds the name and place of a node, in at most `width` columns. */
void outline_label(const struct profile *p, const struct outline_node *n, size_t width,
		   struct text *out);

/* Adds the place of a scope: FILE:LINE; without lines its module, for a loop preceded by its
 * address. */
void outline_place(const struct profile *p, const struct outline_node *n, struct text *out);

/* Add a whole outline: as text with guides, as JSON members, as CSV. */
void outline_text(const struct outline *o, const struct report *r, const struct outline_threads *t,
		  struct text *out);
void outline_json(const struct outline *o, const struct report *r, const struct outline_threads *t,
		  struct json *j);
void outline_csv(const struct outline *o, const struct report *r, const struct outline_threads *t,
		 struct text *out);
/* Adds the identity of a node as CSV fields: kind, name, function, file, first and last line,
 * module. */
void outline_scope_csv(const struct profile *p, const struct outline_node *n, struct text *out);
/* Add one node as JSON members: its identity only, or also its amounts. */
void outline_scope_json(const struct outline_node *n, const struct report *r, struct json *j);
void outline_node_json(const struct outline_node *n, const struct report *r, struct json *j);
