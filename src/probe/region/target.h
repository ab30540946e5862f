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

/* What readers hear of a subject. */
enum telling {
	TELL_PATHS = 1 << 0, /* unless its activations only say how a loop was left */
	TELL_WAITS = 1 << 1, /* until it is removed by who added it */
};

/* The region: a file in memory, which the program and we have mapped; and the runtime. */
struct region {
	bool in;       /* the program */
	uint8_t *map;  /* our mapping, of RT_MAPPED_SIZE */
	int fd;        /* the file */
	uint64_t base; /* the program's mapping */
	uint64_t text; /* the runtime's text in the program */
	uint32_t text_size;
	uint64_t guard, table; /* see struct rt_entry_table */
	uint32_t counters;     /* plain counters in use, of each area */
	VEC(uint32_t) steps;   /* entries of the runtime's table that are in use */
	VEC(uint8_t) told;     /* by subject: set of enum telling */
	struct raw_cache *raw; /* raw.c's */
};

/* Where control appeared in a context, because counting began while it was there. */
struct met {
	uint64_t context; /* run-time address */
	uint32_t site;    /* in a call; 0: it was at `va` */
	uint64_t va, times;
};

/* Where a thread is in the middle of a counted procedure when counting ends. */
struct left_at {
	uint64_t context; /* run-time address; 0: it is in none, or in a call */
	uint64_t va;
	bool arriving; /* at the top of the block, before all that is counted there */
	bool framed;   /* the innermost frame is that of this activation */
	/* What its loops have counted in registers, and in which words of the context it belongs.
	 */
	VEC(struct counted_word) held;
};

struct thread_slot {
	int tid; /* 0: free */
	uint64_t thread_pointer;
	struct hashmap caught_up; /* hash -> path in its area that stop/lists.c made */
	VEC(struct met) met;
	struct left_at left;
};

/* What dead threads left. */
struct kept_path {
	struct path_value value; /* but its frames */
	uint32_t first_frame;    /* in kept.frames */
};

struct kept_wait {
	int tid; /* 0: of threads that ended when there were too many others already */
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

/* Counting whole procedures. */
struct counting {
	bool on;                         /* contexts are prepared */
	bool over;                       /* all that was counted is in `kept` */
	VEC(struct counted_thread) kept; /* of threads that have ended */
	struct arena arena;              /* what they refer to */
	VEC(uint64_t) starts;            /* va of the procedures, by number - 1 */
};

/* How often probes were hit, by what a hit costs. */
enum hit_kind { HIT_ENTER, HIT_EXIT, HIT_WALK, HIT_COUNT, HIT_OTHER, HIT_KINDS };
struct probe_hits {
	uint64_t of[HIT_KINDS];
};

/* What probes have cost: engine/cost.c. */
struct hits {
	struct probe_hits ended; /* of threads that have ended */
	uint64_t ended_run_ns;   /* of the whole process, once it has ended */
	struct probe_hits seen;  /* at the last target_cost() */
	uint64_t seen_run_ns;
};

/* What the program may do, if it restricts its system calls: confinement.c. */
struct confinement {
	bool guarded;       /* there are probes at calls that might confine it */
	uint32_t permitted; /* set of enum rt_may, as of the last look */
	uint32_t before;    /* rt_header.confined then */
	uint64_t looked;    /* ns: when /proc was asked */
	bool known;         /* what it said */
};

struct target {
	struct shared *shared;
	int pid;
	bool alive, stopped;
	bool leaving;   /* threads that wait in moved system calls are sent back as well */
	bool untouched; /* it is confined, and nobody traces it; it may be ours to wait for */
	bool shadow_stack;
	struct err problem; /* why nothing is in it */
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

/* Why nothing can be put into it: it has ended, or what was said when that failed. */
int target_unusable(const struct target *t, struct err *e);
/* Stops it for a change. Children that it has forked are dealt with first: what they were given is
 * what it has had so far. */
int target_stop(struct target *t, struct err *e);
/* What is in its memory is about to change: children that are forked from now on get another copy.
 */
void target_changing(struct target *t);

/* Whether the subject is one, and readers hear that of it. */
static inline bool target_tells(const struct target *t, uint32_t subject, enum telling what)
{
	return subject < t->region.told.len && t->region.told.data[subject] & what;
}

/* Each part by itself. */
void slot_release(struct thread_slot *s);
void kept_release(struct kept *k);
void counting_release(struct counting *c);
