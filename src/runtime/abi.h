/* What the runtime (the code that probes call inside the program) and Sonde share: the data region.
 *
 * It is one memfd, mapped by both. Sonde prepares everything: tables, probes, subjects, one area
 *per thread. The runtime only fills areas in. All of it is sparse: what is not touched takes no
 *memory.
 *
 *	struct rt_header
 *	thread table   pairs (thread pointer, area), RT_THREADS of them, see isa/emit.h
 *	subjects       what is measured: procedures and loops
 *	probes         arguments of calls into the runtime
 *	steps          hash table: return address -> how to get to the caller's caller
 *	journal        the patches that are in, so that a later sonde can take them out
 *	raw            paths that the runtime could not walk: registers and a copy of the stack
 *	areas          one per thread, RT_AREA_SIZE each; area i + RT_AREAS is its sibling for
 *	               probes that a signal handler hits while it interrupts a probe
 *
 * Who writes what, and in which order, so that either side may be interrupted or die at any
 *instant: a table's entry is written before the word that makes it visible (its key, its count); an
 *area is written by its thread alone, its `sequence` being odd meanwhile: a reader that sees the
 *same even number before and after has read a consistent state.
 *
 * Included by freestanding code: only fixed-size types, offsets instead of pointers where both
 *sides look; `base` in the header is where the program has the region. */
#pragma once
#include <stdint.h>

#define RT_MAGIC   UINT64_C(0x73646e6f65627270)
#define RT_VERSION 1
#define RT_NAME    "sonde" /* of the memfd */

