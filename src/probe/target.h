/* One process under study, as the engine's files see it.
 *
 *	inject.c    the data region and the runtime's text in the program; taking them out again
 *	layout.c    where code and stacks are; images.c the images that are mapped
 *	areas.c     an area for each thread; what dead threads left
 *	contexts.c  counting: the state of each thread; contexts_fork.c in a forked child;
 *	            contexts_met.c when it begins, contexts_left.c when it ends meanwhile
 *	plan.c      subjects -> spots -> fragments; tally.c the probes of counted procedures
 *	code_memory.c  room for fragments near the code they serve; moved.c what is where in it
 *	batch.c     everything that happens while the process is stopped
 *	settle.c    threads out of probes, and their stacks
 *	busy.c      sites that a thread will come back to the middle of
 *	write.c     patches, in and out
 *	traps.c     traps where jumps have no room, and who is told of them
 *	redirect.c  from old fragments to new ones
 *	catch_up.c  activations that were running already; lists.h where they are entered
 *	steps.c     recipes -> the runtime's table of steps
 *	read.c      values; readings.c what they read now; read_contexts.c what was counted
 *	confinement.c  programs that may not make all system calls
 *	blocking.c  system calls that may wait; waits.c what they waited for; made.c who made it
 *	raw.c       paths that the runtime could not walk
 *	cost.c      what probes cost; calibrate.c what one hit does
 *	heal.c      what a killed sonde left behind
 *	leave.c     taking everything out
 *	inherit.c   the child of a fork
 *	unload.c    images that are gone
 *	rendezvous.c  the place where the dynamic linker tells of images
 *	check.c     the invariants, in debug builds
 *	engine.c    targets come and go; the public calls
 *
 * The invariants P1, P2, ... are listed in docs/PROBING.md. */
#pragma once
#include "base/hashmap.h"
#include "patch/fragment.h"
#include "patch/pool.h"
#include "probe/contexts.h"
#include "probe/engine.h"
#include "process/remote.h"

/* Something that is measured in the program. */
struct subject {
	struct subject_request request;
	uint32_t site;  /* index in target.sites */
	uint32_t loop;  /* index in the procedure's forest, LOOP_NONE for the procedure */
	uint32_t depth; /* of the loop; 0 for the procedure */
	VEC(struct part) loop_code; /* where the loop's blocks are; ascending */
	uint64_t entry;  /* va: a thread about to execute this passes the entry; 0: none does */
	bool fresh;      /* went in with this batch: catch-up is due */
	uint8_t purpose; /* enum purpose */
	bool argument;   /* PURPOSE_SPIN: its first argument says for what */
	bool wanted;     /* to be in the program; false once removed */
	bool removed;    /* by who added it */
	bool in;         /* its probes are in */
	uint8_t refused; /* enum refusal */
	/* Of a loop with plain counters: exceptions leave it to where others arrive, too; its
	 * activations tell them apart. */
	bool tracked;
	uint32_t counters[POINT_KINDS]; /* of each kind of point, or UINT32_MAX */
	VEC(uint32_t) probes;           /* its entries in the runtime's table */
};

enum purpose {
	PURPOSE_MEASURE,
	PURPOSE_BLOCK, /* system calls of a procedure */
	PURPOSE_SPIN,  /* a procedure that waits by spinning */
	PURPOSE_MADE,  /* one that makes what others wait for */
	PURPOSE_RENDEZVOUS,
};

/* A procedure whose executions are counted. */
struct counted {
	uint32_t site;
	bool wanted;
	uint8_t refused; /* enum refusal */
	bool numbered;   /* its loops have numbers */
	uint32_t first_loop, loop_count;
	bool *without_trips; /* of each loop: its trip counts cannot be had; NULL: they all can */
};

