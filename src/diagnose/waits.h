/* What threads wait for: synchronisation objects and files. They are found as threads are seen
 * waiting, with the time of each, from what the runtime keeps (probe/engine/engine.h,
 * target_waits()).
 *
 * A futex is a word in memory: the stack of a thread that waits for it shows which kind of object
 * it belongs to. /proc says what a descriptor refers to. */
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
	/* For an object without a name: where it was made (the code, and an address within the
	 * call), NULL if that was not seen; and the part of the code that was first seen waiting
	 * for it. */
	struct code *maker;
	uint64_t made_at;
	uint32_t user;
	uint32_t part;  /* RESOURCE_NONE until it has taken some time */
	double first;   /* s: when it was first seen */
	double checked; /* s: when its descriptor was last looked up */
	double rate;    /* uses per second, once they are no longer counted; else 0 */
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
	/* Up to the last step; and during a step, up to now: a row may be reported in pieces. */
	struct wait_sums {
		uint64_t wall_ns, small_ns, count, bytes, small_count;
	} last, reported;
	uint32_t step; /* in which it was last reported */
};

struct ignored_object {
	uint32_t object, thread;
	double share;  /* of the time of all objects */
	double small;  /* of this one's own time, in operations that move few bytes */
	double credit; /* samples that it should have had, less those that it was given */
};

/* A function with too many system calls to watch them: its time comes from samples. What the calls
 * wait for is known from before. */
struct ignored_calls {
	uint32_t process;
	uint64_t pc; /* of the call, as reported with its waits */
	struct code *code;
	uint64_t va; /* of the function */
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
	VEC(uint32_t) reported; /* rows that were reported in this step */
	uint32_t step;
	VEC(uint32_t) now;  /* object that is waited for, by thread of the machine */
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
void waits_step(struct waits *w, subject_part part_of, void *ctx);

/* What the thread waited for at the time of the last step; LEDGER_NONE: nothing. */
uint32_t waits_now(const struct waits *w, uint32_t thread);
/* What a thread waits for in a system call; LEDGER_NONE: the call does not say. */
uint32_t waits_in_call(struct waits *w, uint32_t process, const struct call_made *c);
/* The stack of a thread that waits for an object shows that it is of this kind. */
void waits_learn(struct waits *w, uint32_t object, enum object_kind kind);
/* The kind of object that a function waits for, by its name; OBJECT_KINDS if it is none of those
 * known to wait. */
enum object_kind waits_kind_of(const char *function);
/* Notes that this part of the code waits for the object. */
void waits_used(struct waits *w, uint32_t object, uint32_t part);
/* The thread that has locked a mutex, or 0. */
int waits_owner(const struct waits *w, uint32_t object);

/* ignored.c */
/* Stops watching calls that cost more than `most`, a share of the time that passes, if one call
 * costs `seconds`. True if something is to be committed. */
bool waits_limit(struct waits *w, double seconds, double most);
/* A sample of a thread that is in the code at va. */
struct ignored_sample {
	uint32_t process, thread;
	const struct code *code;
	uint64_t va;
	const struct call_made *call; /* that it waits in, or NULL if that is not known */
};
/* If the calls in the function at va are ignored: what the thread waits for. That is the object
 * that the call names, or else one chosen by its share. False otherwise. */
bool waits_ignored(struct waits *w, const struct ignored_sample *x, uint32_t *object,
		   double *small);
