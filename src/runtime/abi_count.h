/* The part of abi.h that is about counting everything (`sonde count`): contexts, shadow stacks,
 * trip counts.
 *
 * A context is a procedure called along one path: (parent, site, procedure). Each thread has a tree
 * of them, and a shadow stack with a frame for each activation of a procedure that calls others.
 * Code in the program does what is usual by itself:
 *
 *	entry   area -> top frame, the caller's -> its context and key -> slot of the key's site:
 *	        its child is of this procedure? It is the context, or else what the table of
 *	        callees leads to; its call is counted, and a frame is pushed if the procedure
 *	        has one
 *	call    writes the top frame's key
 *	behind  area -> top frame: if its key is what was written, its context is ours
 *	exit    pops the frame
 *
 * and calls the runtime for all else. Where registers are to spare, calls and returns pass the top
 * frame in them, and the area is looked at only if that fails (tally/calls.c). The context's own
 * `area`, not the thread's, is where an activation finds its frame to write a key or to pop it: if
 * it could not get a context it has the sink, and touches nobody's frames. Slots never lead to 0,
 * but to `nobody`, who is of no procedure.
 *
 *	count area   struct rt_count, then what is named RT_COUNT_* below
 *	heap         records behind each other: contexts, and edges (see struct rt_edge); the first
 *	             is the root's context
 *
 * Included by abi.h. */
#pragma once
#include <stdint.h>

enum {
	RT_PROCEDURES = 1 << 20,
	RT_SITES = 1 << 22,
	RT_LOOPS = 1 << 18,
	/* What a procedure may have that is counted: the sink has room for it. */
	RT_COUNTED_SITES_MAX = (1 << 14) - 1,
	RT_COUNTED_WORDS_MAX = 1 << 16,
	RT_FRAME_MAX = 128,
	RT_INDEX_BITS = 22,
	RT_DEPARTURE_BITS = 14,
	RT_DEPARTURES = 1 << RT_DEPARTURE_BITS,
	RT_CALLEE_BITS = 18,
	RT_CALLEE_STEP = 2533, /* between procedures that one site calls, in the table */
	RT_ASIDES = 256,
	RT_ASIDE_BYTES = 32 << 10,
	RT_SEEN_BITS = 17,
	RT_CONTEXT_DEPTH = 1 << (RT_SEEN_BITS - 1), /* of contexts below each other */
	RT_CONTEXT_CHUNK = 4 << 10,                 /* taken from the total at a time */
	RT_CONTEXT_LIMIT = 16 << 20,                /* of the total: then paths are merged, */
	RT_CONTEXT_ROOM = 128 << 20,                /* and then cut */
	RT_EXACT_TRIPS = 32,
	RT_LARGE_TRIPS = 64 - 5,
};

/* A counted procedure; written by Sonde before anything leads there, and never changed. Number 0 is
 * the root, where threads begin. */
struct rt_counted {
	uint32_t words; /* counters of a context */
	uint32_t sites; /* calls and system calls, numbered 1 .. sites; 0: not in a call */
	/* Bytes of a shadow frame: 32 + 8 for each loop of the deepest nest that is counted in it,
	 * rounded up to 16; 0: it calls nothing and has none. */
	uint32_t frame;
	/* In RT_SITE_TABLE, of site 0; for each site: the innermost loop around it that is counted
	 * in the frame, its number + 1, or 0. */
	uint32_t first_site;
};

/* By number of the loop, as in trip tables. */
struct rt_counted_loop {
	uint32_t word;  /* the counter that the executions of its header are added to */
	uint32_t slot;  /* of the frame's words */
	uint32_t outer; /* the next one outwards that is counted in the frame, + 1, or 0 */
};

/* The calls of one site of a context: slot of site s is at (context - 16 * (s + 1)). */
struct rt_context_slot {
	uint64_t child; /* run-time address of a context */
	uint64_t calls; /* that are not in the record of the edge */
};

struct rt_context {
	uint64_t area; /* run-time address */
	uint64_t procedure;
	uint64_t parent; /* run-time address; 0: the root. A context whose callers are not known is
			    below the root as well */
	uint64_t site;   /* of the parent */
	uint64_t calls;  /* of (parent, site, procedure), but those in the slot */
	uint64_t words[];
};
#define RT_NO_PROCEDURE UINT64_MAX /* nobody's and the sink's */

