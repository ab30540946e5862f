/* The interface between the runtime (the code that probes call inside the program) and Sonde: the
 * data region.
 *
 * The region is one memfd that both map. Sonde prepares everything: tables, probes, subjects, one
 * area per thread. The runtime only fills areas in. The region is sparse: pages that nobody touches
 * take no memory.
 *
 *	struct rt_header
 *	subjects       what is measured: functions and loops
 *	probes         arguments of calls into the runtime
 *	steps          hash table: return address -> how to get to the caller's caller
 *	journal        the patches that are in, so that a later sonde can take them out
 *	traps          hash table: address of a trap -> the code that it leads to
 *	made           hash table: address of a synchronisation object -> where it was initialised
 *	counted        functions and loops that are counted; contexts that belong to no thread
 *	raw            paths that the runtime could not walk: registers and a copy of the stack
 *	areas          one per thread, RT_AREA_SIZE each; area i + RT_AREAS is its sibling for
 *	               probes that a signal handler hits while it interrupts a probe; the last two
 *	               belong to no thread: counts of threads without an area and of activations
 *	               without a context go there, and nobody reads them
 *	count areas    one per thread, RT_COUNT_SIZE each: abi_count.h
 *
 * Either side may be interrupted or die at any instant, so each write follows one of these rules:
 * - An entry of a table is written before the word that makes it visible (its key, or the number of
 *   entries).
 * - An area is written by its own thread only. The thread marks it `busy` during a change and
 *   increments `sequence` with each change. A reader that finds the area free, and the same
 *   sequence number before and after, has read a consistent state.
 * - Counts of calls, hits and counters are single words, and readers may read them at any time.
 *
 * After Sonde's death, a forked child still shares the region with its parent. The child's probes
 * do nothing (see `guard`), and its counters go to an area that belongs to no thread (see `table`).
 * But if it forked inside a probe, it uses its parent's area until it has left that probe. So
 * nothing that the runtime reads here may lead it out of the region or into an endless loop.
 *
 * Freestanding code includes this header: it has fixed-size types only, and offsets instead of
 * pointers where both sides read. `base` in the header is the region's address in the program. */
#pragma once
#include <stdint.h>

#include "runtime/abi_count.h"

#define RT_MAGIC   UINT64_C(0x73646e6f65627270)
#define RT_VERSION 7
#define RT_NAME    "sonde" /* of the memfd */

/* 2^64 divided by the golden ratio: the factor of all multiplicative hashes. */
#define RT_HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

enum {
	RT_TABLE_BITS = 12,
	RT_THREADS = 1 << RT_TABLE_BITS,
	RT_THREAD_SHIFT = 12, /* from a thread pointer to its home in the table: see isa/emit.h */
	RT_SUBJECTS = 1 << 20,
	RT_PROBES = 1 << 21,
	RT_STEP_BITS = 20,
	RT_STEPS = 1 << RT_STEP_BITS,
	RT_STEP_CHAIN = 64, /* longest probe sequence: no key is further from its home */
	RT_PATCHES = 1 << 21,
	RT_TRAP_BITS = 17,
	RT_TRAPS = 1 << RT_TRAP_BITS,
	RT_MADE_BITS = 16,
	RT_MADE_OBJECTS = 1 << RT_MADE_BITS,
	RT_MADE_CHAIN = 16, /* longest probe sequence */
	RT_RAW_BYTES = 64 << 20,
	RT_AREAS = 512, /* threads that can be measured at one time */
	RT_COUNTERS = 1 << 20,
	RT_ACTIVATIONS = 1 << 17, /* running activations of one thread */
	RT_STACKS = 64,           /* stacks of one thread that have activations on them */
	RT_INSTANCES = 1 << 9,    /* cached walks of a thread */
	RT_INSTANCE_WORDS = 512,  /* stack words that one cached walk may depend on */
	RT_PATH_BITS = 18,
	RT_PATHS = 1 << RT_PATH_BITS,
	RT_PATH_BYTES = 32 << 20,
	RT_RAW_STACK = 64 << 10,  /* bytes of a stack that are copied at most */
	RT_RAW_FOREIGN = 8 << 10, /* the same for a stack other than the thread's own, which is read
				     page by page */
	RT_WALK_FRAMES = 512,     /* longest path that ends at no anchor: the rest is cut off. Where
				     anchors lead deeper, recursion is folded */
	RT_FOLD_PARENTS = 64,     /* parents that are searched to fold recursion */
	RT_TARGETS = 1 << 12,
	RT_CODE_REGIONS = 256,
	RT_FIRST_FRAGMENTS = 2, /* first entry of rt_header.code with memory of fragments */
	RT_TEXT_RANGES = 64,
	RT_EVENTS = 4, /* perf events measured at one time */
	RT_CALLS = 512,
	RT_WAIT_BITS = 14,
	RT_WAIT_CELLS = 1 << 13,   /* wait cells of one thread */
	RT_WAIT_OBJECTS = 3 << 11, /* the rest are for RT_NO_OBJECT */
	RT_WAIT_CHAIN = 32,        /* longest probe sequence in the index of cells */
	RT_WAIT_SETS = 16,
	RT_WAIT_RECENT = 4,
	RT_WAIT_DESCRIPTORS = 1 << 10, /* bytes written to lower ones are tracked */
	RT_SMALL = 4096,               /* bytes: an I/O operation that moves less is small */
};

