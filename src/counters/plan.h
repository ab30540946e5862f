/* The plan for counting a function: which counters it gets, and how all other counts follow from
 * them.
 *
 * The counters of a function's context (runtime/abi_count.h) are on the chords of a net (chords.h)
 * derived from its flow graph. Each block is an edge between two nodes of the net, so that a
 * counter may be at a block as well as on an edge between two blocks. An indirect jump is one edge
 * to a hub, which leads to all its targets, because the single edges of an indirect jump are hard
 * to probe.
 *
 * Calls are sites. Control may leave the function there for good (an exception, longjmp, the
 * program's end) and arrive at places it did not leave from (setjmp, landing pads). The runtime
 * counts both, so that the net can be balanced nevertheless. A system call is a site like a call.
 *
 * The plan is a pure function of the module: code that reads the counters makes the same plan
 * again. */
#pragma once
#include "counters/chords.h"
#include "flow/liveness.h"
#include "flow/loops.h"

enum { NO_WORD = UINT32_MAX };

/* What an edge of the net represents. */
enum carrier_kind {
	CARRIER_BLOCK,   /* an execution of a block, from its top */
	CARRIER_EDGE,    /* an edge of the flow graph */
	CARRIER_ENTRY,   /* calls of the function; the runtime counts them */
	CARRIER_LANDING, /* exceptions that arrive at a block */
	CARRIER_LEAVE,   /* the function is left by the last instruction of a block */
	CARRIER_HUB,     /* from an indirect jump to its hub, or from there to a block */
};

struct carrier {
	uint8_t kind; /* enum carrier_kind */
	/* operand (hold.h): the register in which its loop counts; REG_NONE: counted in its word */
	uint8_t counter;
	bool header;    /* a block that its loop counts */
	uint32_t index; /* index of the block or edge */
	uint32_t word;  /* its counter in the context; NO_WORD: it has none */
};

/* A call or a system call. Sites are numbered from 1; 0 means no site. */
struct counters_site {
	uint64_t va;
	uint32_t block, insn; /* the instruction's index in the block */
	uint32_t loop; /* the innermost loop around it that is counted in the frame, or LOOP_NONE */
	uint8_t length;
	bool syscall;
};

/* How the executions of a loop's header in one activation of the loop are counted. */
enum trip_method {
	TRIP_NONE,       /* they are not counted: there is no histogram */
	TRIP_HELD,       /* in a register: loops without calls (hold.h) */
	TRIP_DIFFERENCE, /* as the header's counter minus its value at the loop's entry */
	TRIP_FRAME,      /* on the shadow stack: another activation may run during the loop */
};

struct counters_loop {
	uint8_t method;  /* enum trip_method */
	uint8_t trips;   /* TRIP_HELD: the operand that counts */
	uint32_t word;   /* counter of the header's executions; NO_WORD with TRIP_NONE */
	uint32_t before; /* TRIP_DIFFERENCE: the word that keeps its value at the entry */
	uint32_t slot;   /* TRIP_FRAME: index of its word in the frame */
	/* TRIP_FRAME: the next outer loop that is counted in the frame, or LOOP_NONE */
	uint32_t outer;
	uint32_t first_held, held_count; /* the carriers it counts in registers, in counters.held */
	struct regset registers;         /* all registers it counts in */
};

struct counters {
	/* The graph and the liveness are needed to write code and to find places in it, but not to
	 * solve counters. */
	const struct cfg *cfg;
	const struct loop_forest *forest;
	const struct liveness *live;
	uint32_t block_count;
	struct net net;
	struct carrier *carriers; /* for each edge of the net */
	uint32_t *block_edge;     /* for each block: its edge of the net */
	/* for each edge of the flow graph: its edge of the net, or UINT32_MAX */
	uint32_t *flow_edge;
	struct counters_site *sites; /* sites[i] is site i + 1 */
	struct counters_loop *loops; /* for each loop of the forest */
	uint32_t *held;              /* carriers counted in registers, by loop */
	/* For each edge of the flow graph: the loop that is left there by the test at its top,
	 * before an iteration begins, or LOOP_NONE. */
	uint32_t *tests;
	uint32_t site_count, slot_count, word_count;
	bool still;  /* the function never moves the stack pointer */
	bool framed; /* its activations have frames on the shadow stack */
	/* Registers that hold, in the whole function, the address of the context and, only if there
	 * is one for that, of the frame on top of the shadow stack: the function's own, or its
	 * caller's if it has none. REG_NONE: there is no register for it. If there is no general
	 * register for the context, a vector register holds it. */
	uint8_t context, frame, context_vector;
	/* The registers in which calls pass the frame are private, too. */
	bool passes;
};

struct counters_options {
	const struct liveness *live;
	struct regset private; /* registers that carry no values between functions */
	/* for each loop: do not count its trips (TRIP_NONE); NULL: for none */
	const bool *without_trips;
};

/* False if the function cannot be counted: its flow graph is incomplete, or it is too large. The
 * result lives in `a`, and refers to the graph, the forest and the liveness. */
bool counters_plan(struct counters *out, const struct flow *f, const struct cfg *g,
		   const struct loop_forest *forest, const struct counters_options *o,
		   struct arena *a, struct arena *tmp);

/* Whether a register holds the context in the whole function. */
bool counters_holds_context(const struct counters *t);
/* The registers that hold values in the whole function. */
struct regset counters_held(const struct counters *t);
/* The size in bytes of the function's frame on the shadow stack; 0: it has none. */
uint32_t counters_frame_size(const struct counters *t);