/* A procedure with probes in it. */
struct site {
	struct code *code;
	uint64_t start, bias; /* va of the procedure; run-time address - va */
	VEC(uint32_t) subjects;
	uint32_t counted; /* number: index in target.counted + 1; 0: it is not counted */
	bool dirty;
	bool put_off; /* it could not be changed last time */
	struct fragment fragment;
	uint64_t address;      /* of the fragment in the program; 0: none is in */
	uint32_t room;         /* bytes taken from the pool */
	VEC(uint32_t) journal; /* index of each patch */
	bool unwritable;       /* some patch could not be put in */
	bool stuck;            /* some patch could not be taken out: all stays as it is */
	/* What is to replace it: made before the stop, put in during it. */
	struct fragment next;
	uint64_t next_address;
	uint32_t next_room;
};

/* Its number, which changes when the image's procedures are discovered. */
static inline uint32_t site_procedure(const struct site *s)
{
	return flow_procedure_at(s->code->flow, s->start);
}

/* Code memory out of use that a thread may still be in. */
struct retired {
	uint64_t start, size;
	struct fragment fragment;
	uint64_t bias;
	uint32_t site;
	bool redirected; /* it leads to what replaced it */
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
	struct hashmap caught_up; /* hash -> path in its area that catch_up.c made */
	VEC(struct met) met;
	struct left_at left;
};

/* What a dead thread left. */
struct kept_path {
	struct path_value value; /* but its frames */
	uint32_t first_frame;    /* in target.kept_frames */
};

struct kept_wait {
	int tid; /* 0: of threads that ended when there were too many others already */
	struct rt_wait_cell cell;
};

/* An image, by some address in its code. */
struct searched {
	uint64_t start;
	const struct code *code;
	bool waits;  /* all calls that may wait, not only those that may confine the program */
	bool makers; /* were looked for, too */
};

/* How often probes were hit, by what a hit costs. */
enum hit_kind { HIT_ENTER, HIT_EXIT, HIT_WALK, HIT_COUNT, HIT_OTHER, HIT_KINDS };
struct probe_hits {
	uint64_t of[HIT_KINDS];
};

struct target {
	struct engine *engine;
	int pid;
	bool alive, stopped;
	bool leaving;  /* threads that wait in moved system calls are sent back as well */
	bool unhealed; /* memory of a killed sonde stays: a thread was in it */
	bool shadow_stack;
	int status;
	struct space *space;
	bool watch_waits; /* blocking probes are to be in, and cells to be filled */

	bool injected;
	uint8_t *region; /* our mapping, of RT_MAPPED_SIZE */
	int region_fd;
	uint64_t base; /* the program's mapping */
	uint64_t text; /* the runtime's text in the program */
	uint32_t text_size;
	uint64_t guard, table; /* see struct rt_entry_table */
	struct pool pool;

	VEC(struct subject) subjects;
	VEC(struct site) sites;
	struct hashmap site_index; /* run-time start of a procedure -> site */
	VEC(struct counted) counted;
	uint32_t loops_used, call_sites_used; /* of the runtime's tables */
	VEC(struct retired) retired;
	struct moved_index *moved;
	VEC(uint32_t) journal_free, probe_free;
	VEC(uint32_t) probe_retired;               /* a thread may still be on its way to them */
	uint32_t counters_used, counters_reserved; /* of each area; those that subjects may need */
	uint32_t patches_planned;                  /* by this batch so far */
	VEC(uint32_t) steps;          /* entries of the runtime's table that are in use */
	uint32_t trap_entries;        /* of the runtime's table that lead somewhere */
	uint32_t traps_planned;       /* by this batch so far */
	bool traps_asked, traps_free; /* whether they are possible, as far as this batch knows */
	bool traps_spoilt;            /* SIGTRAP's action was ours, and is not any more */

	struct thread_slot slots[RT_AREAS];
	uint64_t unmeasured_threads;
	VEC(struct kept_path) kept;
	struct hashmap kept_index; /* hash of thread, subject and frames -> kept */
	VEC(uint64_t) kept_frames, kept_counters;
	VEC(struct kept_wait) kept_waits;
	struct hashmap kept_wait_index; /* hash of thread and key -> kept_waits */
	struct rt_made *kept_made;      /* the runtime's table; NULL: it is still in the region */
	VEC(struct rt_target) kept_calls;
	struct hashmap kept_call_index; /* hash of site and target -> kept_calls */

