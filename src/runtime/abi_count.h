/* The part of abi.h for counting everything (`sonde count`): contexts, shadow stacks, trip counts.
 *
 * A context is a function called along one path: (parent, site, function). Each thread has a tree
 * of contexts, and a shadow stack with a frame for each activation of a function that calls others.
 * Code in the program handles the common case by itself:
 *
 *	entry   loads the caller's frame, the top one of the area; then its context and key, and
 *	        the slot of the key's site. If the slot's child is a context of this function, it
 *	        is ours; otherwise the table of callees may lead to one. The call is counted, and
 *	        a frame is pushed if the function has one.
 *	call    writes the top frame's key
 *	return  loads the top frame of the area: if its key is what was written, its context is ours
 *	exit    pops the frame
 *
 * It calls the runtime in all other cases. Where registers are free, calls and returns pass the top
 * frame in them, and the area is read only if that fails (counters/calls.c). To write a key or pop
 * its frame, an activation uses the `area` of its context, not that of the thread: an activation
 * that could not get a context has the sink, and touches no thread's frames. A slot never holds 0:
 * an empty one leads to `nobody`, a context of no function.
 *
 *	count area   struct rt_count, then the parts named RT_COUNT_* in abi.h
 *	heap         consecutive records: contexts and edges (see struct rt_edge); the first record
 *	             is the root's context
 *
 * Included by abi.h. */
#pragma once
#include <stdint.h>

enum {
	RT_FUNCTIONS = 1 << 20,
	RT_SITES = 1 << 22,
	RT_LOOPS = 1 << 18,
	/* Limits for one function: the sink has room for this much. */
	RT_COUNTED_SITES_MAX = (1 << 14) - 1,
	RT_COUNTED_WORDS_MAX = 1 << 16,
	RT_FRAME_MAX = 128,
	RT_INDEX_BITS = 22,
	RT_DEPARTURE_BITS = 14,
	RT_DEPARTURES = 1 << RT_DEPARTURE_BITS,
	RT_CALLEE_BITS = 18,
	RT_CALLEE_STEP = 2533, /* distance in the table between functions that one site calls */
	RT_CALLEE_JUMPED = 1,
	RT_ASIDES = 256,
	RT_ASIDE_BYTES = 32 << 10,
	RT_SEEN_BITS = 17,
	RT_CONTEXT_DEPTH = 1 << (RT_SEEN_BITS - 1), /* contexts on one path */
	RT_CONTEXT_CHUNK = 4 << 10,                 /* bytes added to the total at a time */
	RT_CONTEXT_LIMIT = 16 << 20,                /* total above which paths are merged */
	RT_CONTEXT_ROOM = 128 << 20,                /* total above which paths are cut */
	RT_EXACT_TRIPS = 32,
	RT_LARGE_TRIPS = 64 - 5, /* one for each power of two from RT_EXACT_TRIPS on */
};

/* A counted function. Sonde writes it before any code refers to it, and never changes it. Number 0
 * is the root, where threads begin. */
struct rt_counted {
	uint32_t words; /* number of counters of a context */
	uint32_t sites; /* number of calls and system calls, from 1 on; 0: not in a call */
	/* Bytes of a shadow frame: 32, and 8 for each loop of the deepest nest that is counted in
	 * the frame, rounded up to 16. 0: the function calls nothing and has no frame. */
	uint32_t frame;
	/* Index of site 0 in RT_SITE_TABLE. The entry of each site is the innermost loop around it
	 * that is counted in the frame (its number + 1), or 0. */
	uint32_t first_site;
};

/* Indexed by the number of the loop, as trip tables are. */
struct rt_counted_loop {
	uint32_t word;  /* the counter that gets the executions of the loop's header */
	uint32_t slot;  /* its index in the frame's `trips` */
	uint32_t outer; /* the next outer loop that is counted in the frame, + 1; or 0 */
};

/* The calls at one site of a context. The slot of site s is at (context - 16 * (s + 1)). */
struct rt_context_slot {
	uint64_t child; /* run-time address of a context */
	uint64_t calls; /* calls that are not in the child's record */
};

struct rt_context {
	uint64_t area; /* run-time address */
	uint64_t function;
	uint64_t parent; /* run-time address; 0: this is the root. A context with unknown callers is
			    a child of the root as well */
	uint64_t site;   /* of the call in the parent */
	uint64_t calls;  /* of (parent, site, function), less those in the slot */
	uint64_t words[];
};
#define RT_NO_FUNCTION UINT64_MAX /* of RT_NOBODY and RT_SINK */

