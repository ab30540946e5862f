/* What the runtime (the code that probes call inside the program) and Sonde share: the data region.
 *
 * It is one memfd, mapped by both. Sonde prepares everything: tables, probes, subjects, one area a
 * thread. The runtime only fills areas in. All of it is sparse: what is not touched takes no
 * memory.
 *
 *	struct rt_header
 *	subjects       what is measured: procedures and loops
 *	probes         arguments of calls into the runtime
 *	steps          hash table: return address -> how to get to the caller's caller
 *	journal        the patches that are in, so that a later sonde can take them out
 *	traps          hash table: address of a trap -> the code that it stands for
 *	made           hash table: address of a synchronisation object -> who made it
 *	counted        procedures and loops that are counted; contexts that are no thread's
 *	raw            paths that the runtime could not walk: registers and a copy of the stack
 *	areas          one per thread, RT_AREA_SIZE each; area i + RT_AREAS is its sibling for
 *	               probes that a signal handler hits while it interrupts a probe; the last two
 *	               are of no thread: what threads without an area count, and what activations
 *	               without a context do, goes there, unread
 *	count areas    one per thread, RT_COUNT_SIZE each: abi_count.h
 *
 * Who writes what, and in which order, so that either side may be interrupted or die at any
 * instant: a table's entry is written before the word that makes it visible (its key, its count);
 * an area is written by its thread alone, which marks it `busy` meanwhile and counts its changes in
 * `sequence`: a reader that finds it free, with the same number before and after, has read a
 * consistent state. Counts of calls, of hits and of counters change by themselves, one word each.
 *
 * When Sonde is dead, a forked child still shares the region with its parent. Its probes do nothing
 * then (see `guard`), and its counters go to no thread's area (see `table`); but until it has come
 * out of the probe that it forked in, if it did, it has its parent's. So nothing that the runtime
 * reads here may lead it out of the region or into an endless loop.
 *
 * Included by freestanding code: only fixed-size types, offsets instead of pointers where both
 * sides look; `base` in the header is where the program has the region. */
#pragma once
#include <stdint.h>

#include "runtime/abi_count.h"

#define RT_MAGIC   UINT64_C(0x73646e6f65627270)
#define RT_VERSION 7
#define RT_NAME    "sonde" /* of the memfd */

enum {
	RT_TABLE_BITS = 12,
	RT_THREADS = 1 << RT_TABLE_BITS,
	RT_SUBJECTS = 1 << 20,
	RT_PROBES = 1 << 21,
	RT_STEP_BITS = 20,
	RT_STEPS = 1 << RT_STEP_BITS,
	RT_STEP_CHAIN = 64, /* entries that are looked at: no key is further from its home */
	RT_PATCHES = 1 << 21,
	RT_TRAP_BITS = 17,
	RT_TRAPS = 1 << RT_TRAP_BITS,
	RT_MADE_BITS = 16,
	RT_MADE_OBJECTS = 1 << RT_MADE_BITS,
	RT_MADE_CHAIN = 16, /* entries that are looked at */
	RT_RAW_BYTES = 64 << 20,
	RT_AREAS = 512, /* threads alive at one time that are measured */
	RT_COUNTERS = 1 << 20,
	RT_ACTIVATIONS = 1 << 17, /* of one thread at one time */
	RT_STACKS = 64,           /* of one thread at one time that have activations on them */
	RT_INSTANCES = 1 << 9,    /* walks that are remembered */
	RT_INSTANCE_WORDS = 512,  /* of the stack, at most, that one of them depends on */
	RT_PATH_BITS = 18,
	RT_PATHS = 1 << RT_PATH_BITS,
	RT_PATH_BYTES = 32 << 20,
	RT_RAW_STACK = 64 << 10,  /* copied at most */
	RT_RAW_FOREIGN = 8 << 10, /* of a stack that is not the thread's own: page by page */
	RT_WALK_FRAMES = 512,     /* of a path that ends at no anchor: the rest is cut off; where
				     anchors lead deeper, recursion is folded */
	RT_FOLD_PARENTS = 64,     /* looked at for that */
	RT_TARGETS = 1 << 12,
	RT_CODE_REGIONS = 256,
	RT_TEXT_RANGES = 64,
	RT_EVENTS = 4, /* perf events measured at one time */
	RT_CALLS = 512,
	RT_WAIT_BITS = 14,
	RT_WAIT_CELLS = 1 << 13,   /* of one thread */
	RT_WAIT_OBJECTS = 3 << 11, /* of them: the last ones are not for single objects */
	RT_WAIT_CHAIN = 32,        /* entries of their index that are looked at */
	RT_WAIT_SETS = 16,
	RT_WAIT_RECENT = 4,
	RT_WAIT_DESCRIPTORS = 1 << 10, /* the first ones: what is written to them is known */
	RT_SMALL = 4096,               /* bytes: an operation that moves less is a small one */
};