/* What is measured of a subject: used as a set, and as the index of `total` and `self`. */
enum rt_metric {
	RT_WALL,  /* ticks of the architecture's counter */
	RT_CPU,   /* ns of CLOCK_THREAD_CPUTIME_ID */
	RT_SYNC,  /* ticks blocked on synchronisation */
	RT_IO,    /* ticks in blocking system calls */
	RT_BYTES, /* bytes moved by read, write and similar calls */
	RT_EVENT, /* to RT_EVENT + RT_EVENTS - 1: perf events */
	RT_METRICS = RT_EVENT + RT_EVENTS,
};

/* How to get from a frame to its caller's frame, packed in 64 bits:
 *	bits 0-3   enum rt_step_kind
 *	bits 4-27  CFA minus its base register, in units of 8 bytes, signed
 *	bits 28-43 CFA minus the address of the return address, in units of 8, unsigned
 *	bits 44-59 CFA minus the address of the caller's frame pointer, in units of 8; 0: the
 *	           register still holds it
 *	bit  60    the return address is in the link register (only innermost frames, and those
 *	           that a signal interrupted)
 *	bit  61    nothing called this code: a thread or process begins here
 */
enum rt_step_kind {
	RT_STEP_NONE,   /* unknown: the path has to be recorded raw */
	RT_STEP_SP,     /* CFA = sp + offset */
	RT_STEP_FP,     /* CFA = fp + offset */
	RT_STEP_SIGNAL, /* code that signal handlers return to: the kernel saved the interrupted
			   registers from sp upwards; the step has no other fields */
};
enum {
	RT_STEP_KIND_MASK = 15,
	RT_STEP_CFA_BIT = 4, /* lowest bits of the fields */
	RT_STEP_LINK_BIT = 28,
	RT_STEP_FP_BIT = 44,
	RT_STEP_BELOW_MAX = 0xffff, /* of the two unsigned fields */
};
#define RT_STEP_IN_LINK (UINT64_C(1) << 60)
#define RT_STEP_ROOT    (UINT64_C(1) << 61)

/* Set in the key of a step that begins at exactly this instruction, because a signal interrupted
 * the thread there. Other steps begin at the call before a return address. */
#define RT_STEP_EXACT (UINT64_C(1) << 63)

struct rt_step {
	uint64_t pc; /* return address, without authentication bits, or RT_STEP_EXACT and any
			address; 0: free. Linear probing from rt_step_home() */
	uint64_t step;
};

static inline uint32_t rt_step_home(uint64_t pc)
{
	return (uint32_t)((pc * RT_HASH_FACTOR) >> (64 - RT_STEP_BITS));
}

/* What is measured: a function or a loop, whose activations begin and end. */
struct rt_subject {
	uint64_t start, end; /* run-time addresses of the function's main part */
	uint32_t metrics;    /* set of 1 << enum rt_metric */
	uint32_t flags;      /* enum rt_subject_flag */
	uint32_t active;     /* 0: removed; its probes do nothing */
	/* The number of activations that may still begin. The last one makes the subject inactive.
	 * 0: no limit. */
	uint32_t budget;
};

enum rt_subject_flag {
	RT_PATH = 1 << 0,       /* values are kept per call path, otherwise one path for all */
	RT_LOOP = 1 << 1,       /* a loop: several may be active in one frame */
	RT_COUNT_ONLY = 1 << 2, /* calls only: there are no RT_EXIT probes, and no activations */
};

