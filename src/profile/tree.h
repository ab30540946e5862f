/* The calling-context tree as people read it: procedures, inlined calls, loops and lines as nodes,
 * with self and total of one metric over the chosen threads. All views and most exports are made
 * from this.
 *
 * A node's children: a frame's path from procedure down to line; below a line that calls, the
 * procedures called there. Only what has an amount or samples is in it. */
#pragma once
#include "profile/profile.h"

enum tree_kind {
	TREE_ROOT,
	TREE_PROCEDURE,
	TREE_INLINE,
	TREE_LOOP,
	TREE_LINE,
	TREE_KERNEL,
	TREE_WAIT,
	TREE_PARTIAL,
};

struct tree_node {
	uint32_t parent, first_child, next; /* PROFILE_NONE if none */
	uint32_t scope;                     /* of the profile; PROFILE_NONE for the pseudo kinds */
	uint8_t kind;                       /* enum tree_kind */
	uint64_t self, total;               /* amount */
	uint64_t self_samples, total_samples;
};

struct tree_options {
	uint32_t metric;
	/* True for threads that count; NULL: all. */
	bool (*thread)(void *ctx, uint32_t thread);
	/* True for scopes to focus on: only contexts that pass through one count; NULL: all. */
	bool (*focus)(void *ctx, uint32_t scope);
	void *ctx;
	bool lines; /* keep line nodes; otherwise what is at and below them hangs off their parent
		     */
};

struct tree {
	const struct profile *profile;
	VEC(struct tree_node)
	nodes; /* 0 is the root; parents before children; children by total,
		  largest first */
};

/* Nodes that were not fused (they have no scope) count for what called them. */
void tree_build(struct tree *t, const struct profile *p, const struct tree_options *o);
void tree_release(struct tree *t);

/* Links children to their parents, largest total first; for who makes trees of this form. */
void tree_link(struct tree *t);

/* A walk over all nodes but the root that comes to each twice, before its children and after them.
 * It needs no stack, so depth does not matter. Starts from {0}; false when it is over. */
struct tree_step {
	uint32_t node;
	bool leaving;
};
bool tree_walk(const struct tree *t, struct tree_step *s);