/* What is measured of a subject; a set. In this order in `total` and `self`. */
enum rt_metric {
	RT_WALL,  /* ticks of the architecture's counter */
	RT_CPU,   /* ns, as CLOCK_THREAD_CPUTIME_ID of the thread */
	RT_SYNC,  /* ticks of waiting for synchronisation */
	RT_IO,    /* ticks in blocking system calls */
	RT_BYTES, /* moved by read, write and their kin */
	RT_EVENT, /* .. RT_EVENT + RT_EVENTS - 1: perf events */
	RT_METRICS = RT_EVENT + RT_EVENTS,
};

/* How to get from a frame to its caller's. Packed in 64 bits:
 *	bits 0-3   enum rt_step_kind
 *	bits 4-27  CFA minus its base register, in units of 8 bytes, signed
 *	bits 28-43 CFA minus the address of the return address, in units of 8, unsigned
 *	bits 44-59 CFA minus the address of the caller's frame pointer, in units of 8; 0: it is
 *	           still in the register
 *	bit  60    the return address is in the link register (innermost frames and those that a
 *	           signal interrupted only)
 *	bit  61    nothing called this code: a thread or process begins here
 */
enum rt_step_kind {
	RT_STEP_NONE,   /* not known: the path has to be recorded raw */
	RT_STEP_SP,     /* CFA = sp + offset */
	RT_STEP_FP,     /* CFA = fp + offset */
	RT_STEP_SIGNAL, /* code that signal handlers return to: the interrupted registers are where
			   the kernel put them, from sp on; nothing else is in the step */
};
#define RT_STEP_IN_LINK (UINT64_C(1) << 60)
#define RT_STEP_ROOT    (UINT64_C(1) << 61)

/* In the key of a step that begins at the very instruction, which a signal interrupted there, and
 * not at the call before it. */
#define RT_STEP_EXACT (UINT64_C(1) << 63)

struct rt_step {
	uint64_t pc; /* return address, without authentication bits, or RT_STEP_EXACT and any
			address; 0: free. Linear probing from rt_step_home() */
	uint64_t step;
};

static inline uint32_t rt_step_home(uint64_t pc)
{
	return (uint32_t)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - RT_STEP_BITS));
}

/* Something that begins and ends: a procedure's or a loop's activations. */
struct rt_subject {
	uint64_t start, end; /* run-time addresses of the procedure's main part */
	uint32_t metrics;    /* set of 1 << enum rt_metric */
	uint32_t flags;      /* enum rt_subject_flag */
	uint32_t active;     /* 0: removed; its probes do nothing any more */
	/* So many more may begin; with the last one it becomes inactive. 0: any number. */
	uint32_t budget;
};

enum rt_subject_flag {
	RT_PATH = 1 << 0,       /* values are kept per call path, otherwise one path for all */
	RT_LOOP = 1 << 1,       /* several may be active in one frame */
	RT_COUNT_ONLY = 1 << 2, /* calls only: there are no RT_EXIT probes, and no activations */
};

enum rt_probe_kind {
	RT_ENTER,
	RT_EXIT,
	RT_BLOCK,      /* before a system call, or the call of what makes it: may wait */
	RT_BLOCK_DONE, /* after it */
	RT_WAIT,       /* entry of a function that waits by spinning; counts as synchronisation */
	RT_WAIT_DONE,
	RT_TARGET, /* before an indirect call: counts (site, target) */
	/* Where exceptions of several places arrive. For those that come out of the loop, which is
	 * active in this frame then: counts the end of the iteration; or the exit, and ends it. */
	RT_ITERATED,
	RT_LEFT,
	RT_MADE,       /* entry of a function that makes a synchronisation object: first argument */
	RT_RENDEZVOUS, /* tell Sonde, which stops the thread here */
	RT_PROBE_KINDS,
};

