/* A profile in memory: what was measured, in which calling contexts, of which threads.
 *
 * Contexts are a tree of frames (the calling-context tree): a node is a place in code below the
 * node of its caller. Memory is bounded by distinct contexts. The recorder adds to a profile and
 * the store saves what is new; a report loads one whole. All references are indices, and nothing is
 * ever removed. Scopes (source structure) are added once recording has ended: see fuse.h.
 *
 * N1  Every index is in range, and parents come before their children (so there are no cycles), of
 *     nodes, scopes, processes and resources; the rest of it is said below. profile_check() looks
 *     at all of it: of what was read from a file always, in debug builds before each commit. */
#pragma once
#include "base/arena.h"
#include "base/hashmap.h"
#include "base/text.h"
#include "base/vec.h"
#include "image/image.h"
#include "isa/insn.h"
#include "profile/evidence.h"

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

/* The metrics of a run that was counted, not sampled. They have no unit and no period.
 *
 * "instructions": values are at NODE_LEAF nodes, one for each innermost scope that a calling
 * context executed, at one of its instructions; samples = executions of runs of instructions in it,
 * amount = the instructions that makes. "calls": at a NODE_LEAF at the entry of the callee, below
 * the NODE_FRAME of its call; samples = amount = calls along this path. "runs": for assembly, from
 * whatever context, at a NODE_LEAF below the root: a run of instructions of a block that begins
 * there; samples = how often it was executed, amount = the instructions that makes. */
#define PROFILE_INSTRUCTIONS "instructions"
#define PROFILE_CALLS        "calls"
#define PROFILE_RUNS         "runs"

enum profile_tally_flag {
	TALLY_IRREDUCIBLE = 1 << 0, /* of a region with several entries: counted as a whole */
	TALLY_ITERATIONS_UNKNOWN = 1 << 1,
	TALLY_TRIPS_UNKNOWN = 1 << 2, /* how many iterations single entries had */
	TALLY_MACHINE_ITERATIONS =
		1 << 3,       /* unrolled or vectorised: each stands for several of the source */
	TALLY_FLAGS = 1 << 4, /* behind the last */
};

/* What was counted of one loop or procedure in one thread, over all call paths. */
struct profile_tally {
	uint32_t image, thread;
	uint32_t scope; /* PROFILE_NONE until fused; of several machine loops that are one of the
			   source, the same */
	bool loop;
	uint8_t flags;                /* enum profile_tally_flag */
	uint64_t address;             /* va: header of the loop, start of the procedure */
	uint64_t entries, iterations; /* entries: calls of a procedure; iterations: of a loop */
	uint64_t trip_min, trip_max;  /* iterations of one entry, of those in the histogram */
	uint64_t mix[INSN_CLASSES];   /* own instructions by class: of a loop without inner loops,
					 of a procedure with its loops */
};

/* Entries of a loop that had `low` to `high` iterations. Entries that did not end (the thread did)
 * are in no such bucket, and buckets of one tally do not overlap. */
struct profile_trips {
	uint32_t tally;
	uint64_t low, high, entries;
};

/* Code that ran as it was, because it could not be counted. */
struct profile_uncovered {
	uint32_t image; /* PROFILE_NONE: in none */
	uint32_t share; /* of samples taken meanwhile, in millionths; PROFILE_NONE if not known */
	uint64_t address;
	const char *name, *reason;
};

/* What a search for bottlenecks did (sonde diagnose): the parts of the program it knew, the
 * experiments it made with them, and what it found. */
enum profile_hierarchy {
	PROFILE_CODE,
	PROFILE_MACHINE,
	PROFILE_SYNC,
	PROFILE_FILES,
	PROFILE_HIERARCHIES,
};

enum profile_resource_kind {
	RESOURCE_GROUP, /* a root, an image, a source file, a host, a kind of object: stands for
			   what is below */
	RESOURCE_PROCEDURE,
	RESOURCE_LOOP,
	RESOURCE_PROCESS,
	RESOURCE_THREAD,
	RESOURCE_OBJECT, /* a lock, a file, ... */
	RESOURCE_KINDS,
};

/* What files, JSON and CSV call them. */
extern const char *const profile_hierarchy_names[PROFILE_HIERARCHIES];
extern const char *const profile_resource_names[RESOURCE_KINDS];

struct profile_resource {
	uint32_t parent; /* resource, before it; PROFILE_NONE: a root */
	uint8_t hierarchy, kind;
	const char *name; /* one component: "Code", "main", "loop heat.c:16-18", "queue_lock" */
	uint32_t image;   /* of procedures and loops; otherwise PROFILE_NONE */
	uint64_t address; /* va: start of the procedure, header of the loop */
	const char *file; /* of procedures and loops; "" if unknown */
	uint32_t first_line, last_line; /* 0 if unknown */
};

enum profile_experiment_state {
	PROFILE_READY,
	PROFILE_ACTIVE,
	PROFILE_TRUE,
	PROFILE_FALSE,
	PROFILE_UNKNOWN, /* not decided when the search ended */
	PROFILE_EXPERIMENT_STATES,
};