enum rt_probe_kind {
	RT_ENTER,
	RT_EXIT,
	RT_BLOCK,      /* before a system call that may wait, or before the call of pinned code that
			  makes it */
	RT_BLOCK_DONE, /* after it */
	RT_WAIT,       /* entry of a function that spins; counts as synchronisation */
	RT_WAIT_DONE,
	RT_TARGET, /* before an indirect call: counts pairs (site, target) */
	/* At a landing pad that exceptions from several places share. If the loop is active in this
	 * frame, the exception came out of it: RT_ITERATED counts the end of the iteration, RT_LEFT
	 * counts the exit and ends the activation. */
	RT_ITERATED,
	RT_LEFT,
	RT_MADE,       /* entry of a function that initialises a synchronisation object, its first
			  argument */
	RT_RENDEZVOUS, /* signals Sonde, which stops the thread here */
	RT_PROBE_KINDS,
};

/* RT_RENDEZVOUS sends SIGURG with this value, and the probe's `constant` in the lower half: see
 * process/control.h. */
#define RT_SIGNAL_MAGIC UINT64_C(0x736f6e6400000000)

struct rt_probe {
	uint32_t kind;
	uint32_t subject;
	uint64_t pc;   /* run-time address of the spot */
	uint64_t step; /* from here to the caller; RT_STEP_NONE: unknown */
	/* RT_TARGET: the call's target is constant + base + (index << shift), or the word in memory
	 * there if `memory` is set. RT_RENDEZVOUS: the constant is sent with the signal.
	 * RT_ITERATED, RT_LEFT: offset of a counter in the area. RT_WAIT: not 0 if the first
	 * argument is the object that is waited for. RT_BLOCK: not 0 if pinned code makes the
	 * system call (patch/pinned.h). */
	uint64_t constant;
	uint8_t base, index; /* registers, or RT_NO_REGISTER */
	uint8_t shift, memory;
	uint32_t unless_active; /* RT_ENTER: begins nothing if the subject is active in this
				   frame */
};
enum { RT_NO_REGISTER = 0xff };

struct rt_patch {
	uint64_t pc;     /* 0: free */
	uint64_t island; /* where a thread at `pc` continues, if `pc` holds no code of the program
			    without the patch */
	uint8_t size, pad[7];
	uint8_t original[16], bytes[16];
};

/* Where a thread continues after a trap. Sonde moves the thread there; if Sonde is dead, the
 * handler of SIGTRAP does. */
struct rt_trap {
	uint64_t pc; /* address of the patch; 0: free. Linear probing from rt_trap_home() */
	uint64_t to; /* run-time address in the fragment; 0: removed, but others may follow in the
			table */
};

static inline uint32_t rt_trap_home(uint64_t pc)
{
	return (uint32_t)((pc * RT_HASH_FACTOR) >> (64 - RT_TRAP_BITS));
}

/* Where the trap at pc leads; 0: there is no trap. */
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

/* An object that threads wait for, and where it was last initialised. All threads share the table.
 * They claim free entries atomically; an entry then belongs to its object for ever, and only `pc`
 * changes. Objects that do not fit are not recorded. */
struct rt_made {
	uint64_t object; /* address of the object; 0: free. Linear probing from rt_made_home() */
	uint64_t pc;     /* return address of the initialising call; 0: unknown */
};

static inline uint32_t rt_made_home(uint64_t object)
{
	return (uint32_t)((object * RT_HASH_FACTOR) >> (64 - RT_MADE_BITS));
}

/* A path that could not be walked. The records follow each other in the raw space. */
struct rt_raw {
	uint32_t size; /* of the whole record, a multiple of 16; written last */
	uint32_t subject;
	uint64_t pc, sp, fp, link; /* at the probe */
	uint64_t hash;             /* of the words that looked like code addresses */
	uint32_t stack_size;       /* bytes copied from sp upwards, after this struct */
	uint32_t pad;
};

/* In rt_path.raw: the path is unknown, because there was no room to record it. */
#define RT_RAW_UNKNOWN UINT64_MAX

/* All values of one path of one thread. Variable size, in the area's path space. A subject without
 * RT_PATH has at most two paths, without frames: one for outermost activations, and one with
 * `recursive` set for activations inside another one of the subject. The same callers may appear as
 * several paths: with and without a parent, raw and walked. */
