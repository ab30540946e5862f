/* A profile in memory: what was measured, in which calling contexts and threads.
 *
 * Contexts form a tree of frames (the calling-context tree): a node is a code address below the
 * node of its caller. Memory is bounded by the number of distinct contexts. The recorder adds to a
 * profile and the store saves what is new; a report loads a profile as a whole. All references are
 * indices, and nothing is ever removed. Scopes (source structure) are added when recording has
 * ended: see fuse.h.
 *
 * N1  Every index is in range. Parents come before their children in nodes, scopes and resources;
 *     the parents of processes form no cycle. The other conditions are stated at the structs below.
 *     profile_check() checks all of them: for every profile read from a file, and in debug builds
 *     before each commit. */
#pragma once
#include "base/arena.h"
#include "base/hashmap.h"
#include "base/text.h"
#include "base/vec.h"
#include "isa/insn.h"
#include "module/module.h"
#include "profile/evidence.h"

enum { PROFILE_NONE = UINT32_MAX };

struct profile_metric {
	const char *name; /* "cpu-clock", "wait", "cycles", ... */
	const char *unit; /* "ns", or "" for counts */
	uint64_t period;  /* amount per sample; 0 if it varies */
};

struct profile_module {
	const char *path;
	struct build_id build_id;  /* size 0: the file has none, and file_size and mtime identify it
				      instead */
	uint64_t file_size, mtime; /* bytes; seconds since 1970 */
	const char *problem;       /* why it could not be analysed, or NULL */
};

struct profile_process {
	int pid;
	uint32_t parent;  /* process, or PROFILE_NONE */
	const char *name; /* of the program that it runs now; an exec changes it */
};

struct profile_thread {
	uint32_t process;
	int tid;
	const char *name;
};

enum node_kind {
	NODE_ROOT,    /* node 0 only */
	NODE_FRAME,   /* a frame that made a call: `address` is in the call instruction */
	NODE_LEAF,    /* the innermost frame: `address` is the exact pc */
	NODE_KERNEL,  /* running in the kernel, entered from the parent */
	NODE_WAIT,    /* blocked in the kernel, entered from the parent */
	NODE_PARTIAL, /* directly below the root: the callers of the nodes below it are unknown */
	NODE_KINDS,
};

struct profile_node {
	uint32_t parent;
	uint32_t module;  /* PROFILE_NONE: in no module (JIT-compiled or anonymous code) */
	uint64_t address; /* va in the module; for a NODE_FRAME the last byte of the call
			     instruction, so that it lies in the line and loop of the call */
	uint32_t scope;   /* innermost scope; PROFILE_NONE until fused */
	uint8_t kind;     /* enum node_kind */
};

/* The value of one node, thread and metric: measured at the node itself, without its children. */
struct profile_value {
	uint32_t node, thread, metric;
	uint32_t saved; /* owned by store.c: `samples` at the last write */
	uint64_t samples, amount;
};

enum profile_scope_kind { PROFILE_FUNCTION, PROFILE_INLINE, PROFILE_LOOP, PROFILE_LINE };

enum profile_scope_flag {
	PROFILE_ALIEN = 1 << 0,       /* inlining inferred from lines */
	PROFILE_IRREDUCIBLE = 1 << 1, /* a loop with several entries */
	PROFILE_UNNAMED = 1 << 2,     /* a function without a symbol, named by its address */
};

/* Static source structure, only of code that was sampled. Parents come before children. */
struct profile_scope {
	uint32_t parent; /* PROFILE_NONE for a function */
	uint32_t module;
	uint8_t kind, flags;
	const char *name; /* function or inlined callee, demangled; "" for loops and lines */
	const char *file; /* "" if unknown */
	uint32_t first_line, last_line; /* 0 if unknown */
	const char *call_file; /* of an inlined call: file of the call site; "" if unknown */
	uint32_t call_line;
	uint64_t address; /* va: start of the function, header of the loop, lowest address of an
			     inlined call or line */
};

/* Number of samples per outcome of the stack walk (names as in unwind/walk.h), and of lost
 * samples. */
struct profile_count {
	const char *name; /* "complete", "stack-copy", ..., "lost", "throttled" */
	uint64_t samples;
};

