/* What is in the code of a target, and what is to be: subjects, the sites they are in, and the
 * memory for the code of those sites. */
#pragma once
#include "patch/pool.h"
#include "probe/code/counted.h"
#include "probe/code/subjects.h"
#include "probe/region/target.h"

enum purpose {
	PURPOSE_MEASURE,
	PURPOSE_BLOCK, /* system calls of a procedure */
	PURPOSE_SPIN,  /* a procedure that waits by spinning */
	PURPOSE_MADE,  /* one that makes what others wait for */
	PURPOSE_RENDEZVOUS,
};

/* Something that is measured in the program. */
struct subject {
	struct subject_request request;
	uint32_t site;  /* index in codespace.sites */
	uint32_t loop;  /* index in the procedure's forest, LOOP_NONE for the procedure */
	uint32_t depth; /* of the loop; 0 for the procedure */
	VEC(struct part) loop_code; /* where the loop's blocks are; ascending */
	uint64_t entry;  /* va: a thread about to execute this passes the entry; 0: none does */
	bool fresh;      /* went in with this batch: catch-up is due */
	uint8_t purpose; /* enum purpose */
	bool argument;   /* PURPOSE_SPIN: its first argument says for what */
	bool wanted;     /* to be in the program; false once removed */
	bool in;         /* its probes are in */
	uint8_t refused; /* enum refusal */
	/* Of a loop with plain counters: exceptions leave it to where others arrive, too; its
	 * activations tell them apart. */
	bool tracked;
	uint32_t counters[POINT_KINDS]; /* of each kind of point, or UINT32_MAX */
	VEC(uint32_t) probes;           /* its entries in the runtime's table */
};

/* A procedure whose executions are counted. */
struct counted {
	uint32_t site;
	bool wanted;
	uint8_t refused; /* enum refusal */
	bool numbered;   /* its loops have numbers */
	uint32_t first_loop, loop_count;
	bool *without_trips; /* of each loop: its trip counts cannot be had; NULL: they all can */
};

/* A procedure with probes in it. */
struct site {
	struct code *code;
	uint64_t start, bias; /* va of the procedure; run-time address - va */
	VEC(uint32_t) subjects;
	uint32_t counted; /* number: index in codespace.counted + 1; 0: it is not counted */
	bool dirty;
	bool put_off; /* it could not be changed last time */
	struct fragment fragment;
	uint64_t address;      /* of the fragment in the program; 0: none is in */
	uint32_t room;         /* bytes taken from the pool */
	VEC(uint32_t) journal; /* index of each patch */
	bool unwritable;       /* some patch could not be put in */
	bool stuck;            /* some patch could not be taken out: all stays as it is */
	/* What is to replace it: made before the stop, put in during it. */
	struct fragment next;
	uint64_t next_address;
	uint32_t next_room;
};

/* Its number, which changes when the image's procedures are discovered. */
static inline uint32_t site_procedure(const struct site *s)
{
	return flow_procedure_at(s->code->flow, s->start);
}

/* Code memory out of use that a thread may still be in. */
struct retired {
	uint64_t start, size;
	struct fragment fragment;
	uint64_t bias;
	uint32_t site;
	bool redirected; /* it leads to what replaced it */
};

/* Traps, where jumps have no room: traps.c. */
struct traps {
	uint32_t entries;     /* of the runtime's table that lead somewhere */
	uint32_t planned;     /* by this batch so far */
	bool asked, possible; /* as far as this batch knows */
	bool spoilt;          /* SIGTRAP's action was ours, and is not any more */
};

/* An image whose system calls were looked for, by some address in its code. */
struct searched {
	uint64_t start;
	const struct code *code;
	bool waits;  /* all calls that may wait, not only those that may confine the program */
	bool makers; /* were looked for, too */
};

struct codespace {
	VEC(struct subject) subjects;
	VEC(struct site) sites;
	struct hashmap site_index; /* run-time start of a procedure -> site */
	VEC(struct counted) counted;
	uint32_t loops_used, call_sites_used; /* of the runtime's tables */
	struct pool pool;                     /* code memory */
	VEC(struct retired) retired;
	struct moved_index *moved;
	struct traps traps;
	VEC(uint32_t) journal_free, probe_free; /* entries of the runtime's tables */
	VEC(uint32_t) probe_retired;            /* a thread may still be on its way to them */
	uint32_t counters_reserved;             /* of each area: those that subjects may need */
	uint32_t patches_planned;               /* by this batch so far */
	bool watch_waits; /* blocking probes are to be in, and cells to be filled */
	VEC(struct searched) searched;
	bool rendezvous_in;
	uint64_t rendezvous_state; /* run-time address; 0: not known */
};

struct codespace *codespace_new(void);
/* A copy for a child of a fork, or for nobody: it has everything in its memory that `of` has. */
void codespace_copy(struct codespace *copy, const struct target *of);
void codespace_free(struct codespace *s);
