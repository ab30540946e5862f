/* What threads wait for: synchronisation objects and files, found as threads are seen waiting, with
 * the time that each took, from what the runtime keeps (probe/engine.h, engine_waits()).
 *
 * A futex is a word in memory: which kind of object it belongs to is told by the stack of a thread
 * that waits for it. A descriptor is what /proc says that it leads to. */
#pragma once
#include "diagnose/machine.h"
#include "diagnose/mapped.h"
#include "search/object.h"

struct wait_object {
	uint8_t kind;
	uint32_t process;
	uint64_t id;      /* address of the object, or descriptor */
	const char *name; /* of the variable, path of the file, ...; never NULL */
	bool named;       /* its name is more than an address */
	/* Of one without a name: where it was made (in which code, within the call), NULL if that
	 * was not seen; and the part of the code that was first seen to wait for it. */
	struct code *maker;
	uint64_t made_at;
	uint32_t user;
	uint32_t part;  /* RESOURCE_NONE until it has taken some time */
	double first;   /* s: when it was first seen */
	double checked; /* s: when it was last looked what its descriptor leads to */
	double rate;    /* a second, of what is counted no more; else 0 */
	double seconds; /* of all threads, counted or not */
	double sampled; /* s by samples, in system calls that are not watched */
	uint64_t count, bytes, small_count;
	double small_seconds;
	uint32_t merged; /* the object that this turned out to be a part of; or LEDGER_NONE */
};

struct wait_row {
	uint32_t process, part, thread, object;
	uint64_t pc;
	bool spins;
	uint64_t begun; /* waits in this step */
	/* Up to the last step; and, during a step, up to now: one may be told in pieces. */
	struct wait_sums {
		uint64_t wall_ns, small_ns, count, bytes, small_count;
	} last, told;
	uint32_t step; /* in which it was last told */
};

struct ignored_object {
	uint32_t object, thread;
	double share;  /* of the time of all of them */
	double small;  /* of this one's own time, in operations that move little */
	double credit; /* samples that it should have had, less those that it was given */
};

/* A procedure that makes so many system calls that only samples tell of them. What they are for is
 * known from before. */
struct ignored_calls {
	uint32_t process;
	uint64_t pc; /* of the call, as waits are told of it */
	struct code *code;
	uint64_t va; /* of the procedure */
	VEC(struct ignored_object) objects;
};

struct waits {
	struct machine *machine;
	struct mapped *mapped;
	struct ledger *ledger;
	struct arena *arena;
	VEC(struct wait_object) objects;
	struct hashmap object_at; /* hash of process, class and address -> object */
	VEC(struct wait_row) rows;
	struct hashmap row_at;
	VEC(uint32_t) told; /* rows, in this step */
	uint32_t step;
	VEC(uint32_t) now;  /* objects, by thread of the machine */
	VEC(uint32_t) news; /* parts that are new: the search does not know them yet */
	VEC(struct ignored_calls) ignored;
	double time, passed; /* s: at this step, and since the one before */
};

void waits_init(struct waits *w, struct machine *m, struct mapped *mapped, struct ledger *l,
		struct arena *a);
void waits_release(struct waits *w);

/* The part of the code that a subject of a process measures, or RESOURCE_NONE. */
typedef uint32_t (*subject_part)(void *ctx, uint32_t process, uint32_t subject);
/* Between machine_begin_step() and machine_end_step(). */
void waits_step(struct waits *w, struct engine *g, subject_part part_of, void *ctx);

/* What the thread waited for at the time of the last step; LEDGER_NONE: nothing. */
uint32_t waits_now(const struct waits *w, uint32_t thread);
/* What a thread waits for in a system call; LEDGER_NONE: that does not tell. */
uint32_t waits_in_call(struct waits *w, uint32_t process, const struct call_made *c);
/* The stack of a thread that waits for an object tells what kind that is. */
void waits_learn(struct waits *w, uint32_t object, enum object_kind kind);
/* The kind that a procedure waits for, by its name; OBJECT_KINDS if it is not known for that. */
enum object_kind waits_kind_of(const char *procedure);
/* This part of the code waits for it. */
void waits_used(struct waits *w, uint32_t object, uint32_t part);
/* The thread that has locked a mutex, or 0. */
int waits_owner(const struct waits *w, uint32_t object);

/* ignored.c */
/* Takes out what costs more than `most` (a share of the time that passes), if a call costs
 * `seconds`; true if something is to be committed. */
bool waits_limit(struct waits *w, struct engine *g, double seconds, double most);
/* Whether waits of a call at this place are not watched any more. */
bool waits_are_ignored(const struct waits *w, uint32_t process, uint64_t pc);
/* A thread that is in the code at va, in a call if that is known. */
struct ignored_sample {
	uint32_t process, thread;
	const struct code *code;
	uint64_t va;
	const struct call_made *call; /* or NULL */
};
/* What it waits for if that is ignored: what the call tells, or an object by its share. */
bool waits_ignored(struct waits *w, const struct ignored_sample *x, uint32_t *object,
		   double *small);