/* RT_RENDEZVOUS sends SIGURG with this, the probe's `constant` in the lower half:
 * process/control.h.
 */
#define RT_SIGNAL_MAGIC UINT64_C(0x736f6e6400000000)

struct rt_probe {
	uint32_t kind;
	uint32_t subject;
	uint64_t pc;   /* run-time address of the spot */
	uint64_t step; /* from here to the caller; RT_STEP_NONE: unknown */
	/* RT_TARGET: where the call leads: constant + base + (index << shift), or what is in
	 * memory there. RT_RENDEZVOUS: the constant is sent along. RT_ITERATED, RT_LEFT: it is the
	 * offset of a counter in the area. RT_WAIT: whether the first argument says for what.
	 * RT_BLOCK: whether the call is passed to a function that makes it. */
	uint64_t constant;
	uint8_t base, index; /* registers, or RT_NO_REGISTER */
	uint8_t shift, memory;
	uint32_t unless_active; /* RT_ENTER: nothing begins if one is active in this frame */
};
enum { RT_NO_REGISTER = 0xff };

struct rt_patch {
	uint64_t pc;     /* 0: free */
	uint64_t island; /* where a thread at `pc` goes on, if that is nothing without the patch */
	uint8_t size, pad[7];
	uint8_t original[16], bytes[16];
};

/* Where a thread goes that arrives at a trap: Sonde sends it there, or the handler of SIGTRAP when
 * Sonde is gone. */
struct rt_trap {
	uint64_t pc; /* of the patch; 0: free. Linear probing from rt_trap_home() */
	uint64_t to; /* run-time address in the fragment; 0: removed, others may follow */
};

static inline uint32_t rt_trap_home(uint64_t pc)
{
	return (uint32_t)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - RT_TRAP_BITS));
}

/* Where the trap at pc leads; 0: there is none. */
static inline uint64_t rt_trap_leads_to(const struct rt_trap *table, uint64_t pc)
{
	uint32_t home = rt_trap_home(pc);
	for (uint32_t i = 0; i < RT_TRAPS; i++) {
		const struct rt_trap *t = &table[(home + i) % RT_TRAPS];
		if (!t->pc || t->pc == pc)
			return t->pc ? t->to : 0;
	}
	return 0;
}

/* An object that threads wait for, and where it was made the last time. All threads share the
 * table: they take free entries atomically, which are the object's for ever then, and only `pc`
 * changes. Of objects that have no room nothing is known. */
struct rt_made {
	uint64_t object; /* its address; 0: free. Linear probing from rt_made_home() */
	uint64_t pc;     /* return address of the call that made it; 0: not known */
};

static inline uint32_t rt_made_home(uint64_t object)
{
	return (uint32_t)((object * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - RT_MADE_BITS));
}

/* A path that could not be walked. Records follow each other in the raw space. */
struct rt_raw {
	uint32_t size; /* of the whole record, a multiple of 16; written last */
	uint32_t subject;
	uint64_t pc, sp, fp, link; /* at the spot */
	uint64_t hash;             /* of what looked like code addresses */
	uint32_t stack_size;       /* bytes copied from sp upwards, behind this struct */
	uint32_t pad;
};

/* In rt_path.raw: nothing is known of the path, because there was no room to record it. */
#define RT_RAW_UNKNOWN UINT64_MAX

/* All values of one path of one thread. Variable size, in the area's path space. A subject without
 * RT_PATH has at most two, without frames: one for outermost activations and one, `recursive`, for
 * those with another one of the subject below them. The same callers may appear as several paths:
 * with a parent and without, raw and walked. */
struct rt_path {
	uint64_t hash;
	uint32_t next; /* offset of the next path of the thread, in units of 8; 0: none */
	uint32_t subject;
	uint32_t parent; /* the anchor's path (offset / 8), whose frames are above these; or 0 */
	uint32_t frame_count;
	uint64_t raw;       /* if not 0: offset in the region of the rt_raw record that this path
			       is, or RT_RAW_UNKNOWN; no frames */
	uint16_t recursive; /* the subject is active further out on this path: its inclusive values
			       are in those of another path already */
	uint16_t complete;  /* the last frame, or the last parent's, is where its thread begins */
	uint32_t depth;     /* frames, those of all parents included */
	uint64_t live;      /* activations */
	uint64_t caught_up; /* of activations that were running when the probe came: not in calls */
	uint64_t calls;     /* activations that began */
	uint64_t total[RT_METRICS]; /* inclusive; of activations that ended */
	uint64_t self[RT_METRICS];  /* the same without activations of any subject below */
	uint64_t frames[];          /* return addresses, innermost first */
};

