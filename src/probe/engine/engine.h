/* Probes in running programs: put in, read and taken out while they run.
 *
 *	engine_new(); engine_attach() or engine_launch()
 *	engine_poll()                    again and again: what has happened
 *	target_add(), target_commit()    subjects go in, in one stop of the process
 *	target_read()                    values so far, without stopping anything
 *	target_remove(), target_commit()
 *	target_count(), target_commit()  whole images are counted, from now on to the end
 *	target_read_counts()             what was counted; exact once the process is left or gone
 *	engine_free()                    takes everything out and leaves
 *
 * A target is one process under study; fork makes another one, exec starts it anew. All calls have
 * to come from one thread of ours. What to measure is in code/subjects.h, what to count in
 * code/counted.h, what was measured in region/values.h, what was counted in region/counts.h. */
#pragma once
#include "probe/code/counted.h"
#include "probe/code/subjects.h"
#include "probe/region/counts.h"
#include "probe/region/options.h"
#include "probe/region/values.h"

struct engine;

struct engine *engine_new(const struct engine_options *o);
void engine_free(struct engine *g);

int engine_attach(struct engine *g, int pid, struct target **out, struct err *e);
/* The program is stopped where it is just loaded: libraries are mapped, nothing of them has run.
 * target_go() lets it run. *why: errno of a failed exec. */
int engine_launch(struct engine *g, char *const *argv, struct target **out, int *why,
		  struct err *e);
void target_go(struct target *t);
/* Makes ready for a commit what was left alone (engine_options.lazy). */
int target_begin(struct target *t, struct err *e);

enum engine_happening {
	ENGINE_FORKED,   /* `target` is new; what was in its parent is in it, with values of its
			    own. If it is left alone (engine_options.lazy), nothing is */
	ENGINE_EXECUTED, /* `target` is a process that executes another program, stopped where that
			    is loaded; nothing is in it; target_go(). `parent` is what it was
			    before, with its values, or NULL */
	ENGINE_LOADED, /* images were loaded or unloaded in `target`; it is stopped; target_go() */
	ENGINE_CONFINED, /* `target` restricts its system calls from now on, and was left for that:
			    target_unprobed(). Its values can still be read */
	ENGINE_ENDED, /* `target` is gone, `status`; its values can be read until engine_drop() */
	ENGINE_HAPPENINGS,
};

struct engine_event {
	enum engine_happening what;
	struct target *target, *parent;
	int status;
};
bool engine_poll(struct engine *g, int timeout_ms, struct engine_event *out);
/* Takes everything out of a target and lets it run on; its values can be read until engine_drop().
 */
void target_leave(struct target *t);
/* Forgets a target that has ended or was left. */
void engine_drop(struct engine *g, struct target *t);

/* All images that targets have mapped, with their procedures and recipes. */
struct codes *engine_codes(struct engine *g);

int target_pid(const struct target *t);
/* The sentence that says why nothing can be probed in it; NULL if it can. */
const char *target_unprobed(const struct target *t);
struct space *target_space(struct target *t);
bool target_alive(const struct target *t);

/* Makes a perf event, which the machine must offer, the metric RT_EVENT + slot, slot < RT_EVENTS;
 * before subjects with it are added. */
void engine_define_event(struct engine *g, uint32_t slot, uint32_t type, uint64_t config);

/* Carries out what was added and removed. `result` may be NULL. */
int target_commit(struct target *t, struct batch_result *result, struct err *e);

/* Time spent in probes since the last call, estimated from hits and the calibrated cost of each
 * kind; and the time all threads ran meanwhile. */
struct engine_cost {
	uint64_t probe_ns, run_ns;
	uint64_t hits;
};
struct engine_cost target_cost(struct target *t);
/* Measured when first asked for. */
const struct probe_costs *engine_probe_costs(struct engine *g);

/* The stacks that were walked at the stops since the last call, one visit a thread: samples for
 * free. */
void engine_walks(struct engine *g, walk_visitor visit, void *ctx);
/* Stops the process once to walk the stacks of all its threads, for engine_walks(). Nothing
 * changes. */
int target_look(struct target *t, struct err *e);
/* Makes a run-time pc in code memory of ours the one of the original instruction that is executed
 * there, or, within its probes, of the nearest before that; others stay what they are. False if it
 * is in the runtime, or in memory that no fragment has any more. For samples that others take. Good
 * for those taken since the last commit; also of a target that has ended. */
bool target_original(const struct target *t, uint64_t *pc);
/* For a thread that was found in a system call without being stopped: the kernel tells others only
 * its pc, as above before that is made original, and its stack pointer. Adds the frame pointer and
 * the link register, which a procedure that calls nothing else has its return address in, as they
 * were when a probe saw it make the call; if one did. */
void target_call_registers(const struct target *t, int tid, struct registers *r);
