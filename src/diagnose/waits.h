/* What threads wait for: synchronisation objects and files. An object is added when a thread is
 * first seen waiting for it. The runtime measures the waits (target_waits() in
 * probe/engine/engine.h).
 *
 * A futex is a word in memory: the stack of a thread that waits for it shows which kind of object
 * it belongs to. /proc shows what a descriptor refers to. */
#pragma once
#include "diagnose/awaited.h"
#include "diagnose/machine.h"
#include "diagnose/mapped.h"
#include "search/object.h"

struct wait_object {
	uint8_t kind;
	uint32_t process;
	uint64_t id; /* address of the object, descriptor, or what stands for others (objects.c) */
	const char *name;        /* of the variable, path of the file, ...; never NULL */
	const char *path;        /* of a descriptor: what it referred to; or NULL */
	bool named;              /* its name is more than an address */
	const char *peer;        /* name of the process at the other end; NULL: not known */
	int peer_pid, peer_root; /* its ancestors of the same name included: the first of them */
	uint8_t peer_sought;     /* how often that was looked for */
	/* For an object without a name: */
	struct code *maker; /* the code that made it; NULL: that was not seen */
	uint64_t made_at;   /* an address within the call that made it */
	uint32_t user;      /* the part of the code that was first seen waiting for it */
	uint32_t part;      /* RESOURCE_NONE until it has taken some time */
	double first;       /* s: when it was first seen */
	double checked;     /* s: when its descriptor was last looked up */
	double rate;        /* waits per second before its calls were ignored; 0: they are not */
	double seconds;     /* of all threads, counted or not */
	double sampled;     /* s by samples, in system calls that are not watched */
	uint64_t count, bytes, small_count;
	uint32_t connections; /* of OBJECT_REQUESTS: the most that were open at a time */
	double small_seconds;
	uint32_t merged; /* the object that this turned out to be a part of; or LEDGER_NONE */
};

struct wait_row {
	uint32_t process, part, thread, object;
	uint64_t pc;
	bool spins;
	uint64_t begun; /* waits in this step */
	/* last: up to the last step. reported: up to now, added up during a step, because a row may
	 * be reported in pieces. */
	struct wait_sums {
		uint64_t wall_ns, small_ns, count, bytes, small_count;
	} last, reported;
	uint32_t step; /* in which it was last reported */
};

struct ignored_object {
	uint32_t object, thread;
	double share;  /* of the time of all objects of these calls */
	double small;  /* share of this object's time in operations that move few bytes */
	double credit; /* samples that it should have had, less those that it was given */
};

/* A function that makes too many system calls to watch them: its time is measured by samples. The
 * objects are those that its calls waited for before. */
struct ignored_calls {
	uint32_t process;
	uint64_t pc; /* of the call, as reported with its waits */
	struct code *code;
	uint64_t va; /* of the function */
	VEC(struct ignored_object) objects;
};

/* What a call waits for, when that was last looked up. */
struct awaited_call {
	uint32_t object;
	double next; /* s: when it is looked up again */
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
	struct sockets sockets;
	VEC(struct awaited_call) awaited;
	struct hashmap awaited_at; /* hash of process, call and arguments -> awaited */
	struct hashmap polled;     /* process -> what it was last seen polling for */
	VEC(uint32_t) reported;    /* rows that were reported in this step */
	uint32_t step;
	VEC(uint32_t) now;  /* by thread of the machine: the object that it waits for */
	VEC(uint32_t) news; /* parts that are new: the search does not know them yet */
	VEC(struct ignored_calls) ignored;
	double time, passed; /* s: the time of this step, and since the one before */
};

void waits_init(struct waits *w, struct machine *m, struct mapped *mapped, struct ledger *l,
		struct arena *a);
void waits_release(struct waits *w);

/* Returns the part of the code that a subject of a process measures, or RESOURCE_NONE. */
typedef uint32_t (*subject_part)(void *ctx, uint32_t process, uint32_t subject);
/* Reads all waits. Call it between machine_begin_step() and machine_end_step(). */
void waits_step(struct waits *w, subject_part part_of, void *ctx);