enum {
	RT_TABLE_BITS = 12,
	RT_THREADS = 1 << RT_TABLE_BITS,
	RT_SUBJECTS = 1 << 20,
	RT_PROBES = 1 << 21,
	RT_STEP_BITS = 20,
	RT_STEPS = 1 << RT_STEP_BITS,
	RT_PATCHES = 1 << 21,
	RT_RAW_BYTES = 64 << 20,
	RT_AREAS = 512, /* threads alive at one time that are measured */
	RT_COUNTERS = 1 << 20,
	RT_ACTIVATIONS = 1 << 17, /* of one thread at one time */
	RT_STACKS = 64,           /* of one thread at one time that have activations on them */
	RT_INSTANCES = 1 << 9,
	RT_INSTANCE_FRAMES = 256,
	RT_PATHS = 1 << 16,
	RT_PATH_BYTES = 16 << 20,
	RT_TARGETS = 1 << 12,
	RT_EVENTS = 4, /* perf events measured at one time */
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
 *	bit  60    the return address is in the link register (innermost frame only)
 *	bit  61    nothing called this code: a thread or process begins here
 */
enum rt_step_kind {
	RT_STEP_NONE, /* not known: the path has to be recorded raw */
	RT_STEP_SP,   /* CFA = sp + offset */
	RT_STEP_FP,   /* CFA = fp + offset */
};
#define RT_STEP_IN_LINK (UINT64_C(1) << 60)
#define RT_STEP_ROOT    (UINT64_C(1) << 61)

struct rt_step {
	uint64_t pc; /* return address, without authentication bits; 0: free. Linear probing from
			rt_step_home() */
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
	uint32_t pad;
};

enum rt_subject_flag {
	RT_PATH = 1 << 0, /* values are kept per call path, otherwise one path for all */
	RT_LOOP = 1 << 1, /* several may be active in one frame */
};

enum rt_probe_kind {
	RT_ENTER,
	RT_EXIT,
	RT_BLOCK,      /* before a system call: may wait */
	RT_BLOCK_DONE, /* after it */
	RT_WAIT,       /* entry of a function that waits by spinning; counts as synchronisation */
	RT_WAIT_DONE,
	RT_TARGET,     /* before an indirect call: counts (site, target) */
	RT_RENDEZVOUS, /* tell Sonde, which stops the thread here */
};

struct rt_probe {
	uint32_t kind;
	uint32_t subject;
	uint64_t pc;    /* run-time address of the spot */
	uint64_t step;  /* from here to the caller; RT_STEP_NONE: unknown */
	uint32_t reg;   /* RT_TARGET: the register that holds the target */
	uint32_t value; /* RT_RENDEZVOUS: sent along */
};

struct rt_patch {
	uint64_t pc; /* 0: free */
	uint8_t size, pad[7];
	uint8_t original[16], bytes[16];
};

/* A path that could not be walked. Records follow each other in the raw space. */
struct rt_raw {
	uint32_t size; /* of the whole record, a multiple of 16; written last */
	uint32_t subject;
	uint64_t pc, sp, fp, link; /* at the spot */
	uint64_t hash;             /* of what looked like code addresses */
	uint32_t stack_size;       /* bytes copied from sp upwards, behind this struct */
	uint32_t pad;
};

enum { RT_NO_PATH = UINT32_MAX };

/* All values of one path of one thread. Variable size, in the area's path space. */
struct rt_path {
	uint64_t hash;
	uint32_t next; /* offset of the next path of the thread, in units of 8; 0: none */
	uint32_t subject;
	uint32_t parent; /* the anchor's path (offset / 8), whose frames are above these; or 0 */
	uint32_t frame_count;
	uint64_t raw;       /* if not 0: offset of the rt_raw record that this path is; no frames */
	uint32_t recursive; /* the subject occurs in the parents already */
	uint32_t pad;
	uint64_t calls;     /* activations that began */
	uint64_t caught_up; /* of activations that were running when the probe came: not in calls */
	uint64_t total[RT_METRICS]; /* inclusive; of activations that ended */
	uint64_t self[RT_METRICS];  /* the same without activations of any subject below */
	uint64_t frames[];          /* return addresses, innermost first */
};

struct rt_activation {
	uint64_t cfa;
	uint32_t subject;
	uint32_t path;              /* offset / 8 */
	uint64_t start[RT_METRICS]; /* readings when it began */
	uint64_t below[RT_METRICS]; /* inclusive values of activations that ended right below it */
};

/* One of the thread's stacks: its activations are a linked list from the innermost outwards. */
struct rt_stack {
	uint64_t root; /* CFA of its outermost frame; 0: free */
	uint32_t top;  /* index + 1 of the innermost activation, 0: none */
	uint32_t pad;
};

struct rt_instance_frame {
	uint64_t return_slot, return_address; /* *slot == value */
	uint64_t fp_slot, fp;                 /* fp_slot 0: not to be checked */
};

struct rt_target {
	uint64_t site, target; /* site 0: free */
	uint64_t count;
};

/* The fixed part of an area. What follows it: see enum rt_area_part. */
struct rt_area {
	uint64_t sequence;   /* odd while the thread changes it */
	uint64_t busy;       /* inside the runtime */
	uint64_t nested;     /* run-time address of the sibling */
	uint32_t tid;        /* 0: free */
	uint32_t generation; /* counts its owners */
	uint64_t thread_pointer;
	/* Clocks. `clock_page` is the run-time address of the mapped page of a task-clock event of
	 * the thread, 0: not tried yet, 1: not to be had (clock_gettime is used). */
	uint64_t clock_page;
	int64_t clock_offset; /* added to the page's time to be CLOCK_THREAD_CPUTIME_ID */
	uint64_t event_page[RT_EVENTS];
	int64_t event_fd[RT_EVENTS];
	/* Waiting: since when (ticks; 0: not), in what (1 sync, 2 I/O), begun at which CFA; and
	 * what it amounted to so far. */
	uint64_t wait_since, wait_kind, wait_cfa;
	uint64_t waited_sync, waited_io, bytes;
	uint64_t hits[8]; /* by enum rt_probe_kind: what was done, for the cost */
	uint64_t walks, raw_walks, instance_hits; /* how paths were found */
	uint64_t dropped;         /* activations beyond RT_ACTIVATIONS, paths beyond the room */
	uint32_t current;         /* stack */
	uint32_t activation_free; /* index + 1 of a free activation; 0: none but fresh ones */
	uint32_t activation_used; /* high-water mark */
	uint32_t first_path;      /* offset / 8 of the newest path; 0: none */
	uint64_t path_used;       /* bytes of the path space */
	struct rt_stack stacks[RT_STACKS];
};

/* Offsets in an area. */
#define RT_ALIGN(n)         (((n) + UINT64_C(4095)) & ~UINT64_C(4095))
#define RT_AREA_COUNTERS    RT_ALIGN(sizeof(struct rt_area))
#define RT_AREA_TARGETS     (RT_AREA_COUNTERS + RT_COUNTERS * UINT64_C(8))
#define RT_AREA_ACTIVATIONS (RT_AREA_TARGETS + RT_ALIGN(RT_TARGETS * sizeof(struct rt_target)))
/* Direct-mapped by (subject, sp): struct rt_instance is the runtime's own. */
#define RT_AREA_INSTANCES                                                                          \
	(RT_AREA_ACTIVATIONS + RT_ALIGN(RT_ACTIVATIONS * sizeof(struct rt_activation)))
#define RT_INSTANCE_SIZE RT_ALIGN(64 + RT_INSTANCE_FRAMES * sizeof(struct rt_instance_frame))
/* Hash table from a path's hash to its offset / 8. */
#define RT_AREA_PATH_INDEX (RT_AREA_INSTANCES + RT_INSTANCES * RT_INSTANCE_SIZE)
#define RT_AREA_PATHS      (RT_AREA_PATH_INDEX + RT_ALIGN(RT_PATHS * UINT64_C(4)))
#define RT_AREA_SIZE       RT_ALIGN(RT_AREA_PATHS + RT_PATH_BYTES)

struct rt_header {
	uint64_t magic;
	uint32_t version, pad;
	uint64_t base; /* run-time address of the region in the program */
	uint64_t size;
	uint32_t tracer;               /* pid of sonde */
	uint32_t pid;                  /* of the program */
	uint32_t clock_kind;           /* 1: perf events may be opened; 0: clock_gettime */
	uint32_t threads;              /* areas in use: an upper bound of their indices */
	uint64_t link_mask;            /* return addresses are meant with these bits only */
	uint64_t code_start, code_end; /* lowest and highest address of code, for raw paths */
	uint64_t raw_used;             /* bytes; advanced by the runtime atomically */
	uint64_t raw_seen;             /* wakes Sonde: raw records that it has to look at */
	uint32_t subjects, probes, patches;
	uint32_t event_count;
	struct {
		uint32_t type, pad;
		uint64_t config;
	} events[RT_EVENTS]; /* for perf_event_open() */
	/* Runtime text in the program, for whoever finds us later. */
	uint64_t text, text_size;
	/* Classes of system calls by number: 0 no wait, 1 sync (futex), 2 I/O, 3 I/O that moves as
	 * many bytes as it returns. */
	uint8_t calls[512];
};

/* Offsets in the region. */
#define RT_TABLE         RT_ALIGN(sizeof(struct rt_header))
#define RT_SUBJECT_TABLE (RT_TABLE + RT_ALIGN(RT_THREADS * UINT64_C(16)))
#define RT_PROBE_TABLE   (RT_SUBJECT_TABLE + RT_ALIGN(RT_SUBJECTS * sizeof(struct rt_subject)))
#define RT_STEP_TABLE    (RT_PROBE_TABLE + RT_ALIGN(RT_PROBES * sizeof(struct rt_probe)))
#define RT_JOURNAL       (RT_STEP_TABLE + RT_ALIGN(RT_STEPS * sizeof(struct rt_step)))
#define RT_RAW           (RT_JOURNAL + RT_ALIGN(RT_PATCHES * sizeof(struct rt_patch)))
/* Signal frames of remote calls. */
#define RT_REMOTE_FRAME (RT_RAW + RT_RAW_BYTES)
#define RT_AREA_BASE    (RT_REMOTE_FRAME + UINT64_C(65536))
#define RT_AREA(i)      (RT_AREA_BASE + (uint64_t)(i)*RT_AREA_SIZE)
#define RT_REGION_SIZE  RT_AREA(2 * RT_AREAS)

struct rt_thread {
	uint64_t thread_pointer; /* 0: free */
	uint64_t area;           /* run-time address */
};

/* The runtime's text starts with this table of offsets from its first byte, so that nobody needs
 * its symbols. Position independent; reads no memory but the region, whose address is patched into
 * `region` by Sonde before the text is written to the program. */
struct rt_entry_table {
	uint64_t region;   /* run-time address of the header */
	uint32_t hit;      /* the `routine` of isa/emit.h: argument is a struct rt_probe */
	uint32_t find;     /* the `find` of isa/emit.h */
	uint32_t remote;   /* code for remote calls: process/remote.h */
	uint32_t trap;     /* handler of SIGTRAP, for traps when Sonde is gone */
	uint32_t restorer; /* its return */
	uint32_t pad;
};