/* The metrics of a counted run (sonde count). They have no unit and no period. All values are at
 * NODE_LEAF nodes.
 *
 * "instructions": one node for each innermost scope that a calling context executed, at one of the
 * scope's instructions. samples = executions of straight-line runs of instructions in the scope,
 * amount = instructions executed by them.
 *
 * "calls": the node is at the callee's entry, below the NODE_FRAME of the call. samples = amount =
 * calls along this call path.
 *
 * "runs", for annotated assembly, summed over all contexts: the node is directly below the root,
 * at the first instruction of a straight-line run of instructions in a block. samples =
 * executions of the run, amount = instructions executed by them. */
#define PROFILE_INSTRUCTIONS "instructions"
#define PROFILE_CALLS        "calls"
#define PROFILE_RUNS         "runs"

enum profile_counters_flag {
	COUNTS_IRREDUCIBLE = 1 << 0, /* a region with several entries, counted as a whole */
	COUNTS_ITERATIONS_UNKNOWN = 1 << 1,
	COUNTS_TRIPS_UNKNOWN = 1 << 2,      /* the iterations of single entries are unknown */
	COUNTS_MACHINE_ITERATIONS = 1 << 3, /* unrolled or vectorised: one iteration counted is
					      several of the source loop */
	COUNTS_FLAGS = 1 << 4,              /* one past the last flag */
};

/* The counts of one loop or function in one thread, over all call paths. */
struct profile_counters {
	uint32_t module, thread;
	uint32_t scope; /* PROFILE_NONE until fused; machine loops of the same source loop share its
			   scope */
	bool loop;
	uint8_t flags;                /* enum profile_counters_flag */
	uint64_t address;             /* va: header of the loop, start of the function */
	uint64_t entries, iterations; /* entries of the loop or calls of the function; iterations of
					 the loop */
	/* Fewest and most iterations per entry, over the entries in the histogram. */
	uint64_t trip_min, trip_max;
	uint64_t mix[INSN_CLASSES]; /* own instructions by class: a loop's without its inner loops,
				       a function's with its loops */
};

/* A bucket of the trip-count histogram of a loop: entries that had `low` to `high` iterations.
 * Entries that did not end (because the thread did) are in no bucket. The buckets of one row of
 * counters do not overlap. */
struct profile_trips {
	uint32_t counters;
	uint64_t low, high, entries;
};

/* Code that ran uninstrumented, because it could not be counted. */
struct profile_uncovered {
	uint32_t module; /* PROFILE_NONE: in no module */
	uint32_t share; /* share of the samples taken during the run, in millionths; PROFILE_NONE if
			   unknown */
	uint64_t address;
	const char *name, *reason;
};

/* The record of a search for bottlenecks (sonde diagnose): the parts of the program that it
 * knew, its experiments with them, and its findings. */
enum profile_hierarchy {
	PROFILE_CODE,
	PROFILE_MACHINE,
	PROFILE_SYNC,
	PROFILE_FILES,
	PROFILE_HIERARCHIES,
};

enum profile_resource_kind {
	RESOURCE_GROUP, /* a root, a module, a source file, a host, a kind of object: stands for all
			   below it */
	RESOURCE_FUNCTION,
	RESOURCE_LOOP,
	RESOURCE_PROCESS,
	RESOURCE_THREAD,
	RESOURCE_OBJECT, /* a lock, a file, ... */
	RESOURCE_KINDS,
};

/* Their names in profile files, JSON and CSV. */
extern const char *const profile_hierarchy_names[PROFILE_HIERARCHIES];
extern const char *const profile_resource_names[RESOURCE_KINDS];

struct profile_resource {
	uint32_t parent; /* a resource with a lower index; PROFILE_NONE: a root */
	uint8_t hierarchy, kind;
	const char *name; /* one component: "Code", "main", "loop heat.c:16-18", "queue_lock" */
	uint32_t module;  /* of functions and loops; otherwise PROFILE_NONE */
	uint64_t address; /* va: start of the function, header of the loop */
	const char *file; /* of functions and loops; "" if unknown */
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
	EXPERIMENT_UNSURE = 1 << 1,  /* too close to its threshold for a confident decision */
	EXPERIMENT_OVER = 1 << 2,    /* was true for part of the run, and no longer is */
	EXPERIMENT_FLAGS = 1 << 3,   /* one past the last flag */
};

extern const char *const profile_state_names[PROFILE_EXPERIMENT_STATES];
extern const char *const profile_origin_names[PROFILE_ORIGINS];
extern const char *const profile_priority_names[PROFILE_PRIORITIES];

/* One test of a hypothesis at a focus. Times are seconds since the search began, and -1 for
 * events that did not happen. Experiments change until the search ends. */