	bool counting;                          /* contexts are prepared */
	bool counts_kept;                       /* of all threads: counting is over */
	VEC(struct counted_thread) kept_counts; /* of threads that have ended */
	struct arena counts_arena;              /* what they refer to */
	VEC(struct fork_frames *) forks;        /* children that have not told yet */

	struct raw_cache *raw;         /* read.c's */
	VEC(struct searched) searched; /* images whose system calls were looked for */
	bool rendezvous_in;
	uint64_t rendezvous_state; /* run-time address; 0: not known */
	bool loading;              /* its libraries are not there yet */
	struct target *before;     /* what it was before it executed this program; may be gone */
	int held;                  /* thread that waits for engine_go(), or 0 */
	struct target *legacy;     /* of a child that was left alone: what is in its memory */
	struct target *bequest;    /* what children forked now find; NULL: it was not asked for */
	uint32_t heirs;            /* of a bequest */
	struct err problem;        /* why nothing is injected */
	bool untouched;     /* it is confined, and nobody traces it; it may be ours to wait for */
	bool guarded;       /* there are probes at calls that might confine it */
	uint32_t permitted; /* set of enum rt_may, as of the last look */
	uint32_t confined_before;     /* rt_header.confined then */
	uint64_t confined_looked;     /* ns: when /proc was asked */
	bool confined_known;          /* what it said */
	struct probe_hits ended_hits; /* of threads that have ended */
	uint64_t ended_run_ns;        /* of the whole process, once it has ended */
	struct probe_hits seen_hits;  /* at the last engine_cost() */
	uint64_t seen_run_ns;
};

static inline struct rt_header *target_header(const struct target *t)
{
	return (struct rt_header *)t->region;
}

static inline void *target_at(const struct target *t, uint64_t offset)
{
	return t->region + offset;
}

static inline struct rt_area *target_area(const struct target *t, uint32_t i)
{
	return target_at(t, RT_AREA(i));
}

static inline struct rt_subject *target_subject(const struct target *t, uint32_t number)
{
	return (struct rt_subject *)target_at(t, RT_SUBJECT_TABLE) + number;
}

struct engine {
	struct engine_options options;
	const struct arch *arch;
	struct control *control;
	struct codes *codes;
	struct walker *walker;
	VEC(struct target *) targets;
	int launched; /* pid of the program that we started; or 0 */
	struct probe_costs costs;
	bool calibrated;
	struct {
		uint32_t type;
		uint64_t config;
	} perf_events[RT_EVENTS];
	uint32_t perf_event_count;
	VEC(struct intrusions *) intrusions; /* of each code, by id; found when needed */
	VEC(struct private_registers *) private_registers; /* the same */
	struct arena arena, tmp;
	struct memory_window *window;
	int look_ms;                     /* between looks at raw paths */
	VEC(struct engine_event) events; /* found while waiting for something else */
	/* Stacks walked at stops, for engine_walks(). */
	VEC(struct stopped_walk *) walks;
};

/* A thread's stack at the last stop. */
struct stopped_walk {
	struct target *target;
	int tid;
	bool in_call;
	struct call_made call;      /* the system call that it is in */
	bool known;                 /* its registers could be read */
	bool unsettled;             /* it is inside a probe, and could not be brought out */
	bool interrupted;           /* it is in a signal handler, which interrupted a probe */
	struct registers registers; /* pc is the original one */
	bool probed;                /* it has executed the probes before that instruction */
	struct walk walk;
};

