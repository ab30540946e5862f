/* Probes in running programs: put in, read and taken out while the programs run.
 *
 *	engine_new(); engine_attach() or engine_launch()
 *	engine_poll()                    repeatedly: reports what has happened
 *	target_add(), target_commit()    put subjects in, in one stop of the process
 *	target_read()                    values so far, without stopping anything
 *	target_remove(), target_commit()
 *	target_count(), target_commit()  count whole modules, from now on to the end
 *	target_read_counts()             counts; exact once the process is left or has ended
 *	engine_free()                    takes everything out and leaves
 *
 * A target is one process under study. fork makes another target, and exec replaces it by a new
 * one. All calls must be made by one thread of ours. What to measure is in code/subjects.h, what to
 * count in code/counted.h, what was measured in region/values.h, what was counted in
 * region/counts.h. */
#pragma once
#include "probe/code/counted.h"
#include "probe/code/subjects.h"
#include "probe/region/counts.h"
#include "probe/region/options.h"
#include "probe/region/values.h"

struct engine;

struct engine *engine_new(const struct engine_options *o);
void engine_free(struct engine *g);
/* From now on, programs are traced only from engine_attach() to target_rest(), and the births of
 * threads do not stop them: a thread that is born after a commit is not measured before the next
 * one. A program that a process executes is not a target. Forked children are left alone, as with
 * engine_options.lazy. */
void engine_on_demand(struct engine *g);

/* Whether enough is known of all modules of a process that engine_attach() and target_commit() take
 * little time. Otherwise they are studied in the background, and the caller asks again. */
bool engine_study(struct engine *g, struct space *s);

/* *out is set only on success, here and in engine_launch(). */
int engine_attach(struct engine *g, int pid, struct target **out, struct err *e);
/* The program is stopped when it has just been loaded: its libraries are mapped, but no code of
 * them has run. target_go() lets it run. *why: errno of a failed exec. */
int engine_launch(struct engine *g, char *const *argv, struct target **out, int *why,
		  struct err *e);
void target_go(struct target *t);
/* Prepares a target that was left alone (engine_options.lazy) for a commit. */
int target_begin(struct target *t, struct err *e);

enum engine_happening {
	ENGINE_FORKED, /* `target` is new; it has what its parent has, with values of its own. If it
			  is left alone (engine_options.lazy), nothing is measured in it */
	ENGINE_EXECUTED, /* `target` executes another program. It is stopped when that is loaded,
			    with nothing in it, until target_go(). `parent` is the old target, with
			    its values, or NULL. With engine_options.on_demand, there is no target,
			    and the process `pid` runs */
	ENGINE_LOADED,   /* modules were loaded or unloaded in `target`, which is stopped until
			    target_go() */
	ENGINE_CONFINED, /* `target` has restricted its system calls, and was left because of that
			    (target_unprobed()). Its values can still be read */
	ENGINE_ENDED,    /* `target` has ended with `status`; its values can be read until
			    engine_drop() */
	ENGINE_HAPPENINGS,
};

struct engine_event {
	enum engine_happening what;
	int pid;
	struct target *target; /* NULL: ENGINE_EXECUTED, and see engine_expect_end() */
	struct target *parent;
	int status;
};
/* Waits up to timeout_ms for the next event (-1: without limit). False if there is none, or if a
 * signal to us ended the wait early. */
bool engine_poll(struct engine *g, int timeout_ms, struct engine_event *out);
/* ENGINE_ENDED is also reported for this child of ours, which is not a target. */
void engine_expect_end(struct engine *g, int pid);
/* Takes everything out of a target and lets it run on. Its values can be read until engine_drop().
 * target_leave() is for the end: events that are not reported yet are discarded. */
void target_leave(struct target *t);
void target_rest(struct target *t);
/* Frees a target that has ended or was left. */
void engine_drop(struct engine *g, struct target *t);

/* All modules that targets have mapped, with their functions and recipes. */
struct codes *engine_codes(struct engine *g);

int target_pid(const struct target *t);
/* A sentence that says why the target cannot be probed; NULL if it can. */
const char *target_unprobed(const struct target *t);
struct space *target_space(struct target *t);
bool target_alive(const struct target *t);
/* CPU time of the process, up to its end or the next program. */
uint64_t target_ran_ns(const struct target *t);

/* Makes a perf event, which the machine must support, the metric RT_EVENT + slot, slot < RT_EVENTS.
 * Must be called before subjects with that metric are added. */
void engine_define_event(struct engine *g, uint32_t slot, uint32_t type, uint64_t config);

/* Carries out what was added and removed. `result` may be NULL. */
int target_commit(struct target *t, struct batch_result *result, struct err *e);

/* The overhead since the last call: time spent in probes, estimated from the hits and the
 * calibrated overhead of each kind; and the CPU time of all threads. */
struct engine_overhead {
	uint64_t probe_ns, run_ns;
	uint64_t hits;
};
struct engine_overhead target_overhead(struct target *t);
/* How long targets were stopped so far, in ns, all together. */
uint64_t engine_stopped_ns(const struct engine *g);
/* The overhead of one hit of each kind. It is measured at the first call. */
const struct probe_overheads *engine_probe_overheads(struct engine *g);

/* Visits the stacks that were walked at the stops since the last call, once per thread: samples
 * without extra overhead. */
void engine_walks(struct engine *g, walk_visitor visit, void *ctx);
/* Stops the process once to walk the stacks of all its threads, for engine_walks(). Threads that
 * were born since the last commit are measured from now on (engine_on_demand()); nothing else
 * changes. */
int target_look(struct target *t, struct err *e);
/* Converts a run-time pc in our code memory to that of the original instruction executed there;
 * inside a probe, to that of the nearest instruction before it. Any other pc stays as it is. False
 * if it is in the runtime, or in memory that belongs to no fragment any more. It is for samples
 * taken by other means since the last commit, also of a target that has ended. */
bool target_original(const struct target *t, uint64_t *pc);
/* For a thread that was found in a system call without being stopped. The kernel shows only its pc,
 * which must be passed before target_original() changes it, and its stack pointer. Adds the frame
 * pointer and the link register (where a leaf function has its return address) as they were when a
 * probe saw the thread make the call, if one did. */
void target_call_registers(const struct target *t, int tid, struct registers *r);
