/* The probes of a search: which parts of the code are measured in all processes that have them,
 * what that costs, and which of them would cost too much. Several experiments may want the same. */
#pragma once
#include "diagnose/code.h"
#include "diagnose/machine.h"
#include "diagnose/mapped.h"

enum probe_state {
	PROBE_OUT,
	PROBE_IN,
	PROBE_HOT,     /* taken out for what it cost, and not put in again */
	PROBE_REFUSED, /* it cannot be put in */
};

struct probe_in {
	uint32_t process, subject;
};

struct probe {
	uint32_t part, users;
	uint8_t state; /* enum probe_state */
	VEC(struct probe_in) in;
	bool fresh;              /* put in lately */
	double since;            /* s: when it was put in, or checked last */
	uint64_t calls, checked; /* begun so far; up to then */
	double cost;             /* s that it took so far */
};

/* What probes have cost up to some time. */
struct cost_mark {
	double time, probes, run, pauses; /* s */
};

struct probe_row {
	uint32_t probe, thread;
	bool recursive;
	/* Up to the last reading; and while reading, up to now: one may be told in pieces. */
	uint64_t ns, calls, told_ns, told_calls;
	uint32_t reading; /* in which it was last told */
};

struct probes {
	struct engine *engine;
	struct machine *machine;
	struct mapped *mapped;
	struct code_parts *code;
	struct ledger *ledger;
	double max_cost;
	bool cpu_clock; /* probes read it: it costs little here; else see ledger.h */
	VEC(struct probe) list;
	struct hashmap at;         /* part -> probe */
	struct hashmap subject_at; /* process << 32 | subject -> probe */
	struct hashmap avoided;    /* run-time-independent key of procedures that are left alone */
	VEC(struct probe_row) rows;
	struct hashmap row_at;
	VEC(uint32_t) told; /* rows, in this reading */
	uint32_t reading;
	VEC(uint32_t) dirty; /* processes with something to commit */
	struct cost_mark sum, begin, marks[32];
	uint32_t marked;
};

void probes_init(struct probes *p, struct engine *g, struct machine *m, struct mapped *mapped,
		 struct code_parts *code, struct ledger *l);
void probes_release(struct probes *p);

/* Changes take place with the next commit. */
void probes_want(struct probes *p, uint32_t part);
void probes_drop(struct probes *p, uint32_t part);
/* Whether the part is, or will be, measured by probes. */
bool probes_measure(const struct probes *p, uint32_t part);
/* Whether it is not, as it begins so often that probes cost too much. */
bool probes_are_hot(const struct probes *p, uint32_t part);
/* For what is not measured but counted: a subject of the part, with the next commit; SUBJECT_NONE
 * if it cannot be. And out again. */
uint32_t probes_add(struct probes *p, uint32_t part, uint32_t process,
		    struct subject_request request);
void probes_remove(struct probes *p, const struct probe_in *in);
/* False if there was nothing to do. */
bool probes_commit(struct probes *p);

/* What is wanted goes into a process that is new or has loaded an image, as far as it is not in. */
void probes_loaded(struct probes *p, uint32_t process);
void probes_ended(struct probes *p, uint32_t process);

/* Values since the last step into the ledger. */
void probes_step(struct probes *p);
uint32_t probes_part(void *probes, uint32_t process, uint32_t subject);

/* Right after a commit, again and again: what is far too hot is silenced at once. */
void probes_check(struct probes *p, double now);
/* Whether that is due: something went in shortly before. */
bool probes_are_fresh(const struct probes *p);

/* The share of run time that probes take at present; and since the beginning. */
double probes_cost(const struct probes *p);
double probes_whole_cost(const struct probes *p);
/* s that the probes of a part took so far. */
double probes_cost_of(const struct probes *p, uint32_t part);