/* inject.c */
int target_inject(struct target *t, struct err *e);
/* From now on the runtime counts. */
bool target_set_guard(const struct target *t);
/* By this thread, or any. The child does not count before its guard is set. */
int target_inject_child(struct target *child, const struct target *parent, int tid, struct err *e);
/* The copy, which is of no process, gets a region with the tables of the other. */
bool target_copy_region(struct target *copy, const struct target *t);
void target_withdraw(struct target *t);
void target_unmap(struct target *t);
/* A system call by a thread of the stopped target. */
int target_call(struct target *t, long number, const uint64_t args[6], int64_t *result,
		struct err *e);

/* confinement.c */
/* Of a stopped target: an error if its filters of system calls might forbid what probes need. */
int confinement_check(struct target *t, struct err *e);
/* Before it is traced: an error if there are filters that we cannot read. */
int confinement_check_untouched(const struct target *t, struct err *e);
/* What the runtime may do before there are probes at calls that might confine the program: before
 * it has executed anything of its own. */
void confinement_begin(struct target *t);
/* Before probes go in: an error if the target came to be confined since the last look. */
int confinement_check_batch(struct target *t, struct err *e);
/* With the target stopped and its probes in, after settle_threads(): what it may do from now on.
 * False if the target has to be left. */
bool confinement_look(struct target *t, uint32_t first_walk);
/* Whether it is time for such a look. */
bool confinement_is_due(struct target *t);

/* layout.c */
/* The extent of the stack that sp is on; 0 and 0 if that cannot be known. */
void layout_stack(struct target *t, uint64_t sp, uint64_t *low, uint64_t *high);
/* Reads the process's mappings anew. */
int layout_refresh(struct target *t, struct err *e);

/* areas.c */
void areas_prepare(struct target *t, struct control_thread *th);
void areas_prepare_all(struct target *t);
/* Threads that are stopped and had no thread pointer before: a program sets that of its first one
 * up when it starts. A thread that the runtime does not know has to ask the kernel for its number,
 * and the program's filter of system calls (seccomp) might kill it for that. */
void areas_introduce(struct target *t);
/* The thread is gone: keeps its values, and its area is free for another one. */
void areas_retire(struct target *t, int tid);
void areas_retire_all(struct target *t);
struct rt_area *areas_of(struct target *t, int tid);
struct thread_slot *areas_slot(struct target *t, int tid);
/* RT_AREAS: it has none. */
uint32_t areas_number(const struct target *t, int tid);

/* contexts.c */
/* Threads get what counting needs, before code that counts goes in: those there are, and others as
 * they come. False if there is no memory for it. */
bool contexts_begin(struct target *t);
/* A thread that there is no memory for: it counts into the sink. */
void contexts_give_up(struct target *t, uint32_t slot);
void contexts_prepare(struct target *t, uint32_t slot);
void contexts_wipe(struct target *t, uint32_t slot);
/* Of the root, in the region. */
uint64_t contexts_root(uint32_t slot);
/* A thread's contexts: as they are in the region, and as much of them as was copied. */
struct context_heap {
	const struct target *target;
	uint64_t base;   /* run-time address */
	uint64_t offset; /* in the region */
	struct rt_count state;
	uint8_t *bytes;
	uint64_t first, end; /* offsets of these in the heap */
	uint64_t room;
};
/* False, with nothing to free, if the thread has none. Nothing is copied yet. */
bool contexts_open(const struct target *t, uint32_t slot, struct context_heap *out);
bool contexts_copy_all(struct context_heap *h);
/* The record at *at; moves *at behind it. It is good until the next call, unless all was copied.
 * NULL: no more. */