/* What the heap consists of; behind it the slots of a context, the last site's first, and the
 * context; or the rest of an edge. */
struct rt_record {
	uint32_t size;    /* of it all, a multiple of 16 */
	uint32_t context; /* offset of the context; 0: it is an edge */
	uint64_t pad;
};

/* (parent, site, procedure) leads to a context elsewhere. Recursion is folded: it is one further
 * out, whose path has all the edges that the path of a new one would have. And paths may have been
 * merged, because there are too many. */
struct rt_edge {
	struct rt_record record;
	uint64_t parent, child;
	uint32_t site, procedure;
	uint64_t calls; /* as in a context */
};

/* Callees of sites that call several procedures, those that slots do not lead to: a hash table, at
 * (slot >> 4) + procedure * RT_CALLEE_STEP. An entry is never changed: what code finds there is
 * right whatever a signal handler does meanwhile. */
struct rt_callee {
	uint64_t slot;  /* run-time address of the caller's context - 16 * site; 0: free */
	uint64_t child; /* run-time address */
	uint64_t calls; /* run-time address of where they are counted */
	uint64_t pad;
};

/* A frame of the shadow stack, which grows down. */
struct rt_shadow {
	uint64_t context; /* run-time address */
	uint64_t key;     /* of the call that it is making or made last; 0: none yet */
	/* The stack pointer at the procedure's first instruction, or RT_ENTRY_UNKNOWN: the
	 * activation was met in the middle. */
	uint64_t entry_sp;
	uint64_t pad;
	uint64_t trips[]; /* header executions of the running activations of loops, by slot */
};
#define RT_ENTRY_UNKNOWN (UINT64_C(1) << 63)
#define RT_KEY_SP        ((UINT64_C(1) << 48) - 1)
#define RT_KEY_SITE      48
/* The stack pointer in a key may be so much less than it was: see tally/calls.c. */
#define RT_KEY_SLACK 2
/* In place of a site, where other code has jumped into the middle of a procedure: the other bits
 * are how far from its first instruction, signed. */
#define RT_PLACE (UINT32_C(1) << 31)
/* The root's frame: no stack pointer is further out. */
#define RT_ROOT_KEY RT_KEY_SP

/* Trip counts of a loop: large[i] are those in [2^(i+5), 2^(i+6)). */
struct rt_trips {
	uint64_t exact[RT_EXACT_TRIPS], large[RT_LARGE_TRIPS];
	uint64_t large_min, large_max; /* 0: none */
	uint64_t pad[3];
};

/* Where calls do not come back, and where control goes on behind one that it did not come from: in
 * a hash table. */
struct rt_departure {
	uint64_t context; /* 0: free */
	uint64_t site;    /* 0: it was not in a call; or RT_PLACE and where */
	uint64_t left, resumed;
};

/* Frames of another stack than the one that is in use, innermost first. */
struct rt_aside {
	uint64_t bytes; /* of frames; 0: free */
	uint64_t pad;
	uint8_t frames[RT_ASIDE_BYTES - 16];
};

struct rt_count {
	uint64_t busy; /* inside the runtime: the program's stack pointer; 0: not */
	uint64_t contexts_used, contexts_granted; /* bytes of the heap */
	uint32_t index_bits, index_used;
	uint32_t asides;      /* in use: an upper bound of their indices */
	uint32_t aside_evict; /* the next to make room */
	uint64_t seen_stamp;
	uint64_t merging; /* there are so many paths that they are not all told apart */
	/* Edges that lead elsewhere therefore: to what is called at another site of the same loop,
	 * or to a path that has not all the callers. */
	uint64_t merged, cut;
	/* What went wrong: the report says that figures are lower bounds then. */
	uint64_t dropped_contexts;   /* calls that got none at all */
	uint64_t dropped_calls;      /* counted for nobody */
	uint64_t dropped_departures; /* not recorded */
	uint64_t dropped_asides;     /* frames set aside that had to go */
	uint64_t dropped_frames;     /* the shadow stack was damaged */
	uint64_t dropped_busy;       /* events in signal handlers that interrupted the runtime */
};