enum profile_experiment_origin {
	PROFILE_FROM_START,
	PROFILE_REFINED,
	PROFILE_DEEP_STARTER,
	PROFILE_CONNECTING,
	PROFILE_ORIGINS,
};

enum profile_priority { PROFILE_NORMAL, PROFILE_HIGH, PROFILE_PRIORITIES };

enum profile_experiment_flag {
	EXPERIMENT_SAMPLED = 1 << 0, /* its value comes from samples, not from probes */
	EXPERIMENT_UNSURE = 1 << 1,  /* too near to its threshold to be sure */
	EXPERIMENT_OVER = 1 << 2,    /* was true for a part of the run */
	EXPERIMENT_FLAGS = 1 << 3,   /* behind the last */
};

extern const char *const profile_state_names[PROFILE_EXPERIMENT_STATES];
extern const char *const profile_origin_names[PROFILE_ORIGINS];
extern const char *const profile_priority_names[PROFILE_PRIORITIES];

/* Times are seconds since the search began, and -1 of what did not happen. It changes until the
 * search ends. */
struct profile_experiment {
	const char *hypothesis;                 /* "cpu", "sync", "io", "small-io", "imbalance" */
	uint32_t focus[PROFILE_HIERARCHIES];    /* resources */
	uint8_t state, origin, priority, flags; /* enums profile_* above; flags are a sum */
	double value, threshold, confidence;
	double created, begun, decided, observed;
	double cost;    /* s of the program's time that its probes took */
	uint32_t tests; /* how often it was decided */
};

/* An experiment was refined to another one. */
struct profile_refinement {
	uint32_t parent, child; /* experiments */
};

/* Something that makes the program slow, the most important first. Text is for people. */
struct profile_finding {
	const char *hypothesis;
	uint32_t experiment;      /* or PROFILE_NONE */
	uint32_t node;            /* calling context where it is worst; or PROFILE_NONE */
	double share, confidence; /* of the run */
	const char
		*sentence; /* "87.3 % of the run computes in the loop matrix.c:31-34 of multiply" */
};

/* More about a finding, or, without one, about the whole: in the order of telling. */
struct profile_remark {
	uint32_t finding; /* or PROFILE_NONE */
	const char *kind; /* "where", "path", "waits", "held", "file", "evidence", "step", "note" */
	const char *text;
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
	VEC(struct profile_tally) tallies; /* none: the run was not counted */
	VEC(struct profile_trips) trips;
	VEC(struct profile_uncovered) uncovered;
	VEC(struct profile_resource) resources; /* none: there was no search */
	VEC(struct profile_experiment) experiments;
	VEC(struct profile_refinement) refinements;
	struct evidence evidence; /* what findings and remarks are made of */
	VEC(struct profile_finding) findings;
	VEC(struct profile_remark) remarks;
	bool fused;                             /* scopes are complete */
	bool finished;                          /* recording ended in order */
	struct arena arena;                     /* of all strings */
	struct hashmap node_index, value_index; /* profile.c's own */
	struct hashmap tally_index, trips_index;
};

void profile_init(struct profile *p); /* with its root */
void profile_release(struct profile *p);

/* The child of `parent` at this place; made if it is new. */
uint32_t profile_child(struct profile *p, uint32_t parent, enum node_kind kind, uint32_t image,
		       uint64_t address);
void profile_add(struct profile *p, uint32_t node, uint32_t thread, uint32_t metric,
		 uint64_t samples, uint64_t amount);
void profile_count(struct profile *p, const char *name, uint64_t samples);
/* The tally of a loop or procedure and thread; made, all 0, if it is new. */
uint32_t profile_tally(struct profile *p, uint32_t image, uint64_t address, bool loop,
		       uint32_t thread);
void profile_add_trips(struct profile *p, uint32_t tally, uint64_t low, uint64_t high,
		       uint64_t entries);
/* The number of the metric with this name, or PROFILE_NONE. */
uint32_t profile_metric_named(const struct profile *p, const char *name);
/* True of a run that was counted: there are tallies. */
bool profile_has_counts(const struct profile *p);
/* True if values of the metric are counts, exact, and not made of samples. */
bool profile_is_counted(const struct profile *p, uint32_t metric);
/* Sets or replaces a fact. */
void profile_fact(struct profile *p, const char *name, const char *value);
/* The value of a fact, or NULL. */
const char *profile_get_fact(const struct profile *p, const char *name);
/* True if the profile is that of a search, even if it came to nothing. */
bool profile_has_search(const struct profile *p);
/* "/Code/heat/heat.c/main/loop heat.c:16-18". For people: names may have slashes, too. */
void profile_resource_path(const struct profile *p, uint32_t resource, struct text *out);
/* Checks N1: of a profile read from a file, or before one is written. */
int profile_check(const struct profile *p, struct err *e);