/* The order is that of quick.h: what is read as a pair there has to be written as one. */
/* Written at entry and read at exit, often right afterwards: what is read together is written
 * together, in the same eight bytes, or the processor has to wait for the stores. */
struct rt_activation {
	uint64_t cfa; /* 0: free */
	uint32_t subject;
	uint32_t quick;     /* its metrics can be read without the kernel */
	uint32_t path;      /* offset / 8 */
	uint32_t next;      /* index + 1 of the next one outwards, or of the next free one */
	uint32_t metrics;   /* set: which of `start` are there */
	uint32_t below_set; /* set: which of `below` are there, the others count as 0 */
	uint64_t start[RT_METRICS]; /* readings when it began */
	uint64_t below[RT_METRICS]; /* inclusive values of activations that ended right below it */
};

/* One of the thread's stacks: its activations are a linked list from the innermost outwards. Number
 * 0 is the thread's own (CFA in stack_low < CFA <= stack_high). Others are told apart by `root`. */
struct rt_stack {
	uint64_t root; /* CFA of its outermost frame, as far as it could be walked */
	uint32_t top; /* index + 1 of the innermost activation, 0: none (another root may use it) */
	uint32_t pad;
};

/* The paths of a subject in a thread that have no frames; offsets / 8. */
struct rt_subject_state {
	uint32_t path, recursive; /* without RT_PATH */
	uint32_t unknown;         /* of what had no room */
	uint32_t waited;          /* rt_area.wait_serial when it last had its part of a wait */
};

struct rt_target {
	uint64_t site, target; /* site 0: free */
	uint64_t count;
};

/* What a wait counts as; RT_WAIT_BYTES is I/O that moves as many bytes as it returns. */
enum rt_wait { RT_WAIT_NONE, RT_WAIT_SYNC, RT_WAIT_IO, RT_WAIT_BYTES };

/* What is known of a system call: an enum rt_wait, and more. */
enum rt_call {
	RT_CALL_CLASS = 3,
	RT_CALL_FUTEX = 1 << 2,   /* only some of its operations wait */
	RT_CALL_ADDRESS = 1 << 3, /* what it waits for is the address in its first argument */
	RT_CALL_NUMBER = 1 << 4,  /* the descriptor or process there */
	RT_CALL_SECOND = 1 << 5,  /* in its second argument */
	RT_CALL_WRITES = 1 << 6,  /* to that descriptor */
	RT_CALL_FLUSHES = 1 << 7,
	RT_CALL_OPENS = 1 << 8, /* the result is a new descriptor */
};
#define RT_NO_OBJECT  UINT64_MAX
#define RT_NO_SUBJECT UINT32_MAX
#define RT_NO_CALL    UINT32_MAX

/* Waits of one kind: where, for what, and within which subject. All of them, whatever was active,
 * are in the cell of RT_NO_SUBJECT; and each is in one for every subject with RT_WALL that was
 * active then, with the time since it was. When there is no room for another one, waits go to that
 * of RT_NO_OBJECT at the same place, and are counted in `dropped`. */
struct rt_wait_cell {
	uint64_t pc; /* of the system call, or of the procedure that spins */
	uint64_t object;
	uint32_t subject, call; /* call: its number; RT_NO_CALL: it spins */
	uint64_t count, ticks, bytes;
	/* Of those: that moved less than RT_SMALL bytes, or made less than that permanent, as far
	 * as this thread has written it. */
	uint64_t small_count, small_ticks;
};

static inline uint32_t rt_wait_home(const struct rt_wait_cell *key)
{
	uint64_t hash = (key->pc ^ key->object << 7) * UINT64_C(0x9e3779b97f4a7c15);
	hash ^= hash >> 29 ^ ((uint64_t)key->subject << 32 | key->call);
	return (uint32_t)(hash * UINT64_C(0xbf58476d1ce4e5b9) >> (64 - RT_WAIT_BITS));
}