struct rt_path {
	uint64_t hash;
	uint32_t next; /* offset of the next path of the thread, in units of 8; 0: none */
	uint32_t subject;
	uint32_t parent; /* path of the anchor (offset / 8), which has the outer frames; 0: none */
	uint32_t frame_count;
	uint64_t raw; /* not 0: the path has no frames, but an rt_raw record at this offset in the
			 region, or is RT_RAW_UNKNOWN */
	uint16_t recursive; /* the subject is active further out on this path, so that another path
			       includes its inclusive values already */
	uint16_t complete;  /* the last frame, or the last parent's, is the start of the thread */
	uint32_t depth;     /* number of frames, including those of all parents */
	uint64_t live;      /* running activations */
	uint64_t adopted;   /* running when the probe went in: not in `calls` */
	uint64_t calls;     /* activations that began */
	uint64_t total[RT_METRICS]; /* inclusive values of activations that have ended */
	uint64_t self[RT_METRICS];  /* the same, less the activations of any subject below */
	uint64_t frames[];          /* return addresses, innermost first */
};

/* quick.h writes an activation at entry and reads it at exit, often right afterwards. Members that
 * are read together as one eight-byte pair have to be written together as well: otherwise the CPU
 * cannot forward the stores to the loads, and stalls. */
struct rt_activation {
	uint64_t cfa; /* 0: free */
	uint32_t subject;
	uint32_t quick;     /* its metrics can be read without system calls */
	uint32_t path;      /* offset / 8 */
	uint32_t next;      /* index + 1 of the next outer activation, or of the next free one */
	uint32_t metrics;   /* set of valid members of `start` */
	uint32_t below_set; /* set of valid members of `below`; the others count as 0 */
	uint64_t start[RT_METRICS]; /* readings when it began */
	uint64_t below[RT_METRICS]; /* inclusive values of the activations directly below it that
				       have ended */
};

/* One of the thread's stacks. Its activations are a linked list from the innermost outwards. Stack
 * 0 is the thread's own (stack_low < CFA <= stack_high). The others are identified by `root`. */
struct rt_stack {
	uint64_t root; /* CFA of its outermost frame, as far as it could be walked */
	uint32_t top;  /* index + 1 of the innermost activation; 0: none, and another root may use
			  the entry */
	uint32_t pad;
};

/* The paths of a subject in a thread that have no frames, as offsets / 8. */
struct rt_subject_state {
	uint32_t path, recursive; /* without RT_PATH */
	uint32_t unknown;         /* path of activations that had no room for one of their own */
	uint32_t waited; /* rt_area.wait_serial of the last wait that was added to its cells */
};

struct rt_target {
	uint64_t site, target; /* site 0: free */
	uint64_t count;
};

/* What a wait counts as. RT_WAIT_BYTES is I/O whose result is the number of bytes moved. */
enum rt_wait { RT_WAIT_NONE, RT_WAIT_SYNC, RT_WAIT_IO, RT_WAIT_BYTES };

/* What is known about a system call: an enum rt_wait and flags. */
enum rt_call {
	RT_CALL_CLASS = 3,
	RT_CALL_FUTEX = 1 << 2,   /* only some of its operations block */
	RT_CALL_ADDRESS = 1 << 3, /* its first argument is the address of the object it waits for */
	RT_CALL_NUMBER = 1 << 4,  /* its first argument is the descriptor or process it waits for */
	RT_CALL_SECOND = 1 << 5,  /* it is the second argument instead */
	RT_CALL_WRITES = 1 << 6,  /* it writes to that descriptor */
	RT_CALL_FLUSHES = 1 << 7,
	RT_CALL_OPENS = 1 << 8, /* the result is a new descriptor */
};
#define RT_NO_OBJECT  UINT64_MAX
#define RT_NO_SUBJECT UINT32_MAX
#define RT_NO_CALL    UINT32_MAX

/* Waits with the same place, object and subject. Every wait is in a cell of RT_NO_SUBJECT. It is
 * also in a cell of each subject with RT_WALL that is active when the wait ends; that cell gets the
 * time since the wait or the activation began, whichever is later. When there is no room for a new
 * cell, the wait goes to the cell of RT_NO_OBJECT with the same place and subject, and is counted
 * in `dropped`. */
