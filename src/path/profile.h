/* Keeps a profile in step with the engine's values. Each call path is a path of nodes from the root
 * to a leaf, which is the measured function. The amounts are those of the function without the
 * other measured functions below it, so that inclusive sums are right in every view.
 *
 * The engine reports values since a probe was inserted, but a profile can only be added to. So the
 * last value of each path is kept here, and the difference is added. The table of results also uses
 * these values, because it shows inclusive ones. */
#pragma once
#include "callpath/stacks.h"
#include "path/metrics.h"
#include "path/select.h"

enum path_state {
	PATH_IN,
	PATH_REMOVED, /* by the user */
	PATH_TOO_HOT,
	PATH_REFUSED,
};

/* A function or loop that is or was measured, in any process. */
struct path_function {
	uint32_t module;         /* of the profile */
	uint64_t va, loop;       /* as in struct selected */
	const char *word;        /* what the user wrote */
	const char *name, *file; /* as in struct selected */
	uint32_t first_line, last_line;
	enum path_state state;
	const char *reason; /* why it is not in, or NULL */
	uint64_t calls;     /* of all paths */
};

struct path_amounts {
	uint64_t calls, running;
	uint64_t total[RT_METRICS], self[RT_METRICS];
};

/* One call path of one thread. */
struct path_entry {
	uint32_t function, node, thread; /* node and thread of the profile */
	bool recursive, complete;
	uint32_t reading;             /* in which it was last reported */
	struct path_amounts values;   /* as last read */
	struct path_amounts reported; /* during a reading: the sum of what was reported */
};

struct path_profile {
	struct profile profile;
	struct codes *codes; /* empty: the engine has the code */
	struct stacks stacks;
	VEC(struct module *) copies; /* of the modules: the engine is freed before the profile */
	VEC(struct path_function) functions;
	VEC(struct path_entry) entries;
	struct hashmap function_at, entry_at;
	uint32_t reading;
	uint32_t stops; /* metric of the walks at stops, or PROFILE_NONE */
};

void path_profile_init(struct path_profile *p);
void path_profile_release(struct path_profile *p);

/* The function's number; added if it is new. */
uint32_t path_profile_function(struct path_profile *p, const struct selected *what,
			       const char *word);
/* Gives a metric its row. */
void path_profile_metric(struct path_profile *p, struct path_metric *m);

/* A process that is reported for the first time; `parent` is 0 if none is known. */
void path_profile_process(struct path_profile *p, int pid, int parent);
void path_profile_exec(struct path_profile *p, int pid);

/* The process that values come from. */
struct path_origin {
	uint32_t generation; /* differs for each program of each process */
	int pid;
	struct space *space;
};

/* One reading: begin, each value of each process, end. */
void path_profile_begin(struct path_profile *p);
void path_profile_value(struct path_profile *p, const struct path_origin *from, uint32_t function,
			const struct path_value *v);
void path_profile_end(struct path_profile *p, const struct path_metrics *m);

/* The stack of a thread at a stop. */
void path_profile_walk(struct path_profile *p, int pid, int tid, const struct walk *w,
		       bool in_call);

/* Gives all nodes their scopes. */
void path_profile_fuse(struct path_profile *p);
