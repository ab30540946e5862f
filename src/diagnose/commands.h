/* Which commands the processes of a program execute, when they run, and how many at a time.
 *
 * A process is a run of the command whose program it executes last; one that executes several
 * programs is a run of each. All of this comes from reports of starts, names and ends, which the
 * sampler makes anyway, so that hundreds of processes per second cost nothing more. Only those that
 * are the longest of their command so far are asked for their arguments.
 *
 * A process works if none of its children lives: make waits for the compiler driver, and that waits
 * for the compiler. When only one process works, the run takes as long as that one. Processes that
 * ran before the search, like a shell or a server, never work in this sense: often they wait for
 * somebody to bring work. */
#pragma once
#include "base/arena.h"
#include "base/hashmap.h"
#include "base/vec.h"

enum {
	ARGUMENT_SIZE = 48,  /* of the text, with its end */
	MOST_COMMANDS = 256, /* names; what comes later has no name */
};

/* Times are in s of CLOCK_MONOTONIC. */
struct command_sum {
	const char *name;
	uint32_t processes;
	double cpu;  /* s, by samples */
	double wall; /* s of all its processes */
	double longest;
	char argument[ARGUMENT_SIZE]; /* of the longest; empty if not known */
	double first, last;
	double alone;     /* s for which one process worked, and it was of this command */
	double closing;   /* of that, since several worked for the last time */
	uint32_t stretch; /* the stretch without several that `closing` is of */
};

struct command_run {
	int pid;    /* 0: it has ended */
	int parent; /* not a run: it ran before the search, or is what Sonde has started */
	uint32_t command;
	uint32_t children; /* that live */
	double began;
	bool named;      /* its command is not the one of its parent */
	bool executed;   /* since it was forked */
	bool given;      /* it ran before the search */
	bool asked;      /* for its arguments */
	uint64_t cpu_ns; /* its CPU time when commands_used() was last called */
	char argument[ARGUMENT_SIZE];
};

typedef VEC(struct command_sum) command_list;

struct commands {
	command_list list;
	struct hashmap at; /* hash of the name -> command */
	VEC(struct command_run) runs;
	VEC(uint32_t) free;
	struct hashmap run_at; /* pid -> run */
	uint32_t working;      /* number of runs that work */
	uint32_t which;        /* the exclusive or of their numbers: if one works, its number */
	uint32_t stretch;      /* number of times that several have begun to work */
	double since;          /* when the above has changed last */
	struct arena *arena;
};

void commands_init(struct commands *c, struct arena *a);
void commands_release(struct commands *c);

/* Reports, in order of time. */
void commands_forked(struct commands *c, int parent, int pid, double when);
/* The first name after this is that of the program. */
void commands_executed(struct commands *c, int pid, double when);
void commands_named(struct commands *c, int pid, const char *name, double when);
void commands_ended(struct commands *c, int pid, double when);
/* A process has used this CPU time (s). */
void commands_ran(struct commands *c, int pid, double seconds);
/* The same without samples: its CPU time in all, until now. */
void commands_used(struct commands *c, int pid, uint64_t cpu_ns);

/* Asks processes for their arguments, once they run for a while. */
void commands_look(struct commands *c, double now);
/* Adds up the runs until now, those that have not ended included; the caller frees the list. */
void commands_until(const struct commands *c, double now, command_list *out);

/* Of the arguments of a process, one after the other with a NUL behind each, finds the one that
 * tells it from others of the same command: a source file, else the file that is written, else the
 * last one that is no option. Without folders; empty if there is none. */
void distinguishing_argument(const char *arguments, size_t size, char out[ARGUMENT_SIZE]);
