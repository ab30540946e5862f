/* The probes of a search: the parts of the code that are measured, in all processes that have them;
 * the overhead; and the parts for which it would be too high. Several experiments may use the same
 * probe. */
#pragma once
#include "diagnose/code.h"
#include "diagnose/machine.h"
#include "diagnose/mapped.h"

enum probe_state {
	PROBE_OUT,
	PROBE_IN,
	PROBE_HOT,     /* removed because of its overhead, for good */
	PROBE_REFUSED, /* it cannot be inserted */
};

struct probe_in {
	uint32_t process, subject;
};

struct probe {
	uint32_t part;
	uint32_t users; /* experiments that use it */
	uint8_t state;  /* enum probe_state */
	VEC(struct probe_in) in;
	bool fresh;       /* inserted recently, and not trusted yet */
	double since;     /* s: when it was inserted or last checked; negative: not yet committed */
	uint64_t calls;   /* so far */
	uint64_t checked; /* calls up to `since` */
	double overhead;  /* s so far */
};

struct probe_row {
	uint32_t probe, thread;
	bool recursive;
	/* ns, calls: up to the last reading. reported_*: up to now, added up during a reading,
	 * because a row may be reported in pieces. */
	uint64_t ns, calls, reported_ns, reported_calls;
	uint32_t reading; /* in which it was last reported */
};

enum reach {
	REACHED,
	REACHED_LATER, /* its modules are being studied; see probes_loaded() */
	REACHED_NEVER,
};

struct probes {
	/* Makes a process a target, if it is none. */
	enum reach (*reach)(void *ctx, uint32_t process);
	void *ctx;
	struct engine *engine;
	struct machine *machine;
	struct mapped *mapped;
	struct code_parts *code;
	struct ledger *ledger;
	double max_overhead;
	VEC(struct probe) list;
	struct hashmap at;         /* part -> probe */
	struct hashmap subject_at; /* process << 32 | subject -> probe */
	struct hashmap avoided;    /* hash of module and va of functions that are left alone */
	VEC(struct probe_row) rows;
	struct hashmap row_at;
	VEC(uint32_t) reported; /* rows that were reported in this reading */
	uint32_t reading;
	VEC(uint32_t) dirty; /* processes with something to commit */
	bool later;          /* a process will be reached later */
	double spent;        /* s in probes so far, of all processes */
	double read;         /* s: when values were last read */
};

void probes_init(struct probes *p, struct engine *g, struct machine *m, struct mapped *mapped,
		 struct code_parts *code, struct ledger *l);
void probes_release(struct probes *p);
/* Whether probes read the CPU clock, because it is cheap here; else see ledger.h. Searches without
 * probes do not ask, and save the time that measuring it takes. */
bool probes_read_cpu_clock(const struct probes *p);

/* These count the users of a probe. Changes take effect with the next commit. */
void probes_want(struct probes *p, uint32_t part);
void probes_drop(struct probes *p, uint32_t part);
/* True if the part is measured by probes, or will be after the next commit. */
bool probes_measure(const struct probes *p, uint32_t part);
/* True if probes were removed from the part because it is entered too often. */
bool probes_are_hot(const struct probes *p, uint32_t part);
/* The process in which samples have shown the part most often; UINT32_MAX: none. */
uint32_t probes_busiest(const struct probes *p, uint32_t part);
/* Adds a subject for the part in one process, with the next commit: for counters, which are not
 * shared by experiments. Returns SUBJECT_NONE if that is impossible. */
uint32_t probes_add(struct probes *p, uint32_t part, uint32_t process,
		    struct subject_request request);
/* Removes such a subject with the next commit. */
void probes_remove(struct probes *p, const struct probe_in *in);
/* Commits all changes. Returns false if there were none. */
bool probes_commit(struct probes *p);

/* True if a process has probes, or will have after the next commit. */
bool probes_are_in(const struct probes *p, uint32_t process);

/* Inserts the wanted probes that are missing into a process that is new or has loaded a module. */
void probes_loaded(struct probes *p, uint32_t process);
void probes_ended(struct probes *p, uint32_t process);
/* The process continues without probes. A part that has no probe in another process is measured by
 * samples from now on. */
void probes_left(struct probes *p, uint32_t process);

/* Adds the values since the last step to the ledger. */
void probes_step(struct probes *p);
uint32_t probes_part(void *probes, uint32_t process, uint32_t subject);

/* Silences new probes that are far too hot, without waiting for the next step. */
void probes_check(struct probes *p, double now);
/* True if probes_check() should be called soon and repeatedly: a probe was inserted recently. */
bool probes_are_fresh(const struct probes *p);

/* Returns the overhead of the probes of a part so far, in s. */
double probes_overhead_of(const struct probes *p, uint32_t part);
