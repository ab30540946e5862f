/* Probes in running programs: put in, read and taken out while they run.
 *
 *	engine_new(); engine_attach() or engine_launch()
 *	engine_poll()                    again and again: what has happened
 *	engine_add(), engine_commit()    subjects go in, in one stop of the process
 *	engine_read()                    values so far, without stopping anything
 *	engine_remove(), engine_commit()
 *	engine_count(), engine_commit()  whole images are counted, from now on to the end
 *	engine_read_counts()             what was counted; exact once the process is left or gone
 *	engine_free()                    takes everything out and leaves
 *
 * A target is one process under study; fork makes another one, exec starts it anew. All calls have
 * to come from one thread of ours. */
#pragma once
#include "patch/fragment.h"
#include "probe/contexts.h"
#include "process/control.h"
#include "runtime/abi.h"
#include "unwind/walk.h"

struct engine;
struct target;

struct engine_options {
	bool poison;        /* tests: probes destroy what liveness calls free */
	bool relocate;      /* tests: relocate every procedure */
	bool trap_all;      /* tests: traps even where jumps would do */
	bool no_perf_clock; /* tests: as if perf were not permitted */
	/* Procedures that take more patches to measure than this are refused: threads stand still
	 * while they go in. An interpreter's loop takes a thousand. 0: any number will do. */
	uint32_t most_patches;
	/* What processes execute, but for the program that was launched, and what they fork is left
	 * alone until engine_begin(). */
	bool lazy;
	/* A program whose filter of system calls (seccomp) might forbid what probes need is no
	 * error, but left alone: nothing can be added to it (engine_unprobed()). */
	bool unprobed;
	/* While a change is prepared: of how many procedures there are new versions. May be NULL.
	 */
	void (*progress)(void *ctx, uint32_t done, uint32_t total);
	void *ctx;
};

struct engine *engine_new(const struct engine_options *o);
void engine_free(struct engine *g);

int engine_attach(struct engine *g, int pid, struct target **out, struct err *e);
/* The program is stopped where it is just loaded: libraries are mapped, nothing of them has run.
 * engine_go() lets it run. *why: errno of a failed exec. */
int engine_launch(struct engine *g, char *const *argv, struct target **out, int *why,
		  struct err *e);
void engine_go(struct engine *g, struct target *t);
/* Makes ready for a commit what was left alone (engine_options.lazy). */
int engine_begin(struct engine *g, struct target *t, struct err *e);

enum engine_happening {
	ENGINE_FORKED,   /* `target` is new; what was in its parent is in it, with values of its
			    own. If it is left alone (engine_options.lazy), nothing is */
	ENGINE_EXECUTED, /* `target` is a process that executes another program, stopped where that
			    is loaded; nothing is in it; engine_go(). `parent` is what it was
			    before, with its values, or NULL */
	ENGINE_LOADED, /* images were loaded or unloaded in `target`; it is stopped; engine_go() */
	ENGINE_CONFINED, /* `target` restricts its system calls from now on, and was left for that:
			    engine_unprobed(). Its values can still be read */
	ENGINE_ENDED, /* `target` is gone, `status`; its values can be read until engine_drop() */
};

struct engine_event {
	enum engine_happening what;
	struct target *target, *parent;
	int status;
};
bool engine_poll(struct engine *g, int timeout_ms, struct engine_event *out);
/* Takes everything out of a target and lets it run on; its values can be read until engine_drop().
 */
void engine_leave(struct engine *g, struct target *t);
/* Forgets a target that has ended or was left. */
void engine_drop(struct engine *g, struct target *t);

/* All images that targets have mapped, with their procedures and recipes. */
struct codes *engine_codes(struct engine *g);
/* Every image of a target with code, the vdso excepted, and how far its run-time addresses are from
 * its own; those that cannot be analysed are left out. */
typedef void (*image_visitor)(void *ctx, struct target *t, struct code *code, uint64_t bias);
int engine_images(struct target *t, image_visitor visit, void *ctx, struct err *e);

int target_pid(const struct target *t);
/* The sentence that says why nothing can be probed in it; NULL if it can. */
const char *engine_unprobed(const struct target *t);
struct space *target_space(struct target *t);
bool target_alive(const struct target *t);

/* What to measure: a procedure, or a loop of it. */
struct subject_request {
	struct code *code;
	uint64_t va;      /* start of the procedure */
	uint64_t loop;    /* va of the loop's header; 0: the procedure itself */
	uint64_t bias;    /* where the image is: run-time address - va */
	uint32_t metrics; /* set of 1 << enum rt_metric */
	bool path;
	bool iterations; /* of a loop: count them as well */
	bool counters;   /* no activations: a plain counter for each point (counts only) */
	bool call_sites; /* of a procedure, and nothing else: its calls, and where they lead */
	/* So many may begin; then it is as after engine_quiet(), even if nobody looks after it.
	 * 0: any number. */
	uint32_t budget;
};