/* Returns what the thread waited for at the time of the last step; LEDGER_NONE: nothing. */
uint32_t waits_now(const struct waits *w, uint32_t thread);
/* Returns what a thread waits for in a system call; LEDGER_NONE: the call does not show it. */
uint32_t waits_in_call(struct waits *w, uint32_t process, const struct call_made *c);
/* Returns what stands for the kernel's work in a system call, by its name and the kind of what it
 * is for; with NULL, for that outside of calls. Nobody waits for it. */
uint32_t waits_kernel_work(struct waits *w, uint32_t process, const struct call_made *c);
/* The same for an allocator's work, by the symbol of its function; and for what the kernel does for
 * it, in a system call or, with NULL, outside of calls. */
uint32_t waits_allocation(struct waits *w, uint32_t process, const char *function);
uint32_t waits_kernel_allocation(struct waits *w, uint32_t process, const char *function,
				 const struct call_made *c);
/* Returns what stands for the object of a thread that waits in this function, without a system call
 * that shows it: the function itself. */
uint32_t waits_in_function(struct waits *w, uint32_t process, enum object_kind kind,
			   const struct code *code, uint64_t va, uint64_t bias);
/* Returns the object at this address, if a variable is there; otherwise LEDGER_NONE. */
uint32_t waits_on_variable(struct waits *w, uint32_t process, enum object_kind kind,
			   uint64_t address);
/* Returns what stands for what threads wait for in a runtime, by its name. */
uint32_t waits_in_runtime(struct waits *w, uint32_t process, enum object_kind kind,
			  const char *name);
/* Returns what stands for the object of a thread that spins in this loop: the loop itself. */
uint32_t waits_in_loop(struct waits *w, uint32_t process, uint32_t part);
/* Notes that a variable that threads spin on belongs to an object, which they also wait for in
 * system calls; or that a condition variable is that of a barrier. Both are said in time: an object
 * that is a part of the search stays what it is. */
void waits_merge(struct waits *w, uint32_t variable, uint32_t object);
void waits_is_barrier(struct waits *w, uint32_t object);
/* Returns the share of the time that threads wait for the object, in this call, in operations that
 * move few bytes: as probes have measured it; otherwise as the call asks for. `call` may be NULL.
 */
double waits_small(const struct waits *w, uint32_t object, const struct call_made *call);
/* Notes that an object is of this kind, as the stack of a thread that waits for it shows. */
void waits_learn(struct waits *w, uint32_t object, enum object_kind kind);
/* Notes that this part of the code waits for the object. */
void waits_used(struct waits *w, uint32_t object, uint32_t part);
/* Returns the tid of the thread that has locked a mutex, or 0. */
int waits_owner(const struct waits *w, uint32_t object);

/* objects.c */
/* Returns what a thread waits for, as the runtime has measured it. */
uint32_t waits_of_value(struct waits *w, uint32_t process, const struct wait_value *v);
/* Makes the object a part of the search, if it has taken some time. */
void waits_register(struct waits *w, uint32_t object);

/* ignored.c */
/* Stops watching calls if watching them takes more than the share `most` of elapsed time; one call
 * takes `seconds`. Returns true if there is something to commit. */
bool waits_limit(struct waits *w, double seconds, double most);
/* A sample of a thread that is in the code at va. */
struct ignored_sample {
	uint32_t process, thread;
	const struct code *code;
	uint64_t va;
	const struct call_made *call; /* that it waits in, or NULL if that is not known */
};
/* Returns true if the calls in the function at va are ignored. Then *object is what the thread
 * waits for: the object that the call names, otherwise one that is chosen by its share. *small is
 * the share of the object's time in operations that move few bytes. */
bool waits_ignored(struct waits *w, const struct ignored_sample *x, uint32_t *object,
		   double *small);