struct profile_experiment {
	const char *hypothesis; /* "cpu", "system", "sync", "io", "small-io", "imbalance" */
	uint32_t focus[PROFILE_HIERARCHIES];    /* resources */
	uint8_t state, origin, priority, flags; /* the enums above; `flags` is a bit set */
	double value, threshold, confidence;
	double created, begun, decided, observed;
	double overhead; /* overhead of its probes: s of the program's time */
	uint32_t tests;  /* number of decisions made about it */
};

/* The parent experiment was refined to the child. */
struct profile_refinement {
	uint32_t parent, child; /* experiments */
};

/* A reason why the program is slow; the most important one comes first. The text is for people. */
struct profile_finding {
	const char *hypothesis;
	uint32_t experiment; /* or PROFILE_NONE */
	uint32_t node;       /* the calling context where it is worst; or PROFILE_NONE */
	/* `share`: of the run. */
	double share, confidence;
	/* "87.3 % of the run computes in the loop matrix.c:31-34 of multiply" */
	const char *sentence;
};

/* A detail of a finding or, if `finding` is PROFILE_NONE, of the whole search; in display order. */
struct profile_remark {
	uint32_t finding; /* or PROFILE_NONE */
	const char *kind; /* "where", "path", "waits", "held", "file", "evidence", "command",
			     "chain", "step", "note" */
	const char *text;
};

/* Facts about the run: "command", "host", "machine", "kernel", "started", "seconds", "hz",
 * "sampler", "note", ... (text) */
struct profile_fact {
	const char *name, *value;
};

struct profile {
	VEC(struct profile_metric) metrics;
	VEC(struct profile_module) modules;
	VEC(struct profile_process) processes;
	VEC(struct profile_thread) threads;
	VEC(struct profile_node) nodes; /* 0 is the root; parents before children */
	VEC(struct profile_value) values;
	VEC(struct profile_scope) scopes;
	VEC(struct profile_count) counts;
	VEC(struct profile_fact) facts;
	VEC(struct profile_counters) counters; /* empty: the run was not counted */
	VEC(struct profile_trips) trips;
	VEC(struct profile_uncovered) uncovered;
	VEC(struct profile_resource) resources; /* empty: there was no search */
	VEC(struct profile_experiment) experiments;
	VEC(struct profile_refinement) refinements;
	struct evidence evidence; /* the input of findings and remarks */
	VEC(struct profile_finding) findings;
	VEC(struct profile_remark) remarks;
	bool fused;                             /* scopes are complete */
	bool finished;                          /* recording ended normally */
	struct arena arena;                     /* holds all strings */
	struct hashmap node_index, value_index; /* private to profile.c */
	struct hashmap counters_index, trips_index;
};

void profile_init(struct profile *p); /* creates the root node */
void profile_release(struct profile *p);

/* Returns the child of `parent` with this kind, module and address; creates it if it is new. */
uint32_t profile_child(struct profile *p, uint32_t parent, enum node_kind kind, uint32_t module,
		       uint64_t address);
void profile_add(struct profile *p, uint32_t node, uint32_t thread, uint32_t metric,
		 uint64_t samples, uint64_t amount);
void profile_count(struct profile *p, const char *name, uint64_t samples);
/* Returns the row of counters of a loop or function in a thread; creates it, with all counts 0, if
 * it is new. */
uint32_t profile_counters(struct profile *p, uint32_t module, uint64_t address, bool loop,
			  uint32_t thread);
void profile_add_trips(struct profile *p, uint32_t counters, uint64_t low, uint64_t high,
		       uint64_t entries);
/* Returns the index of the metric with this name, or PROFILE_NONE. */
uint32_t profile_metric_named(const struct profile *p, const char *name);
/* True if the run was counted: there are counters. */
bool profile_has_counts(const struct profile *p);
/* True if values of the metric are exact counts, not estimates from samples. */
bool profile_is_counted(const struct profile *p, uint32_t metric);
/* Sets or replaces a fact. */
void profile_fact(struct profile *p, const char *name, const char *value);
/* Returns the value of a fact, or NULL. */
const char *profile_get_fact(const struct profile *p, const char *name);
/* True if the profile is from a search, even if the search had no result. */
bool profile_has_search(const struct profile *p);
/* Appends "/Code/heat/heat.c/main/loop heat.c:16-18". For people only: names may contain
 * slashes. */
void profile_resource_path(const struct profile *p, uint32_t resource, struct text *out);
/* Checks N1. Called for each profile read from a file, and before a profile is written. */
int profile_check(const struct profile *p, struct err *e);