enum { SUBJECT_NONE = UINT32_MAX };

/* Makes a perf event, which the machine must offer, the metric RT_EVENT + slot, slot < RT_EVENTS;
 * before subjects with it are added. */
void engine_define_event(struct engine *g, uint32_t slot, uint32_t type, uint64_t config);

/* Adds to the next batch; SUBJECT_NONE and a sentence if it cannot be probed. */
uint32_t engine_add(struct engine *g, struct target *t, const struct subject_request *r,
		    struct err *e);
/* Takes out with the next batch. Its values stay readable. */
void engine_remove(struct engine *g, struct target *t, uint32_t subject);
/* The same; and at once, without stopping anything, it begins no more: its probes do next to
 * nothing until they are out. What is running of it ends as ever. */
void engine_quiet(struct engine *g, struct target *t, uint32_t subject);
/* Whether its budget is spent; and gives it another one, if it is not. */
bool engine_spent(const struct target *t, uint32_t subject);
void engine_set_budget(struct target *t, uint32_t subject, uint32_t budget);

struct batch_result {
	uint32_t spots, refused[REFUSAL_REASONS]; /* spots asked for, and those refused by reason */
	uint32_t patches;
	uint32_t displaced, relocated, traps; /* procedures by mechanism; any trap counts */
	uint64_t pause_ns;                    /* how long the program was stopped */
	uint32_t caught_up;                   /* activations found on stacks */
};
/* Why a subject was not put in by the last commit; REFUSED_NONE if it was. */
enum refusal engine_refused(const struct target *t, uint32_t subject);
/* Carries out what was added and removed. `result` may be NULL. */
int engine_commit(struct engine *g, struct target *t, struct batch_result *result, struct err *e);

/* One call path with its values, as of now: activations in progress are in `total`. */
struct path_value {
	uint32_t subject;
	int tid;
	bool recursive;
	bool complete; /* the path reaches the root */
	const uint64_t
		*frames; /* return addresses, innermost first; of the callers of the subject */
	uint32_t frame_count;
	uint64_t calls, running; /* begun since the probe is in; in progress now */
	uint64_t total[RT_METRICS], self[RT_METRICS]; /* ns, bytes, counts */
};
typedef void (*path_visitor)(void *ctx, const struct path_value *v);
/* Tells every path of every thread, dead ones included. */
void engine_read(struct engine *g, struct target *t, path_visitor visit, void *ctx);

/* From the next commit on, waits are told by engine_waits(): in this target, in children that it
 * forks from then on, and, as soon as something is committed to that, in what it executes; in
 * images that it loads, as soon as something is committed then. */
void engine_watch_waits(struct engine *g, struct target *t);
/* From the next commit on, not those of the procedure with a system call at `pc`: there are so many
 * that watching them would cost too much. */
void engine_ignore_waits(struct engine *g, struct target *t, uint64_t pc);

/* Waits of one thread at one place for one object. All of them are told with SUBJECT_NONE; and once
 * more for every subject with RT_WALL that was active, with the time since it was. A system call
 * inside a procedure that spins is part of that. */
struct wait_value {
	int tid; /* 0: of dead threads, of which there were too many to be told apart */
	uint32_t subject;
	uint32_t call; /* number of the system call; UINT32_MAX: it spins */
	uint64_t pc;   /* of the call's instruction, or of the procedure that spins */
	/* The address of the futex; the descriptor; the process that is waited for; what a spinning
	 * procedure gets as its first argument. UINT64_MAX: there is none, or it is not known. */
	uint64_t object;
	uint64_t count; /* that have ended */
	uint64_t wall_ns, bytes;
	/* Of these: operations that moved less than RT_SMALL bytes, or made less permanent. */
	uint64_t small_count, small_ns;
	uint64_t since_ns; /* how long one is in progress, which is in wall_ns; 0: none is */
};
typedef void (*wait_visitor)(void *ctx, const struct wait_value *v);
/* Tells the waits of all threads, dead ones included, but not those of subjects that were removed.
 * One that differs in nothing but its values may be told several times: they add up. Values never
 * get less, but for a wait that longjmp has left: it is in progress until its thread waits again,
 * and forgotten then. */
void engine_waits(struct engine *g, struct target *t, wait_visitor visit, void *ctx);