struct rt_wait_cell {
	uint64_t pc; /* of the system call, or of the function that spins */
	uint64_t object;
	uint32_t subject, call; /* call: number of the system call; RT_NO_CALL: it spins */
	uint64_t count, ticks, bytes;
	/* The part of these waits that moved less than RT_SMALL bytes, or flushed less. (Only bytes
	 * that this thread wrote count as flushed.) */
	uint64_t small_count, small_ticks;
};

static inline uint32_t rt_wait_home(const struct rt_wait_cell *key)
{
	uint64_t hash = (key->pc ^ key->object << 7) * RT_HASH_FACTOR;
	hash ^= hash >> 29 ^ ((uint64_t)key->subject << 32 | key->call);
	return (uint32_t)(hash * UINT64_C(0xbf58476d1ce4e5b9) >> (64 - RT_WAIT_BITS));
}

/* A value of rt_area.clock_page: no page has this address. */
enum { RT_CLOCK_UNAVAILABLE = 1 };

/* The fixed part of an area. What every hit needs comes first. */
struct rt_area {
	uint64_t sequence; /* incremented with each change of the activations; while `busy`, a
			      change may be in progress */
	uint64_t busy;    /* address of the runtime's frame while the thread is inside it; else 0 */
	uint64_t nested;  /* run-time address of the sibling */
	uint32_t tid;     /* 0: free */
	uint64_t top;     /* run-time address of the innermost struct rt_shadow */
	uint64_t trip;    /* argument of rt_entry_table.tripped, which resets it */
	uint64_t count;   /* run-time address of its count area; 0: it has none */
	uint64_t callees; /* run-time address of its struct rt_callee[1 << RT_CALLEE_BITS] */
	/* The thread's own stack, as Sonde finds it: its start, and how far down it may grow.
	 * Memory from the stack pointer up to stack_high can be read. Both 0: unknown; values are
	 * still right, but every entry is walked to the root. */
	uint64_t stack_low, stack_high;
	/* Clocks. `clock_page` is the run-time address of the mapped page of the thread's
	 * task-clock event. 0: not tried yet. RT_CLOCK_UNAVAILABLE: clock_gettime is used. */
	uint64_t clock_page;
	int64_t clock_offset; /* added to the page's time to get CLOCK_THREAD_CPUTIME_ID */
	/* While the page's lock is clock_lock, the thread's CPU time is clock_ns + ((ticks -
	 * clock_ticks) * clock_mult >> clock_shift). */
	uint64_t clock_ticks, clock_ns, clock_mult;
	uint32_t clock_lock, clock_shift;
	uint32_t activation_free; /* index + 1 of a free one; 0: none below `activation_used` */
	uint32_t activation_used; /* high-water mark */
	uint32_t first_path;      /* offset / 8 of the newest path; 0: none */
	uint64_t path_used;       /* bytes of the path space */
	uint64_t hits[RT_PROBE_KINDS]; /* executed hits by enum rt_probe_kind, to estimate the
					  overhead */
	/* The wait in progress: since when (ticks; 0: none), its enum rt_wait, the CFA and the kind
	 * of the probe that began it; a system call inside it; and the totals of all waits so
	 * far. */
	uint64_t wait_since, wait_cfa;
	uint32_t wait_kind, wait_probe;
	uint64_t inner_cfa;
	uint64_t inner_kind;
	uint64_t waited_sync, waited_io, bytes;
	/* The key of the wait's cell, as far as it is known; for a system call also its enum
	 * rt_call. */
	uint64_t wait_pc, wait_object, wait_bytes;
	uint32_t wait_number, wait_call;
	/* The last system call that may block, even if it is inside another wait: its address, and
	 * the registers of the thread there. While a thread waits in the kernel, Sonde cannot read
	 * them otherwise. */
	uint64_t call_pc, call_sp, call_fp, call_link;
	uint32_t wait_serial; /* incremented before and after each change of the wait or the cells:
				 odd during a change */
	uint32_t wait_cells;  /* number in use */
	/* A cache of cells, in RT_WAIT_SETS sets by place and object: the first RT_WAIT_RECENT
	 * cells that the last wait went into. */
	uint16_t wait_recent[RT_WAIT_SETS][RT_WAIT_RECENT];
	uint64_t walks, raw_walks, instance_hits; /* statistics: how paths were found */
	uint64_t dropped; /* what had no room: activations beyond RT_ACTIVATIONS or RT_STACKS,
			     targets, nested hits */
	uint64_t event_id[RT_EVENTS];
	int64_t event_fd[RT_EVENTS]; /* 0: not tried yet; -1: unavailable */
	uint64_t thread_pointer;
	struct rt_stack stacks[RT_STACKS];
	/* The clock page and events of the previous owner of the area. The next owner maps its own
	 * page over that page, and closes the events. */
	uint64_t left_page, left_id[RT_EVENTS];
	int64_t left_fd[RT_EVENTS];
};

