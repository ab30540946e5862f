/* What the modes of the probe harness share. */
#pragma once
#include "base/text.h"
#include "probe/engine/engine.h"

struct settings {
	struct engine_options engine;
	bool all_modules;   /* subjects from libraries too, not only from the program itself */
	const char *module; /* subjects from modules with this in their path only */
	bool no_loops, plt, gaps;
	bool activations;  /* entries and exits with clocks instead of plain counters */
	const char *names; /* these functions, separated by commas; NULL: all */
	bool only_named;   /* no others are candidates */
	const char *paths; /* of these also all call paths */
	uint32_t metrics;  /* of paths and activations */
	uint32_t budget;
	const char *report; /* file, NULL: none */
	bool counts;        /* the report has the counts of every subject */
	bool waits;         /* and what was waited for */
	bool islands;       /* steps: only these are places to stop at */
	bool loose;         /* mappings and descriptors may change by themselves */
	uint64_t seed;
	unsigned batches, deaths, times;
	const char *die; /* the fault point at which lives end; NULL: at any moment */
	double seconds;  /* of one life, or before leaving */
	int pid;         /* attach instead of launching */
};
extern struct settings settings;

_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void sleep_seconds(double s);
/* As a shell tells it. */
int shell_status(int status);
/* Uniform in 0 .. n-1. */
uint64_t chance(uint64_t n);

/* Something that may be probed, as it is called in reports. */
struct candidate {
	struct subject_request request;
	const char *name; /* "" if unknown */
	uint32_t depth;   /* of a loop; 0: a function */
};

/* A subject that is in, or was. */
struct used {
	uint32_t subject;
	uint32_t candidate;
	bool path;
};

/* A module where it is, to tell new ones from those that were there before. */
struct seen_module {
	struct code *code;
	uint64_t bias;
};

/* A process under study, and what is in it. */
struct member {
	struct target *target;
	VEC(struct candidate) candidates;
	VEC(struct seen_module) seen;
	VEC(struct used) used;
	uint32_t kept;   /* of `used`, in from the start to the end: reported */
	uint64_t waited; /* ns in all, when it was last looked at */
	bool alone;      /* as --lazy leaves it, until member_begin() */
};

/* Adds every function and loop of the target's modules that were not there the last time, as the
 * settings say. */
void candidates_find(struct member *m);
/* Whether a name is in a list separated by commas. */
bool is_listed(const char *list, const char *name);

/* Sums over all batches. */
struct totals {
	uint64_t batches, spots, refused[REFUSAL_REASONS], patches, displaced, relocated, traps;
	uint64_t pause_ns, longest_pause_ns, adopted, added, rejected, failed_batches;
	uint64_t planned_deaths;                 /* at the point that --die names */
	char why_rejected[600], why_failed[600]; /* the last */
};
extern struct totals totals;
void totals_add(const struct batch_result *r);

/* A program with all the processes that it starts. */
struct family {
	struct engine *engine;
	VEC(struct member *) members;
	int first; /* pid of the program itself */
	int status;
	bool ended;
	struct text report;
	/* Candidates of the member from `from` on are new: modules were loaded. */
	void (*fresh)(struct member *m, uint32_t from);
};

/* Launches or attaches, as the settings say; `fresh` is called for the modules that are there. */
void family_begin(struct family *f, char **argv);
/* Lives on for up to timeout_ms: false if nothing happened. */
bool family_poll(struct family *f, int timeout_ms);
/* Looks into one that was left alone. */
void member_begin(struct family *f, struct member *m);
/* Takes everything out and leaves. */
void family_end(struct family *f);

/* Commits and adds up. A process that has gone meanwhile is no failure. */
bool commit(struct member *m);
/* Adds one subject of a candidate. */
void use(struct member *m, uint32_t candidate, bool path);
/* Adds what `names` and `paths` ask for. */
void use_named(struct member *m, uint32_t from);

/* Adds what was counted in a target to the report. */
void report_member(struct family *f, const struct member *m);
void report_write(const struct text *body);

/* What a process shows of itself. */
struct trace {
	struct text maps, files, signals;
};
void trace_take(struct trace *out, int pid);
void trace_release(struct trace *t);
/* Prints what differs; false if anything does. */
bool trace_same(const struct trace *before, const struct trace *after);
/* `nothing_left`: there must be no executable memory that is of no file, either. */
bool text_is_original(int pid, bool nothing_left);

/* The modes: each returns the exit status. */
int mode_all(char **argv);
int mode_torture(char **argv);
int mode_death(char **argv);
int mode_clean(char **argv);
int mode_watch(char **argv);
int mode_steps(char **argv);
/* Starts a program that nobody traces. */
int start_untraced(char **argv);
/* Whether all of its threads but the first, which waits for them, have had time to install their
 * handlers. */
bool has_begun(int pid);
/* Asks it to end, and waits; 124 if it hangs. */
int end_untraced(int pid);