/* What a thread that is in a system call waits for there: the object of a struct wait_value. False
 * if the call is none of those that wait, or a restarted one, which does not tell. */
bool engine_call_object(const struct call_made *c, uint64_t *object);
/* The frame whose procedure has the probes around the system call of a thread with this stack. */
const struct frame *engine_calling_frame(const struct walk *w);

/* Where a synchronisation object was made the last time since waits are watched (pthread_mutex_init
 * and the like), by any thread, or by the process that forked this one before: the return address
 * of that call. 0: not known. */
uint64_t engine_made(const struct target *t, uint64_t object);

/* Plain counters, summed over threads: of a subject's points by enum point_kind. */
void engine_counts(struct engine *g, struct target *t, uint32_t subject, uint64_t out[POINT_KINDS]);

/* Calls of a subject with call_sites so far: from where (run-time address of the call instruction)
 * to where, indirect ones included. A pair may be told several times: threads count by themselves.
 */
typedef void (*call_visitor)(void *ctx, uint64_t site, uint64_t target, uint64_t count);
void engine_calls(struct engine *g, struct target *t, uint32_t subject, call_visitor visit,
		  void *ctx);

/* Counting whole procedures: everything in them, by calling context (docs/COUNTING.md). */

/* Adds all procedures of the images for which `wants` says so, and that are not added yet, to the
 * next batch. *added: how many. */
typedef bool (*image_chooser)(void *ctx, const struct code *code);
int engine_count(struct engine *g, struct target *t, image_chooser wants, void *ctx,
		 uint32_t *added, struct err *e);

/* A procedure by its number: 1 and up. */
struct counted_procedure {
	struct code *code;
	uint64_t va, bias;
	enum refusal refused;  /* it is not counted, because ... */
	struct regset private; /* as for tally/plan.h */
	const bool *without_trips;
	uint32_t first_loop;
};
/* False if there is none of this number. */
bool engine_counted(const struct target *t, uint32_t number, struct counted_procedure *out);

enum counted_status {
	PLACE_COUNTED,  /* moved code of ours, or what it leaves in place */
	PLACE_REFUSED,  /* in the procedure at `va`, which cannot be counted */
	PLACE_STUB,     /* in an image that is counted, but in a linkage stub of it */
	PLACE_BETWEEN,  /* or in none of its procedures */
	PLACE_NO_COUNT, /* in an image that is not counted */
	PLACE_NO_IMAGE,
};

struct counted_place {
	enum counted_status status;
	struct code *code; /* NULL: in no image */
	uint64_t va;
};
/* What a run-time address is to counting. */
struct counted_place engine_counted_place(struct target *t, uint64_t pc);

/* What each thread has counted, dead ones included: probe/contexts.h. */
void engine_read_counts(struct engine *g, struct target *t, counts_visitor visit, void *ctx);

/* Time spent in probes since the last call, estimated from hits and the calibrated cost of each
 * kind; and the time all threads ran meanwhile. */
struct engine_cost {
	uint64_t probe_ns, run_ns;
	uint64_t hits;
};
struct engine_cost engine_cost(struct engine *g, struct target *t);
/* ns of one hit of each kind on this machine, measured when first asked for: a plain counter; entry
 * and exit that read two clocks, and either if it is but that of time passing; finding the call
 * path, ten frames deep; before and after a call that may wait. */
struct probe_costs {
	double count, enter, exit, wall, path, block;
};
const struct probe_costs *engine_probe_costs(struct engine *g);

/* The stacks that were walked at the stops since the last call, one visit a thread: samples for
 * free.
 */
typedef void (*walk_visitor)(void *ctx, struct target *t, int tid, const struct walk *w,
			     const struct call_made *call); /* that it is in, or NULL */
void engine_walks(struct engine *g, walk_visitor visit, void *ctx);
/* Stops the process once to walk the stacks of all its threads, for engine_walks(). Nothing
 * changes.
 */
int engine_look(struct engine *g, struct target *t, struct err *e);
/* Makes a run-time pc in code memory of ours the one of the original instruction that is executed
 * there, or, within its probes, of the nearest before that; others stay what they are. False if it
 * is in the runtime, or in memory that no fragment has any more. For samples that others take. Good
 * for those taken since the last commit; also of a target that has ended. */
bool engine_original(const struct target *t, uint64_t *pc);
/* For a thread that was found in a system call without being stopped: the kernel tells others only
 * its pc, as above before that is made original, and its stack pointer. Adds the frame pointer and
 * the link register, which a procedure that calls nothing else has its return address in, as they
 * were when a probe saw it make the call; if one did. */
void engine_call_registers(const struct target *t, int tid, struct registers *r);