/* Offsets. Every part starts at a multiple of 64 KiB, which is a page boundary for every page size.
 * Such constants also take fewer instructions to load. */
#define RT_ALIGN(n)          (((n) + UINT64_C(65535)) & ~UINT64_C(65535))
#define RT_AFTER(part, size) RT_ALIGN((part) + (size))

/* In an area: */
#define RT_AREA_COUNTERS RT_AFTER(0, sizeof(struct rt_area))
/* Indexed by the number of the loop. */
#define RT_AREA_TRIPS       RT_AFTER(RT_AREA_COUNTERS, RT_COUNTERS *UINT64_C(8))
#define RT_AREA_TARGETS     RT_AFTER(RT_AREA_TRIPS, RT_LOOPS * sizeof(struct rt_trips))
#define RT_AREA_ACTIVATIONS RT_AFTER(RT_AREA_TARGETS, RT_TARGETS * sizeof(struct rt_target))
/* A direct-mapped cache by (probe, sp), private to the runtime. Each entry has an odd number of
 * cache lines, so that entries do not compete for the same cache sets. */
#define RT_AREA_INSTANCES                                                                          \
	RT_AFTER(RT_AREA_ACTIVATIONS, RT_ACTIVATIONS * sizeof(struct rt_activation))
#define RT_INSTANCE_SIZE (64 + RT_INSTANCE_WORDS * UINT64_C(16))
/* Indexed by subject. */
#define RT_AREA_SUBJECTS RT_AFTER(RT_AREA_INSTANCES, RT_INSTANCES *RT_INSTANCE_SIZE)
/* Hash table from a path's hash to its offset / 8. */
#define RT_AREA_PATH_INDEX RT_AFTER(RT_AREA_SUBJECTS, RT_SUBJECTS * sizeof(struct rt_subject_state))
#define RT_AREA_PATHS      RT_AFTER(RT_AREA_PATH_INDEX, RT_PATHS *UINT64_C(4))
/* A copy of a stack other than the thread's own, before it is recorded. */
#define RT_AREA_SCRATCH RT_AFTER(RT_AREA_PATHS, RT_PATH_BYTES)
/* The runtime's own variables, which might not fit on the program's stack. */
#define RT_AREA_WORK RT_AFTER(RT_AREA_SCRATCH, RT_RAW_STACK)
/* Hash table from a wait cell's key to its number + 1, and the cells in the order of their
 * creation. */
#define RT_AREA_WAIT_INDEX RT_AFTER(RT_AREA_WORK, 4096)
#define RT_AREA_WAITS      RT_AFTER(RT_AREA_WAIT_INDEX, UINT64_C(2) << RT_WAIT_BITS)
/* Bytes written to each descriptor since it was opened or flushed. */
#define RT_AREA_WRITTEN RT_AFTER(RT_AREA_WAITS, RT_WAIT_CELLS * sizeof(struct rt_wait_cell))
#define RT_AREA_SIZE    RT_AFTER(RT_AREA_WRITTEN, RT_WAIT_DESCRIPTORS *UINT64_C(8))

/* Groups of system calls that the runtime makes for one purpose. It makes a call of a group only if
 * all calls of the group are permitted. probe/region/confinement.c lists them. */
enum rt_may {
	RT_MAY_OPEN_CLOCK = 1 << 0, /* open the page of a perf event with the thread's CPU time */
	RT_MAY_ASK_CLOCK = 1 << 1,  /* ask the kernel for it, where there is no page */
	RT_MAY_EVENTS = 1 << 2,     /* open and read perf events */
	RT_MAY_INSPECT = 1 << 3,    /* look how far another stack is readable, and whether Sonde is
				    alive */
	RT_MAY_SIGNAL = 1 << 4,     /* signal Sonde that modules were loaded */
	RT_MAY_GETTID = 1 << 5,     /* ask for the thread's tid */
	RT_MAY_ALL = (1 << 6) - 1,
};

