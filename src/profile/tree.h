/* The calling-context tree as people read it: functions, inlined calls, loops and lines as nodes,
 * with self and total of one metric over the selected threads. All views and most exports are made
 * from it.
 *
 * Below a caller's line are the functions that it calls. A frame is a path of nodes from its
 * function down to its line. Only nodes with an amount or samples, of their own or below, are in
 * the tree. */
#pragma once
#include "profile/profile.h"

enum tree_kind {
	TREE_ROOT,
	TREE_FUNCTION,
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
	/* True for selected threads; NULL: all. */
	bool (*thread)(void *ctx, uint32_t thread);
	/* True for scopes to focus on: only contexts that pass through one of them count; NULL:
	 * all. */
	bool (*focus)(void *ctx, uint32_t scope);
	void *ctx;
	bool lines; /* keep line nodes; otherwise their values and children go to their parent */
};

struct tree {
	const struct profile *profile;
	/* 0 is the root; parents before children; children by total, largest first. */
	VEC(struct tree_node) nodes;
};

/* Values of nodes that were not fused (they have no scope) count for their caller. */
void tree_build(struct tree *t, const struct profile *p, const struct tree_options *o);
void tree_release(struct tree *t);

/* Links children to their parents, largest total first. For code that builds trees of this form
 * itself. */
void tree_link(struct tree *t);

/* One step of a walk over all nodes except the root that visits each node twice: before its
 * children and after them. It needs no stack, so the depth of the tree does not matter. Start
 * with {0}; returns false at the end. */
struct tree_step {
	uint32_t node;
	bool leaving;
};
bool tree_walk(const struct tree *t, struct tree_step *s);
