/* An outline: the common form of all views that are trees or lists of scopes. A view builds one;
 * sorting, pruning, per-thread columns, text, JSON and CSV are the same for all. */
#pragma once
#include "base/json.h"
#include "cli/report/data.h"
#include "cli/report/fold.h"
#include "profile/flat.h"

enum outline_kind {
	OUTLINE_ROOT,
	OUTLINE_IMAGE,
	OUTLINE_FILE,
	OUTLINE_PROCEDURE,
	OUTLINE_INLINE,
	OUTLINE_LOOP,
	OUTLINE_LINE,
	OUTLINE_KERNEL,
	OUTLINE_WAIT,
	OUTLINE_PARTIAL,
	OUTLINE_OUTSIDE, /* everything that is in no loop */
	OUTLINE_REST,    /* callers that are too small to be known */
	OUTLINE_KINDS,
};

extern const char *const outline_kind_name[OUTLINE_KINDS];

struct outline_node {
	uint32_t parent, first_child, next; /* PROFILE_NONE if none */
	uint32_t scope;                     /* PROFILE_NONE if it is none */
	uint32_t levels;                    /* of recursion that were folded into this one */
	uint8_t kind;                       /* enum outline_kind */
	const char *name;                   /* path of an image or file, else NULL */
	uint64_t self, total, self_samples, total_samples;
};

struct outline {
	VEC(struct outline_node) nodes; /* 0 is the root; parents before children */
	bool overlapping;               /* totals of siblings overlap: only self can be added up */
	bool no_self;                   /* self means nothing here */
};

uint32_t outline_add(struct outline *o, struct outline_node n);
void outline_release(struct outline *o);

void outline_from_tree(struct outline *o, const struct tree *t);
void outline_from_folded(struct outline *o, const struct folded *f);
void outline_from_flat(struct outline *o, const struct flat *f);
/* Takes away the nodes that have a flag; what was below them moves up. */
void outline_take_away(struct outline *o, const bool *away);
/* Takes away what only leads to where the program proper begins. */
void outline_skip_startup(struct outline *o, const struct profile *p);
/* True of what a linked outline of calls begins with. */
bool outline_is_startup(const struct outline *o, uint32_t node, const struct profile *p);
/* Orders siblings and links them. Call once all nodes are there. */
void outline_link(struct outline *o, const struct profile *p, enum report_sort sort);

/* A line of what is shown, in the order of showing. */
struct outline_row {
	uint32_t node;   /* PROFILE_NONE: a sum of siblings that are too small to show */
	uint32_t parent; /* row, or PROFILE_NONE */
	uint32_t depth;  /* 0 below the root */
	uint32_t hidden; /* how many the sum is of */
	uint64_t amount; /* of the sum */
};

struct outline_rows {
	VEC(struct outline_row) list;
};

/* Prunes by r->min_share and r->depth. */
void outline_rows(const struct outline *o, const struct report *r, struct outline_rows *out);

/* Self and total in single threads, for --per-thread. */
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

/* What a node is called and where it is, in at most `width` columns. */
void outline_label(const struct profile *p, const struct outline_node *n, size_t width,
		   struct text *out);

/* Where a scope is: FILE:LINE, or the address of a loop without lines, or the image. */
void outline_place(const struct profile *p, const struct outline_node *n, struct text *out);

/* All of an outline, as text with guides, as JSON members, as CSV. */
void outline_text(const struct outline *o, const struct report *r, const struct outline_threads *t,
		  struct text *out);
void outline_json(const struct outline *o, const struct report *r, const struct outline_threads *t,
		  struct json *j);
void outline_csv(const struct outline *o, const struct report *r, const struct outline_threads *t,
		 struct text *out);
/* What and where a node is, as fields of CSV: kind, name, procedure, file, first and last line,
 * image. */
void outline_scope_csv(const struct profile *p, const struct outline_node *n, struct text *out);
/* One node as JSON members; what and where it is only, or with its amounts. */
void outline_scope_json(const struct outline_node *n, const struct report *r, struct json *j);
void outline_node_json(const struct outline_node *n, const struct report *r, struct json *j);
