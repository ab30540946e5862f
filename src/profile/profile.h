/* A profile in memory: what was measured, in which calling contexts, of which threads.
 *
 * Contexts are a tree of frames (the calling-context tree): a node is a place in code below the
 * node of its caller. Memory is bounded by distinct contexts. The recorder adds to a profile and
 * the store saves what is new; a report loads one whole. All references are indices, and nothing is
 * ever removed. Scopes (source structure) are added once recording has ended: see fuse.h. */
#pragma once
#include "base/arena.h"
#include "base/hashmap.h"
#include "base/vec.h"
#include "image/image.h"

enum { PROFILE_NONE = UINT32_MAX };

struct profile_metric {
	const char *name; /* "cpu-clock", "wait", "cycles", ... */
	const char *unit; /* "ns", or "" for counts */
	uint64_t period;  /* per sample; 0 if it varies */
};

struct profile_image {
	const char *path;
	struct build_id build_id;  /* size 0: none; then size and mtime tell a changed file */
	uint64_t file_size, mtime; /* bytes; seconds since 1970 */
	const char *problem;       /* why it could not be analysed, or NULL */
};

struct profile_process {
	int pid;
	uint32_t parent;  /* process, or PROFILE_NONE */
	const char *name; /* of its program; follows exec */
};

struct profile_thread {
	uint32_t process;
	int tid;
	const char *name;
};

enum node_kind {
	NODE_ROOT,    /* node 0 only */
	NODE_FRAME,   /* a return address: `address` is the call's */
	NODE_LEAF,    /* where execution was: `address` is exact */
	NODE_KERNEL,  /* in the kernel, called from the parent */
	NODE_WAIT,    /* waiting in the kernel, called from the parent */
	NODE_PARTIAL, /* directly below the root: the callers of what is below are not known */
	NODE_KINDS,
};

struct profile_node {
	uint32_t parent;
	uint32_t image;   /* PROFILE_NONE: in no image */
	uint64_t address; /* va in the image; of a NODE_FRAME: the last byte of the call
			     instruction, so that it lies in the call's line and loop */
	uint32_t scope;   /* PROFILE_NONE until fused: its innermost scope */
	uint8_t kind;     /* enum node_kind */
};

/* Of one node, thread and metric: measured right there, not below. */
struct profile_value {
	uint32_t node, thread, metric;
	uint32_t saved; /* store.c's: samples when last written */
	uint64_t samples, amount;
};

enum profile_scope_kind { PROFILE_PROCEDURE, PROFILE_INLINE, PROFILE_LOOP, PROFILE_LINE };

enum profile_scope_flag {
	PROFILE_ALIEN = 1 << 0,       /* inlining inferred from lines */
	PROFILE_IRREDUCIBLE = 1 << 1, /* a loop with several entries */
	PROFILE_UNNAMED =
		1 << 2, /* a procedure without a symbol: its name is made of its address */
};

/* Static source structure, only of what was sampled. Parents come before children. */
struct profile_scope {
	uint32_t parent; /* PROFILE_NONE for a procedure */
	uint32_t image;
	uint8_t kind, flags;
	const char *name;               /* procedure or inlined callee, demangled; "" otherwise */
	const char *file;               /* "" if unknown */
	uint32_t first_line, last_line; /* 0 if unknown */
	const char *call_file;          /* of an inlined call: where it stands; "" if unknown */
	uint32_t call_line;
	uint64_t address; /* va: start of the procedure, header of the loop, lowest of the others */
};

/* How many samples had which walk (unwind/walk.h's names), and what was lost. */
struct profile_count {
	const char *name; /* "complete", "stack-copy", ..., "lost", "throttled" */
	uint64_t samples;
};

/* Facts about the run: "command", "host", "machine", "kernel", "started", "seconds", "hz",
 * "sampler", "note", ... (text) */
struct profile_fact {
	const char *name, *value;
};

struct profile {
	VEC(struct profile_metric) metrics;
	VEC(struct profile_image) images;
	VEC(struct profile_process) processes;
	VEC(struct profile_thread) threads;
	VEC(struct profile_node) nodes; /* 0 is the root; parents before children */
	VEC(struct profile_value) values;
	VEC(struct profile_scope) scopes;
	VEC(struct profile_count) counts;
	VEC(struct profile_fact) facts;
	bool fused;                             /* scopes are complete */
	bool finished;                          /* recording ended in order */
	struct arena arena;                     /* of all strings */
	struct hashmap node_index, value_index; /* profile.c's own */
};

void profile_init(struct profile *p); /* with its root */
void profile_release(struct profile *p);

/* The child of `parent` at this place; made if it is new. */
uint32_t profile_child(struct profile *p, uint32_t parent, enum node_kind kind, uint32_t image,
		       uint64_t address);
void profile_add(struct profile *p, uint32_t node, uint32_t thread, uint32_t metric,
		 uint64_t samples, uint64_t amount);
void profile_count(struct profile *p, const char *name, uint64_t samples);
/* Sets or replaces a fact. */
void profile_fact(struct profile *p, const char *name, const char *value);
/* The value of a fact, or NULL. */
const char *profile_get_fact(const struct profile *p, const char *name);
/* Checks the invariants above, of a profile read from a file. */
int profile_check(const struct profile *p, struct err *e);