/* The header of a record in the heap. It is followed by the slots of a context, last site first,
 * and the context; or by the rest of an edge. */
struct rt_record {
	uint32_t size;    /* of the whole record, a multiple of 16 */
	uint32_t context; /* offset of the context in the record; 0: it is an edge */
	uint64_t pad;
};

/* An edge from (parent, site, function) to an existing context with another parent or site. There
 * are two reasons. Recursion is folded: the edge leads to a context further out, whose path has all
 * the edges that the path of a new context would have. Or paths are merged, because there are too
 * many. */
struct rt_edge {
	struct rt_record record;
	uint64_t parent, child;
	uint32_t site, function;
	uint64_t calls; /* as in struct rt_context */
};

/* Callees of sites that call several functions, except those that the slots lead to. A hash table:
 * the index is (slot >> 4) + function * RT_CALLEE_STEP. An entry never changes once it is there,
 * so what code finds is right whatever a signal handler does at the same time.
 *
 * Functions whose middle a callee jumps to are there, too, with RT_CALLEE_JUMPED added to the slot
 * and the distance of the place from the function's start to the index. Distances are below the
 * size of the table, so no two places of a function have the same entry. */
struct rt_callee {
	uint64_t slot;  /* run-time address of the caller's context - 16 * site; 0: free */
	uint64_t child; /* run-time address */
	uint64_t calls; /* run-time address of the word that counts the calls */
	uint64_t pad;
};

/* A frame of the shadow stack. The stack grows down. */
struct rt_shadow {
	uint64_t context; /* run-time address */
	uint64_t key;     /* of the call in progress or of the last one; 0: none yet */
	/* The stack pointer at the function's first instruction, or RT_ENTRY_UNKNOWN if counting
	 * began in the middle of the activation. */
	uint64_t entry_sp;
	uint64_t pad;
	uint64_t trips[]; /* header executions of running loops, by slot */
};
#define RT_ENTRY_UNKNOWN (UINT64_C(1) << 63)
#define RT_KEY_SP        ((UINT64_C(1) << 48) - 1)
#define RT_KEY_SITE      48
/* The stack pointer in a key may be too low by up to this: see counters/calls.c. */
#define RT_KEY_SLACK 2
/* Set in place of a site where other code jumped into the middle of a function. The other bits are
 * the distance from its first instruction, signed. */
#define RT_PLACE (UINT32_C(1) << 31)
/* The key of the root's frame: no stack pointer is higher. */
#define RT_ROOT_KEY RT_KEY_SP

/* Trip counts of a loop: large[i] counts those in [2^(i+5), 2^(i+6)). */
struct rt_trips {
	uint64_t exact[RT_EXACT_TRIPS], large[RT_LARGE_TRIPS];
	uint64_t large_min, large_max; /* 0: none */
	uint64_t pad[3];
};

/* Calls that did not return (`left`), and places after a call where control arrived without
 * returning from it (`resumed`). A hash table by context and site. */
struct rt_departure {
	uint64_t context; /* 0: free */
	uint64_t site;    /* 0: not in a call; or RT_PLACE and the distance */
	uint64_t left, resumed;
};

/* Shadow frames of a stack that is not in use at the moment, innermost first. */
struct rt_aside {
	uint64_t bytes; /* size of the frames; 0: free */
	uint64_t pad;
	uint8_t frames[RT_ASIDE_BYTES - 16];
};

struct rt_count {
	uint64_t busy; /* the program's stack pointer during a call of the runtime; else 0 */
	uint64_t contexts_used, contexts_granted; /* bytes of the heap */
	uint32_t index_bits, index_used;
	uint32_t asides;      /* upper bound of the indices in use */
	uint32_t aside_evict; /* the next one to be evicted */
	uint64_t seen_stamp;
	uint64_t merging; /* not 0: there are too many paths, so they are merged */
	/* The number of edges that lead to another context because of merging: `merged` to one that
	 * is called at another site of the same loop, `cut` to one whose path lacks some
	 * callers. */
	uint64_t merged, cut;
	/* Numbers of what was lost. If they are not 0, the report says that figures are lower
	 * bounds. */
	uint64_t dropped_contexts;   /* calls that got no context at all */
	uint64_t dropped_calls;      /* calls that could not be attributed */
	uint64_t dropped_departures; /* not recorded, for lack of room */
	uint64_t dropped_asides;     /* frames set aside that were evicted */
	uint64_t dropped_frames;     /* the shadow stack was damaged */
	uint64_t dropped_busy;       /* events in signal handlers that interrupted the runtime */
};
