/* What is in the code of a target, and what is to be put in: subjects, the sites they are in, and
 * the memory for the code of those sites. */
#pragma once
#include "patch/pool.h"
#include "probe/code/counted.h"
#include "probe/code/subjects.h"
#include "probe/region/target.h"

enum purpose {
	PURPOSE_MEASURE,
	PURPOSE_BLOCK, /* the system calls of a function */
	PURPOSE_SPIN,  /* a function that spins */
	PURPOSE_MADE,  /* a function that initialises synchronisation objects */
	PURPOSE_RENDEZVOUS,
};

/* Something that is measured in the program, or watched there (enum purpose).
 *
 * Its state is in these members:
 * - `wanted`: it was requested, and not removed since.
 * - `in`: its probes are in the program. Between a request and the next batch the two differ: an
 *   added subject is wanted && !in, a removed one is !wanted && in.
 * - `refused`: why a wanted subject could not be put in. It is not tried again.
 * - `fresh`: set only during a stop, until its running activations have been found: it went in with
 *   this batch, or its process was just forked.
 * - `tracked` is not a state, but how a loop is measured: see below. */
struct subject {
	struct subject_request request;
	uint32_t site;  /* index in codespace.sites */
	uint32_t loop;  /* index in the function's loop forest, LOOP_NONE for the function */
	uint32_t depth; /* of the loop; 0 for the function */
	VEC(struct part) loop_code; /* the loop's blocks, ascending */
	uint64_t entry;  /* va: a thread that executes this passes the entry probe; 0: none */
	bool fresh;      /* its running activations are to be found in this stop */
	uint8_t purpose; /* enum purpose */
	bool argument;   /* PURPOSE_SPIN: its first argument is the object waited for */
	bool wanted;     /* is to be in the program; false once it is removed */
	bool in;         /* its probes are in the program */
	uint8_t refused; /* enum refusal */
	/* For a loop with plain counters whose exceptions arrive at a landing pad that other code
	 * shares: it gets activations as well, which show whether the exception left the loop. */
	bool tracked;
	uint32_t counters[POINT_KINDS]; /* counter of each kind of point, or UINT32_MAX */
	VEC(uint32_t) probes;           /* its entries in the runtime's table of probes */
};

/* A function whose executions are counted. */
struct counted {
	uint32_t site;
	bool wanted;
	uint8_t refused; /* enum refusal */
	bool numbered;   /* its loops have got their numbers */
	uint32_t first_loop, loop_count;
	bool *without_trips; /* by loop: its trip counts cannot be measured; NULL: all can */
};

/* A function with probes in it. */
struct site {
	struct code *code;
	uint64_t start, bias; /* va of the function; run-time address - va */
	VEC(uint32_t) subjects;
	uint32_t counted; /* number: index in codespace.counted + 1; 0: it is not counted */
	bool dirty;
	bool put_off; /* it could not be changed by the last batch */
	struct fragment fragment;
	uint64_t address;      /* of the fragment in the program; 0: none is in */
	uint32_t room;         /* bytes taken from the pool */
	VEC(uint32_t) journal; /* entry of each patch */
	bool unwritable;       /* some patch could not be put in */
	bool stuck;            /* some patch could not be taken out: the site stays as it is */
	/* What is to replace it: made before the stop, put in during it. */
	struct fragment next;
	uint64_t next_address;
	uint32_t next_room;
};

/* The number of the site's function. It changes when the functions of the module are discovered. */
static inline uint32_t site_function(const struct site *s)
{
	return flow_function_at(s->code->flow, s->start);
}

/* Code memory that is out of use, but that a thread may still be in. */
struct retired {
	uint64_t start, size;
	struct fragment fragment;
	uint64_t bias;
	uint32_t site;
	bool redirected; /* it leads to the fragment that replaced it */
};

/* Traps, where jumps have no room: traps.c. */
struct traps {
	uint32_t entries;     /* entries of the runtime's table that lead somewhere */
	uint32_t planned;     /* planned by this batch so far */
	bool asked, possible; /* whether traps are possible, once this batch has asked */
	bool spoilt;          /* SIGTRAP's action was ours, and has been changed */
};

/* A module that was searched for system calls, identified by an address in its code. */
struct searched {
	uint64_t start;
	const struct code *code;
	bool waits;  /* for all calls that may block, not only those that may install a filter */
	bool makers; /* also for functions that initialise synchronisation objects */
};

struct codespace {
	VEC(struct subject) subjects;
	VEC(struct site) sites;
	struct hashmap site_index; /* run-time start of a function -> site */
	VEC(struct counted) counted;
	uint32_t loops_used, call_sites_used; /* used entries of the runtime's tables */
	struct pool pool;                     /* code memory */
	VEC(struct retired) retired;
	struct moved_index *moved;
	struct traps traps;
	VEC(uint32_t) journal_free, probe_free; /* free entries of the runtime's tables */
	VEC(uint32_t) probe_retired; /* entries that a thread may still be about to use */
	uint32_t counters_reserved;  /* counters of each area that subjects may need */
	uint32_t patches_planned;    /* by this batch so far */
	bool watch_waits; /* probes at blocking calls are to go in, and cells to be filled */
	VEC(struct searched) searched;
	bool rendezvous_in;
	uint64_t rendezvous_state; /* run-time address; 0: unknown */
};

struct codespace *codespace_new(void);
/* Makes a copy for the child of a fork, or for a snapshot, whose memory holds everything that the
 * memory of `of` holds. */
void codespace_copy(struct codespace *copy, const struct target *of);
void codespace_free(struct codespace *s);