/* The fixed part of an area; what every hit needs comes first. */
struct rt_area {
	uint64_t sequence;   /* counts changes of the activations; while `busy`, one is going on */
	uint64_t busy;       /* inside the runtime: where its frame is */
	uint64_t nested;     /* run-time address of the sibling */
	uint32_t tid;        /* 0: free */
	uint32_t generation; /* counts its owners */
	uint64_t top;        /* run-time address of the innermost struct rt_shadow */
	uint64_t trip;       /* argument of rt_entry_table.tripped, which takes it */
	uint64_t count;      /* run-time address of its count area; 0: it has none */
	uint64_t callees;    /* run-time address of its struct rt_callee[1 << RT_CALLEE_BITS] */
	/* The thread's own stack, as Sonde finds it: where it began, and how far it may reach down.
	 * Memory from the stack pointer up to stack_high can be read. Both 0: not known; nothing
	 * goes wrong then, but every entry is walked to the root. */
	uint64_t stack_low, stack_high;
	/* Clocks. `clock_page` is the run-time address of the mapped page of a task-clock event of
	 * the thread, 0: not tried yet, 1: not to be had (clock_gettime is used). */
	uint64_t clock_page;
	int64_t clock_offset; /* added to the page's time to be CLOCK_THREAD_CPUTIME_ID */
	/* While the page's lock is clock_lock, the thread's time is
	 * clock_ns + ((ticks - clock_ticks) * clock_mult >> clock_shift). */
	uint64_t clock_ticks, clock_ns, clock_mult;
	uint32_t clock_lock, clock_shift;
	uint32_t current;              /* stack */
	uint32_t activation_free;      /* index + 1 of a free activation; 0: none but fresh ones */
	uint32_t activation_used;      /* high-water mark */
	uint32_t first_path;           /* offset / 8 of the newest path; 0: none */
	uint64_t path_used;            /* bytes of the path space */
	uint64_t hits[RT_PROBE_KINDS]; /* by enum rt_probe_kind: what was done, for the cost */
	/* Waiting: since when (ticks; 0: not), in what (enum rt_wait), begun at which CFA and by
	 * which kind of probe; a system call inside it; and what it amounted to so far. */
	uint64_t wait_since, wait_cfa;
	uint32_t wait_kind, wait_probe;
	uint64_t inner_cfa;
	uint64_t inner_kind;
	uint64_t waited_sync, waited_io, bytes;
	/* The wait's cell, as far as it is known yet; of a system call also its enum rt_call. */
	uint64_t wait_pc, wait_object, wait_bytes;
	uint32_t wait_number, wait_call;
	/* At the last system call that may wait, also inside another wait: where it is, and what of
	 * a thread that waits there others cannot see. */
	uint64_t call_pc, call_sp, call_fp, call_link;
	uint32_t wait_serial; /* counts changes of the wait and of cells: odd while one is going on
			       */
	uint32_t wait_cells;  /* in use */
	/* Numbers of the cells that the last wait of some places took, one after the other. */
	uint16_t wait_recent[RT_WAIT_SETS][RT_WAIT_RECENT];
	uint64_t walks, raw_walks, instance_hits; /* how paths were found */
	uint64_t dropped; /* activations beyond RT_ACTIVATIONS or RT_STACKS, targets, nested hits */
	uint64_t event_id[RT_EVENTS];
	int64_t event_fd[RT_EVENTS]; /* 0: not tried yet, -1: not to be had */
	uint64_t thread_pointer;
	struct rt_stack stacks[RT_STACKS];
	/* What the thread left behind that had the area before: the next one maps its page over
	 * that one, and closes the events. */
	uint64_t left_page, left_id[RT_EVENTS];
	int64_t left_fd[RT_EVENTS];
};

/* Offsets. All parts begin on pages, of whatever size; and constants are shorter so. */
#define RT_ALIGN(n)          (((n) + UINT64_C(65535)) & ~UINT64_C(65535))
#define RT_AFTER(part, size) RT_ALIGN((part) + (size))

/* In an area. */
#define RT_AREA_COUNTERS RT_AFTER(0, sizeof(struct rt_area))
/* By number of the loop. */
#define RT_AREA_TRIPS       RT_AFTER(RT_AREA_COUNTERS, RT_COUNTERS *UINT64_C(8))
#define RT_AREA_TARGETS     RT_AFTER(RT_AREA_TRIPS, RT_LOOPS * sizeof(struct rt_trips))
#define RT_AREA_ACTIVATIONS RT_AFTER(RT_AREA_TARGETS, RT_TARGETS * sizeof(struct rt_target))
/* Direct-mapped by (probe, sp); what is inside is the runtime's own. An odd number of cache lines
 * each, so that they do not compete for the same sets. */