struct rt_header {
	uint64_t magic;
	uint32_t version;
	uint32_t raw_off; /* the runtime found Sonde dead: nobody reads raw paths */
	uint64_t base;    /* run-time address of the region in the program */
	uint64_t size;
	uint32_t tracer;     /* pid of sonde */
	uint32_t pid;        /* of the program */
	uint32_t clock_kind; /* 1: perf events may be opened; 0: clock_gettime */
	uint32_t threads;    /* upper bound of the indices of areas in use */
	uint64_t link_mask;  /* mask of the address bits of a return address; 0: all bits */
	uint64_t epoch;    /* incremented when steps change their meaning, which invalidates cached
			      walks */
	uint64_t raw_used; /* bytes; the runtime adds to it atomically, possibly beyond the room */
	uint64_t raw_seen; /* number of complete raw records */
	uint32_t subjects, probes, patches;
	uint32_t event_count;
	struct {
		uint32_t type, pad;
		uint64_t config;
	} events[RT_EVENTS]; /* for perf_event_open() */
	/* Memory of ours in the program, for a sonde that attaches later: first the runtime's text,
	 * then the table and the guard, then (from RT_FIRST_FRAGMENTS on) the memory of
	 * fragments. */
	uint32_t code_regions, pad2;
	struct {
		uint64_t start, size;
	} code[RT_CODE_REGIONS];
	/* Code of the program, ascending: a word in one of these ranges may be a return address. */
	uint32_t text_ranges, pad3;
	struct {
		uint64_t start, end;
	} text[RT_TEXT_RANGES];
	uint16_t calls[RT_CALLS]; /* sets of enum rt_call */
	uint64_t watch_waits;     /* not 0: waits go into cells */
	/* Memory of the contexts of all threads, in bytes: the amount that they have taken, updated
	 * atomically; the limit above which paths are merged; and the limit above which they are
	 * cut. */
	uint64_t context_bytes, context_limit, context_room;
	uint64_t trap_handler; /* our handler, which is the action of SIGTRAP; 0: the action is the
				  program's */
	/* Which system calls the runtime may make: a set of enum rt_may. Sonde sets it while all
	 * threads are stopped. The runtime clears it before the program installs a seccomp filter,
	 * and increments `confined`. `calling` is the number of threads that are making such
	 * calls. */
	uint32_t may, calling, confined, pad4;
};

/* In the region: */
#define RT_SUBJECT_TABLE RT_AFTER(0, sizeof(struct rt_header))
#define RT_PROBE_TABLE   RT_AFTER(RT_SUBJECT_TABLE, RT_SUBJECTS * sizeof(struct rt_subject))
#define RT_STEP_TABLE    RT_AFTER(RT_PROBE_TABLE, RT_PROBES * sizeof(struct rt_probe))
#define RT_JOURNAL       RT_AFTER(RT_STEP_TABLE, RT_STEPS * sizeof(struct rt_step))
#define RT_TRAP_TABLE    RT_AFTER(RT_JOURNAL, RT_PATCHES * sizeof(struct rt_patch))
#define RT_MADE_TABLE    RT_AFTER(RT_TRAP_TABLE, RT_TRAPS * sizeof(struct rt_trap))
#define RT_COUNTED       RT_AFTER(RT_MADE_TABLE, RT_MADE_OBJECTS * sizeof(struct rt_made))
#define RT_COUNTED_LOOPS RT_AFTER(RT_COUNTED, RT_FUNCTIONS * sizeof(struct rt_counted))
#define RT_SITE_TABLE    RT_AFTER(RT_COUNTED_LOOPS, RT_LOOPS * sizeof(struct rt_counted_loop))
/* Two contexts that belong to no thread. RT_NOBODY is what empty slots lead to. RT_SINK is used by
 * activations that cannot have a context; it has slots and words for any function. */
#define RT_NOBODY RT_AFTER(RT_SITE_TABLE, RT_SITES * sizeof(uint32_t))
#define RT_SINK                                                                                    \
	RT_AFTER(RT_NOBODY + 65536, (RT_COUNTED_SITES_MAX + 1) * sizeof(struct rt_context_slot))