struct rt_record *contexts_record(struct context_heap *h, uint64_t *at);
/* A copy of a thread's frames. */
struct frames {
	uint64_t top;    /* offset of the innermost in the region */
	uint8_t *shadow; /* from there up to the root's */
	uint64_t size;
	struct rt_aside *asides;
	uint32_t aside_count;
};
bool frames_copy(const struct target *t, uint32_t slot, uint32_t asides, struct frames *out);
void frames_release(struct frames *f);
/* From one frame to the next outer one. */
struct shadow_walk {
	const struct context_heap *heap;
	uint8_t *at, *end; /* from where up to where */
	struct rt_shadow *frame;
	const struct rt_counted *counted; /* its procedure */
	uint32_t size;
	bool complete; /* it came to the end */
};
bool shadow_next(struct shadow_walk *w);
/* The next part of the region that has memory, from *from on and before `end`. */
bool region_next_data(const struct target *t, uint64_t *from, uint64_t end, uint64_t *to);
/* What is not mapped. */
bool region_read(const struct target *t, uint64_t offset, void *out, uint64_t size);
bool region_write(const struct target *t, uint64_t offset, const void *from, uint64_t size);

/* contexts_fork.c */
/* A thread has forked, and has not run on yet. */
void contexts_forked(struct target *t, int tid, int child);
/* The child's thread, before it has an area. */
void contexts_inherit(struct target *child, struct target *parent, struct control_thread *th);
void fork_frames_free(struct fork_frames *f);

/* contexts_met.c */
/* After settle_threads(), from the walk `first` on: what is running of procedures that are about to
 * be counted. */
void contexts_meet(struct target *t, uint32_t first);
/* Control appears in a context: in a call, or at `va`. */
void contexts_note_met(struct thread_slot *slot, uint64_t context, uint32_t site, uint64_t va);

/* contexts_left.c */
/* With the target stopped: all that was counted is kept, and nothing counts any more. */
void contexts_leave(struct target *t);
/* A thread ends where it is. */
void contexts_ending(struct target *t, struct control_thread *th);

/* read_contexts.c */
/* Of a thread that is about to be forgotten. */
void keep_counts(struct target *t, uint32_t slot, bool ended);

/* plan.c */
struct site *target_site(struct target *t, struct code *code, uint32_t procedure, uint64_t bias);
/* That of a frame's procedure, or NULL. */
const struct site *site_of(struct target *t, const struct frame *f);
uint32_t target_add_subject(struct target *t, const struct subject_request *r, enum purpose purpose,
			    struct err *e);
/* Makes `next` of these sites, in code memory of their own. Without anything to probe a site has
 * none. */
int sites_plan(struct target *t, const uint32_t *sites, uint32_t count, struct batch_result *result,
	       struct err *e);

/* code_memory.c */
/* Room for next_room bytes within reach of the site's procedure, if there is any. */
int code_memory_take(struct target *t, struct site *site, bool *taken, struct err *e);
/* A place in the process for memory that need not be near anything; 0: wherever. */
uint64_t place_aside(int pid, uint64_t size);
void code_memory_drop_next(struct target *t, struct site *site);
void code_memory_trim_next(struct target *t, struct site *site);
/* Out of use, but a thread may still be in it; and when none is in any such memory. */
void code_memory_retire(struct target *t, struct site *site);
void code_memory_reclaim(struct target *t);

/* moved.c */
struct moved_index *moved_index_new(void);
void moved_index_free(struct moved_index *in);
/* Fragments have come or gone. */
void moved_code_changed(struct target *t);
/* Where in code memory a pc is. */
struct moved_code {
	const struct fragment *fragment; /* that is in, or a retired one */
	uint64_t start, bias;
	uint32_t site;
};
bool moved_code_at(const struct target *t, uint64_t pc, struct moved_code *out);
/* Where a thread goes on from the island at `pc`, and whose that is; 0: there is none. It is not
 * known whether the program has the site's patches: they may have gone with their image. */
uint64_t island_leads_to(const struct target *t, uint64_t pc, uint32_t *site);
/* Makes a pc in moved code the original one, if it is at the start of a moved instruction. */
bool to_original(const struct target *t, uint64_t *pc, bool *probed);

/* steps.c */
uint64_t step_at(struct target *t, struct code *code, uint64_t va);
/* Adds the steps of all frames of a walk to the runtime's table. */
void steps_learn(struct target *t, const struct walk *w);
/* All paths are to be walked by us again: images have moved. */
void steps_forget(struct target *t);