#define RT_AREA_INSTANCES                                                                          \
	RT_AFTER(RT_AREA_ACTIVATIONS, RT_ACTIVATIONS * sizeof(struct rt_activation))
#define RT_INSTANCE_SIZE (64 + RT_INSTANCE_WORDS * UINT64_C(16))
/* Indexed by subject. */
#define RT_AREA_SUBJECTS RT_AFTER(RT_AREA_INSTANCES, RT_INSTANCES *RT_INSTANCE_SIZE)
/* Hash table from a path's hash to its offset / 8. */
#define RT_AREA_PATH_INDEX RT_AFTER(RT_AREA_SUBJECTS, RT_SUBJECTS * sizeof(struct rt_subject_state))
#define RT_AREA_PATHS      RT_AFTER(RT_AREA_PATH_INDEX, RT_PATHS *UINT64_C(4))
/* Of a stack other than the thread's own, before it is recorded. */
#define RT_AREA_SCRATCH RT_AFTER(RT_AREA_PATHS, RT_PATH_BYTES)
/* The runtime's own variables, which the program's stack might have no room for. */
#define RT_AREA_WORK RT_AFTER(RT_AREA_SCRATCH, RT_RAW_STACK)
/* Hash table from a wait cell's key to its number + 1, and the cells in the order in which they
 * came to be. */
#define RT_AREA_WAIT_INDEX RT_AFTER(RT_AREA_WORK, 4096)
#define RT_AREA_WAITS      RT_AFTER(RT_AREA_WAIT_INDEX, UINT64_C(2) << RT_WAIT_BITS)
/* Bytes written to each descriptor since it was opened or flushed. */
#define RT_AREA_WRITTEN RT_AFTER(RT_AREA_WAITS, RT_WAIT_CELLS * sizeof(struct rt_wait_cell))
#define RT_AREA_SIZE    RT_AFTER(RT_AREA_WRITTEN, RT_WAIT_DESCRIPTORS *UINT64_C(8))

/* Groups of system calls that the runtime makes for one purpose: none of a group is made unless all
 * of it may be. probe/confinement.c lists them. */
enum rt_may {
	RT_MAY_OPEN_CLOCK = 1 << 0, /* the page of a perf event that tells the thread's time */
	RT_MAY_ASK_CLOCK = 1 << 1,  /* the kernel for it, where there is no page */
	RT_MAY_EVENTS = 1 << 2,     /* perf events that are read */
	RT_MAY_LOOK = 1 << 3,       /* how far a foreign stack can be read; whether Sonde lives */
	RT_MAY_TELL = 1 << 4,       /* Sonde that images were loaded */
	RT_MAY_NUMBER = 1 << 5,     /* ask for the thread's number */
	RT_MAY_ALL = (1 << 6) - 1,
};

struct rt_header {
	uint64_t magic;
	uint32_t version;
	uint32_t raw_off; /* the runtime found Sonde dead: nobody reads raw paths any more */
	uint64_t base;    /* run-time address of the region in the program */
	uint64_t size;
	uint32_t tracer;     /* pid of sonde */
	uint32_t pid;        /* of the program */
	uint32_t clock_kind; /* 1: perf events may be opened; 0: clock_gettime */
	uint32_t threads;    /* areas in use: an upper bound of their indices */
	uint64_t link_mask;  /* return addresses are meant with these bits only */
	uint64_t epoch; /* counted up when steps change their meaning: walks are not remembered over
			   that */
	uint64_t raw_used; /* bytes; advanced by the runtime atomically, possibly beyond the room */
	uint64_t raw_seen; /* raw records that are complete */
	uint32_t subjects, probes, patches;
	uint32_t event_count;
	struct {
		uint32_t type, pad;
		uint64_t config;
	} events[RT_EVENTS]; /* for perf_event_open() */
	/* Memory in the program, for whoever finds us later: the runtime's text, the table and
	 * the guard, and then what fragments are in. */
	uint32_t code_regions, pad2;
	struct {
		uint64_t start, size;
	} code[RT_CODE_REGIONS];
	/* Code of the program, ascending, for raw paths: what looks like a return address. */
	uint32_t text_ranges, pad3;
	struct {
		uint64_t start, end;
	} text[RT_TEXT_RANGES];
	uint16_t calls[RT_CALLS]; /* sets of enum rt_call */
	uint64_t watch_waits;     /* they go into cells */
	/* Bytes of contexts of all threads: what they have taken, which they do atomically; and
	 * what they may take until paths are merged, and until they are cut. */
	uint64_t context_bytes, context_limit, context_room;
	uint64_t trap_handler; /* SIGTRAP's action is this one, our own; 0: it is the program's */
	/* Which system calls the runtime may make: a set of enum rt_may. Sonde sets it while all
	 * threads are stopped; the runtime clears it before the program confines itself (seccomp),
	 * and counts that in `confined`. `calling` counts the threads that are in such calls. */
	uint32_t may, calling, confined, pad4;
};