#define RT_RAW RT_AFTER(RT_SINK, sizeof(struct rt_context) + RT_COUNTED_WORDS_MAX * UINT64_C(8))
/* For Sonde's own use. */
#define RT_SPARE     (RT_RAW + RT_RAW_BYTES)
#define RT_AREA_BASE (RT_SPARE + UINT64_C(65536))
#define RT_AREA(i)   (RT_AREA_BASE + (uint64_t)(i)*RT_AREA_SIZE)
/* The area of threads that have none, and the sink's. */
#define RT_NO_AREA   RT_AREA(2 * RT_AREAS)
#define RT_SINK_AREA RT_AREA(2 * RT_AREAS + 1)

/* In a count area. The shadow stack comes first. That of area 0, the first thread's, may grow into
 * the gap below it. The others have room for a stack of RT_STACK_MAX bytes with frames of at least
 * 16 bytes. */
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
/* The part that Sonde maps. It reads and writes the rest as a file. */
#define RT_MAPPED_SIZE   RT_AREA(2 * RT_AREAS + 2)
#define RT_COUNT_GAP     RT_MAPPED_SIZE
#define RT_COUNT_BASE    (RT_COUNT_GAP + (UINT64_C(1) << 40))
#define RT_COUNT_AREA(i) (RT_COUNT_BASE + (uint64_t)(i)*RT_COUNT_SIZE)
/* Shadow frames for code that does not count: the top of RT_NO_AREA, and the value to which the
 * sink's top is reset, because each exit moves it. */
#define RT_NO_FRAME    (RT_COUNT_AREA(RT_AREAS) + RT_COUNT_ROOT)
#define RT_NO_CALLEES  (RT_COUNT_AREA(RT_AREAS) + RT_COUNT_CALLEES)
#define RT_SINK_FRAME  (RT_COUNT_AREA(RT_AREAS) + RT_COUNT_SHADOW)
#define RT_REGION_SIZE RT_COUNT_AREA(RT_AREAS + 1)

/* The thread table: RT_THREADS pairs, see isa/emit.h. It is not in the region, but in private
 * memory of the program that fork wipes: a child that Sonde did not prepare has no areas. Thread
 * pointer 0 (the program has not set one up yet) is never in it, and its key differs from that of a
 * free entry. */
struct rt_thread {
	uint64_t key;  /* rt_thread_key(); 0: free; or RT_THREAD_*: the entry has no thread */
	uint64_t area; /* run-time address */
};
enum {
	RT_THREAD_CLAIMED = 1, /* the runtime is about to write it */
	RT_THREAD_REMOVED = 2, /* free, but entries of the same probe sequence may follow */
};
static inline uint64_t rt_thread_key(uint64_t thread_pointer)
{
	return ~thread_pointer;
}
#define RT_TABLE_SIZE RT_ALIGN(RT_THREADS * sizeof(struct rt_thread))

/* The runtime's text starts with this table of offsets from its first byte, so that nobody needs
 * its symbols. The text is position independent; Sonde patches the addresses before it writes the
 * text into the program. */
struct rt_entry_table {
	uint64_t region; /* run-time address of the header */
	/* Run-time address of a private word of the program that holds RT_GUARD, on a page that
	 * fork wipes (MADV_WIPEONFORK). Hits do nothing while the word has another value: then the
	 * process is a child that nobody prepared because Sonde is dead. It has its parent's
	 * region, but neither the parent's threads nor its clock pages. 0: there is no such word,
	 * and clock pages are not used. */
	uint64_t guard;
	uint64_t table;    /* run-time address of the thread table, a multiple of its size */
	uint32_t hit;      /* the `routine` of isa/emit.h: argument is a struct rt_probe */
	uint32_t find;     /* the `find` of isa/emit.h */
	uint32_t remote;   /* code for remote calls: process/remote.h */
	uint32_t trap;     /* handler of SIGTRAP (SA_SIGINFO), for traps when Sonde is gone */
	uint32_t restorer; /* its return */
	/* Counting. The argument is the number of a function; the result is a context, or the
	 * sink. */
	uint32_t called;   /* at the function's first instruction */
	uint32_t returned; /* after a call; with site << 32 */
	uint32_t landed;   /* at a landing pad; with (loop + 1) << 32 for the innermost loop there
			      that is counted in the frame, or 0 << 32 if there is none */
	/* The argument is the number of a loop, and rt_area.trip a trip count, which is added to
	 * the histogram. */
	uint32_t tripped;
	uint32_t pad;
};
#define RT_GUARD 1