/* batch.c */
int batch_commit(struct target *t, struct batch_result *result, struct err *e);
/* Where a thread goes on that is at `pc` in terms of the original program: in what the site has, or
 * is about to get. */
uint64_t site_next_pc(const struct site *s, uint64_t pc, bool probed);
/* After settle_threads(): those in moved code go to where they belong now. */
void move_threads(struct target *t, uint32_t first);

/* redirect.c */
/* With the changes in: whoever is in an old fragment is led to the new one. */
void redirect_retired(struct target *t, uint32_t first_walk);

/* settle.c */
/* With the target stopped: brings all threads out of probes and the runtime and walks their stacks,
 * into the engine's walks from *first on. True if no thread is left in code memory, nor any stack.
 */
bool settle_threads(struct target *t, uint32_t *first);
/* Whether a word of the stack, from sp up, is one that is looked for. */
typedef bool (*word_finder)(void *ctx, uint64_t word);
bool stack_has(struct target *t, uint64_t sp, word_finder finds, void *ctx);
bool is_code_memory(const struct target *t, uint64_t pc);
/* Whether the thread is, or will come back to, code memory of the region with this header. */
bool thread_is_in(struct target *t, struct control_thread *th, const struct rt_header *h);

/* No thread is in code of the region any more: what calls pass in registers (tally/calls.c) is
 * nobody's, and the code of another sonde must not take it for its own. */
void forget_passed(struct target *t, uint64_t region);

/* busy.c */
/* A site whose next fragment must not go in, and the thread because of which. */
struct clash {
	int tid;
	uint32_t site; /* SITE_NONE: a signal handler interrupted a probe */
};
enum { SITE_NONE = UINT32_MAX };
typedef VEC(struct clash) clash_list;
/* settle_threads(), again and again while there are clashes; `clashes` gets those that remain. */
bool settle_for(struct target *t, uint32_t *first, clash_list *clashes);

/* check.c */
/* In debug builds, after a change, with the target stopped: aborts if P3, P9 or P10 do not hold.
 * `clean`: no thread is in code memory that was given back. */
void target_check(struct target *t, bool clean);

/* write.c */
/* All patches of these sites, out of the program and into it. Those that do not go out are `stuck`.
 */
void patches_undo(struct target *t, const uint32_t *sites, uint32_t count);
/* Sites whose memory could not be written are marked. */
void patches_put(struct target *t, const uint32_t *sites, uint32_t count);

/* traps.c */
/* At the beginning of a batch: if SIGTRAP's action is not ours any more, sites with traps have to
 * change. */
void traps_look(struct target *t);
/* Whether this batch may use them in the site. */
bool traps_possible(struct target *t, const struct site *s);
uint32_t count_traps(const struct fragment *f);
/* With the target stopped: whether all is ready for traps of the next fragments of these sites. */
bool traps_ready(struct target *t, const uint32_t *sites, uint32_t count);
/* Enters the traps of a site in the runtime's table, before they go in. */
void traps_enter(struct target *t, const struct site *s);
/* Takes those of retired fragments out of it. */
void traps_forget_retired(struct target *t);
/* Where a thread has to go that got its signal at `pc`; 0: it is no trap of ours. */
uint64_t trap_leads_to(const struct target *t, uint64_t pc);
/* Whether the stopped thread, at `pc`, will get the signal of a trap of ours as soon as it runs. */
bool is_trapped(const struct target *t, const struct control_thread *th, uint64_t pc);
/* SIGTRAP's action becomes the default one if it is `handler`. */
void traps_set_default(const struct remote_slack *s, struct control *c, uint64_t region,
		       uint64_t handler);

/* catch_up.c */
uint32_t catch_up(struct target *t, const struct stopped_walk *w);
/* Ends the activations of subjects that are removed. */
void end_activations(struct target *t, int tid);