/* In the region. */
#define RT_SUBJECT_TABLE RT_AFTER(0, sizeof(struct rt_header))
#define RT_PROBE_TABLE   RT_AFTER(RT_SUBJECT_TABLE, RT_SUBJECTS * sizeof(struct rt_subject))
#define RT_STEP_TABLE    RT_AFTER(RT_PROBE_TABLE, RT_PROBES * sizeof(struct rt_probe))
#define RT_JOURNAL       RT_AFTER(RT_STEP_TABLE, RT_STEPS * sizeof(struct rt_step))
#define RT_TRAP_TABLE    RT_AFTER(RT_JOURNAL, RT_PATCHES * sizeof(struct rt_patch))
#define RT_MADE_TABLE    RT_AFTER(RT_TRAP_TABLE, RT_TRAPS * sizeof(struct rt_trap))
#define RT_COUNTED       RT_AFTER(RT_MADE_TABLE, RT_MADE_OBJECTS * sizeof(struct rt_made))
#define RT_COUNTED_LOOPS RT_AFTER(RT_COUNTED, RT_PROCEDURES * sizeof(struct rt_counted))
#define RT_SITE_TABLE    RT_AFTER(RT_COUNTED_LOOPS, RT_LOOPS * sizeof(struct rt_counted_loop))
/* Contexts: nobody's, to which empty slots lead; and the sink, for who cannot have one, with slots
 * and words for any procedure. */
#define RT_NOBODY RT_AFTER(RT_SITE_TABLE, RT_SITES * sizeof(uint32_t))
#define RT_SINK                                                                                    \
	RT_AFTER(RT_NOBODY + 65536, (RT_COUNTED_SITES_MAX + 1) * sizeof(struct rt_context_slot))
#define RT_RAW RT_AFTER(RT_SINK, sizeof(struct rt_context) + RT_COUNTED_WORDS_MAX * UINT64_C(8))
/* For Sonde's own use. */
#define RT_SPARE     (RT_RAW + RT_RAW_BYTES)
#define RT_AREA_BASE (RT_SPARE + UINT64_C(65536))
#define RT_AREA(i)   (RT_AREA_BASE + (uint64_t)(i)*RT_AREA_SIZE)
/* Of threads that have none, and the sink's. */
#define RT_NO_AREA   RT_AREA(2 * RT_AREAS)
#define RT_SINK_AREA RT_AREA(2 * RT_AREAS + 1)

/* In a count area. The shadow stack comes first: that of area 0, the first thread's, may grow into
 * the gap before it, others have room for RT_STACK_MAX bytes of stack, at 16 bytes a frame at
 * least. */
