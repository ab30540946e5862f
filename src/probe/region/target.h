/* One process under study.
 *
 * The folders of probe/ are layers, each built on those before it:
 *
 *	region/  memory that the program and Sonde share: put into the program, and read
 *	code/    subjects, the sites they are in, and the code that replaces those sites' code
 *	stop/    what is done to a program while it is stopped, step by step
 *	engine/  processes come and go; the calls that the rest of Sonde makes
 *
 * A layer sees its own part of struct target and the parts of the layers below: the others are
 * incomplete types here. The invariants P1, P2, ... are listed in docs/PROBING.md. */
#pragma once
#include "base/err.h"
#include "base/hashmap.h"
#include "probe/region/counts.h"
#include "probe/region/shared.h"
#include "probe/region/values.h"

/* What readers report about a subject. */
enum reporting {
	REPORT_PATHS = 1 << 0, /* cleared for tracked loops: struct subject */
	REPORT_WAITS = 1 << 1, /* cleared when target_remove() is called */
};

/* The region: a file in memory that the program and we have mapped; and the runtime. */
struct region {
	bool in;       /* it is in the program */
	uint8_t *map;  /* our mapping, RT_MAPPED_SIZE bytes */
	int fd;        /* the file */
	uint64_t base; /* address of the program's mapping */
	uint64_t text; /* the runtime's text in the program */
	uint32_t text_size;
	uint64_t guard, table; /* see struct rt_entry_table */
	uint32_t counters;     /* plain counters in use in each area */
	VEC(uint32_t) steps;   /* entries of the runtime's table of steps that are in use */
	VEC(uint8_t) reported; /* by subject: set of enum reporting */
	struct raw_cache *raw; /* private to raw.c */
};

/* An activation that was adopted, because it was running when counting began: control appeared in
 * its context without an entry. */
struct adopted_at {
	uint64_t context; /* run-time address */
	uint32_t site;    /* the call it was in; 0: it was at `va` */
	uint64_t va, times;
};

/* Where a thread was in the middle of a counted function when counting ended. */
struct abandoned_at {
	uint64_t context; /* run-time address; 0: in none, or in a call */
	uint64_t va;
	bool arriving; /* at the top of the block: nothing is counted for the block yet */
	bool framed;   /* the innermost frame belongs to this activation */
	/* What its loops have counted in registers, and the words of the context that it belongs
	 * to. */
	VEC(struct counted_word) held;
};

struct thread_slot {
	int tid; /* 0: free */
	uint64_t thread_pointer;
	struct hashmap adopted_paths; /* hash -> path in its area made by stop/lists.c */
	VEC(struct adopted_at) adopted;
	struct abandoned_at abandoned;
};

/* Values of threads that have ended. */
struct kept_path {
	struct path_value value; /* without its frames */
	uint32_t first_frame;    /* in kept.frames */
};

struct kept_wait {
	int tid; /* 0: of threads that ended after the limit of separate ones was reached */
	struct rt_wait_cell cell;
};

struct kept {
	VEC(struct kept_path) paths;
	struct hashmap path_index; /* hash of thread, subject and frames -> paths */
	VEC(uint64_t) frames, counters;
	VEC(struct kept_wait) waits;
	struct hashmap wait_index; /* hash of thread and key -> waits */
	struct rt_made *made;      /* the runtime's table; NULL: it is still in the region */
	VEC(struct rt_target) calls;
	struct hashmap call_index; /* hash of site and target -> calls */
};

/* Counting whole functions. */
struct counting {
	bool on;                         /* contexts are prepared */
	bool over;                       /* counting has ended: all counts are in `kept` */
	VEC(struct counted_thread) kept; /* of threads that have ended */
	struct arena arena;              /* what they refer to */
	VEC(uint64_t) starts;            /* va of the functions, by number - 1 */
};

/* Numbers of hits, by kinds that differ in the overhead of one hit. */
enum hit_kind { HIT_ENTER, HIT_EXIT, HIT_WALK, HIT_COUNT, HIT_OTHER, HIT_KINDS };
struct probe_hits {
	uint64_t of[HIT_KINDS];
};

/* To estimate the overhead of probes: engine/overhead.c. */
struct hits {
	struct probe_hits ended; /* of threads that have ended */
	uint64_t ended_run_ns;   /* of the whole process, once it has ended */
	struct probe_hits seen;  /* at the last target_overhead() */
	uint64_t seen_run_ns;
};

/* What the program may do, if it restricts its system calls: confinement.c. */
struct confinement {
	bool guarded;       /* there are probes at all calls that might install a filter */
	uint32_t permitted; /* set of enum rt_may, as of the last check */
	uint32_t before;    /* rt_header.confined at the last check */
	uint64_t looked;    /* ns: when /proc was last read */
	bool known;         /* whether it was confined then */
};

struct target {
	struct shared *shared;
	int pid;
	bool alive, stopped;
	bool leaving;   /* threads that are blocked in moved system calls are sent back as well */
	bool unhealed;  /* memory of a killed sonde is left: a thread was in it */
	bool untouched; /* it is confined, and we do not trace it; it may still be our child */
	bool shadow_stack;
	struct err problem; /* why it cannot be probed */
	struct space *space;

	struct region region;
	struct thread_slot slots[RT_AREAS];
	struct kept kept;
	struct counting counting;
	struct hits hits;
	struct confinement confinement;

	struct codespace *code;  /* code/codespace.h */
	struct lineage *lineage; /* engine/lineage.h */
};

static inline struct rt_header *target_header(const struct target *t)
{
	return (struct rt_header *)t->region.map;
}

static inline void *target_at(const struct target *t, uint64_t offset)
{
	return t->region.map + offset;
}

static inline struct rt_area *target_area(const struct target *t, uint32_t i)
{
	return target_at(t, RT_AREA(i));
}

static inline struct rt_subject *target_subject(const struct target *t, uint32_t number)
{
	return (struct rt_subject *)target_at(t, RT_SUBJECT_TABLE) + number;
}

/* Sets `e` to the reason why the target cannot be probed: it has ended, or its `problem`. */
int target_unusable(const struct target *t, struct err *e);
/* Stops the target for a change. Children that it forked before are handled first: they inherit
 * what it has now, before the change. */
int target_stop(struct target *t, struct err *e);
/* Must be called before our part of its memory changes: children that are forked from now on get
 * another snapshot. */
void target_changing(struct target *t);

/* Whether readers report this about the subject, which may be any number. */
static inline bool target_reports(const struct target *t, uint32_t subject, enum reporting what)
{
	return subject < t->region.reported.len && t->region.reported.data[subject] & what;
}

void slot_release(struct thread_slot *s);
void kept_release(struct kept *k);
void counting_release(struct counting *c);