/* read.c */
void read_all(struct target *t, path_visitor visit, void *ctx);
/* Moves the values of an area to `kept`. */
void keep_paths(struct target *t, uint32_t area, int tid);
/* Every pair of call and target, of whatever subject. */
void read_calls(struct target *t, call_visitor visit, void *ctx);
/* A plain counter, summed over all threads there were. */
uint64_t read_counter(struct target *t, uint32_t counter);

/* waits.c */
/* Moves the waits of an area to `kept_waits`. */
void keep_waits(struct target *t, uint32_t area, int tid);
/* made.c: the process is gone, and its region will be. */
void keep_made(struct target *t);
/* If there are many of them. */
void waits_forget_removed(struct target *t);
/* With the thread stopped outside of the runtime: makes room where subjects were that are gone. */
void waits_make_room(struct target *t, int tid);

/* cost.c. The process may have run before it was ours. */
void cost_begin(struct target *t);
/* Keeps what the probes of an area have cost, whose thread has ended. */
void cost_keep(struct target *t, uint32_t area);

/* raw.c */
/* Walks the stacks that the runtime recorded since the last time; whether there were any. */
bool raw_resolve(struct target *t);
/* The path of a raw record, which is walked if it was not yet: frames innermost first, good until
 * the next record is walked. False if there is no such record. */
struct raw_path {
	const uint64_t *frames;
	uint32_t count;
	bool complete;
};
bool raw_find(struct target *t, uint64_t offset, struct raw_path *out);
void raw_release(struct target *t);

/* blocking.c */
void blocking_add(struct target *t);
/* Only those that may confine the program (confinement.c). */
void blocking_guard(struct target *t);
/* The start of the pinned procedure (patch/pinned.h) that holds va; 0: it is in none. */
uint64_t pinned_around(const struct code *code, uint64_t va);
/* Into a table that is all zero. */
void blocking_calls(uint16_t calls[RT_CALLS]);
/* Of one that a thread is in: a set of enum rt_call, 0 if it does not wait; and what for. */
uint32_t blocking_call(const struct call_made *c, uint64_t *object);

/* calibrate.c */
void calibrate(struct engine *g);

/* heal.c */
/* Takes out what an earlier sonde left in the stopped target when it was killed. If that fails, the
 * target must not be probed. */
int heal(struct target *t, struct err *e);

/* engine.c */
/* Stops it for a change. Children that it has forked are dealt with first: what they were given is
 * what it has had so far. */
int target_stop(struct target *t, struct err *e);
/* Deals with all that has happened, and lets everybody who waits for it go on. */
void engine_drain(struct engine *g);
/* The walks from `first` on. */
void engine_forget_walks(struct engine *g, uint32_t first);

/* leave.c */
/* Takes everything out and leaves the process running. */
void leave(struct target *t);

/* inherit.c */
/* The child of a fork gets what its parent had, with values of its own. */
void target_inherit(struct target *child, struct target *parent, int tid);
/* The child is left alone for now, with what is in its memory; false if it has to inherit at once.
 */
bool target_bequeath(struct target *child, struct target *parent);
/* A child that was left alone, stopped now, gets what it has; all is to go with its next batch. */
int legacy_take_over(struct target *child, struct err *e);
/* What is in the memory of the target changes. */
void bequest_forget(struct target *t);
/* Of a target that is done with. */
void legacy_release(struct target *legacy);

/* engine.c */
/* Why nothing can be put into it: it has ended, or what was said when that failed. */
int target_unusable(const struct target *t, struct err *e);
/* One that the engine does not know of. */
struct target *target_make(struct engine *g, int pid);
void target_free(struct target *t);

/* unload.c */
/* Forgets probes in images that are gone. */
void forget_unloaded(struct target *t);

/* rendezvous.c */
void rendezvous_add(struct target *t);
/* Whether a program that was just executed will come there before its own first instruction. */
bool rendezvous_comes(const struct target *t);
bool rendezvous_consistent(struct target *t);