#define RT_STACK_MAX        (UINT64_C(1) << 30)
#define RT_SHADOW_BYTES     (RT_STACK_MAX / 16 * RT_FRAME_MAX)
#define RT_COUNT_SHADOW     0
#define RT_COUNT_ROOT       (RT_COUNT_SHADOW + RT_SHADOW_BYTES - 64) /* the outermost frame */
#define RT_COUNT_STATE      RT_AFTER(RT_COUNT_SHADOW, RT_SHADOW_BYTES)
#define RT_COUNT_CALLEES    RT_AFTER(RT_COUNT_STATE, sizeof(struct rt_count))
#define RT_COUNT_INDEX      RT_AFTER(RT_COUNT_CALLEES, sizeof(struct rt_callee) << RT_CALLEE_BITS)
#define RT_COUNT_DEPARTURES RT_AFTER(RT_COUNT_INDEX, UINT64_C(8) << RT_INDEX_BITS)
#define RT_COUNT_ASIDES     RT_AFTER(RT_COUNT_DEPARTURES, RT_DEPARTURES * sizeof(struct rt_departure))
#define RT_COUNT_SEEN       RT_AFTER(RT_COUNT_ASIDES, RT_ASIDES * sizeof(struct rt_aside))
#define RT_COUNT_CONTEXTS   RT_AFTER(RT_COUNT_SEEN, UINT64_C(16) << RT_SEEN_BITS)
#define RT_CONTEXT_SPACE    (UINT64_C(1) << 30)
#define RT_COUNT_SIZE       RT_AFTER(RT_COUNT_CONTEXTS, RT_CONTEXT_SPACE)
/* What Sonde maps: the rest it reads and writes as a file. */
#define RT_MAPPED_SIZE   RT_AREA(2 * RT_AREAS + 2)
#define RT_COUNT_GAP     RT_MAPPED_SIZE
#define RT_COUNT_BASE    (RT_COUNT_GAP + (UINT64_C(1) << 40))
#define RT_COUNT_AREA(i) (RT_COUNT_BASE + (uint64_t)(i)*RT_COUNT_SIZE)
/* The frames of who does not count: what RT_NO_AREA's top is, and what the sink's is set to; that
 * one moves with each exit. */
#define RT_NO_FRAME    (RT_COUNT_AREA(RT_AREAS) + RT_COUNT_ROOT)
#define RT_NO_CALLEES  (RT_COUNT_AREA(RT_AREAS) + RT_COUNT_CALLEES)
#define RT_SINK_FRAME  (RT_COUNT_AREA(RT_AREAS) + RT_COUNT_SHADOW)
#define RT_REGION_SIZE RT_COUNT_AREA(RT_AREAS + 1)

/* The thread table: RT_THREADS pairs, see isa/emit.h. Not in the region, but in private memory of
 * the program that fork wipes: a child that nobody prepared has no areas. Thread pointer 0, before
 * the program has set one up, is never in it, and its key is not that of a free entry. */
struct rt_thread {
	uint64_t key;  /* rt_thread_key(); 0: free; RT_THREAD_*: no thread's */
	uint64_t area; /* run-time address */
};
enum {
	RT_THREAD_CLAIMED = 1, /* the runtime is about to write it */
	RT_THREAD_REMOVED = 2, /* free, but others may follow */
};
static inline uint64_t rt_thread_key(uint64_t thread_pointer)
{
	return ~thread_pointer;
}
#define RT_TABLE_SIZE RT_ALIGN(RT_THREADS * sizeof(struct rt_thread))

/* The runtime's text starts with this table of offsets from its first byte, so that nobody needs
 * its symbols. Position independent; the addresses are patched by Sonde before the text is written
 * to the program. */
struct rt_entry_table {
	uint64_t region; /* run-time address of the header */
	/* Run-time address of a private word of the program, on a page that fork wipes
	 * (MADV_WIPEONFORK), holding RT_GUARD. While it does not, hits do nothing: this is a child
	 * that nobody prepared, because Sonde is dead; it has its parent's region, but neither its
	 * threads nor its clock pages. 0: there is no such word; then no clock pages are used. */
	uint64_t guard;
	uint64_t table;    /* run-time address of the thread table, a multiple of its size */
	uint32_t hit;      /* the `routine` of isa/emit.h: argument is a struct rt_probe */
	uint32_t find;     /* the `find` of isa/emit.h */
	uint32_t remote;   /* code for remote calls: process/remote.h */
	uint32_t trap;     /* handler of SIGTRAP (SA_SIGINFO), for traps when Sonde is gone */
	uint32_t restorer; /* its return */
	/* Counting. The argument is a procedure's number; the result a context, or the sink. */
	uint32_t called;   /* at its first instruction */
	uint32_t returned; /* behind a call; with site << 32 */
	uint32_t landed;   /* where an exception arrives; with (loop + 1) << 32: the innermost loop
			      there that is counted in the frame, 0 << 32: there is none */
	/* The argument is a loop's number, and rt_area.trip a trip count: it goes into the
	 * histogram. */
	uint32_t tripped;
	uint32_t pad;
};
#define RT_GUARD 1
