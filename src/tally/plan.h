/* What is counted in a procedure, and how all the rest follows from it.
 *
 * The counters of a procedure's context (runtime/abi_count.h) are on the chords of a net (chords.h)
 * made of its flow graph: each block is an edge between two nodes, so that a counter may stand at a
 * block as well as on a way between two; and what an indirect jump does is one way to a hub that
 * leads to all its targets, because ways of indirect jumps are hard to tell apart.
 *
 * Calls are sites: control may leave the procedure there for good (an exception, longjmp, the
 * program's end) and come back to places it did not leave from (setjmp, landing pads). The runtime
 * tells how often; so the net is balanced nevertheless. A system call is a site like a call.
 *
 * Pure: the same for the same image. Whoever reads the counters makes the plan again. */
#pragma once
#include "flow/liveness.h"
#include "flow/loops.h"
#include "tally/chords.h"

enum { NO_WORD = UINT32_MAX };

/* What an edge of the net stands for. */
enum carrier_kind {
	CARRIER_BLOCK,   /* execution of a block, from its top */
	CARRIER_EDGE,    /* an edge of the flow graph */
	CARRIER_ENTRY,   /* calls of the procedure; the runtime counts them */
	CARRIER_LANDING, /* exceptions that arrive at a block */
	CARRIER_LEAVE,   /* the procedure's end: of a block, by its last instruction */
	CARRIER_HUB,     /* from an indirect jump to its hub, or from there to a block */
};

struct carrier {
	uint8_t kind;    /* enum carrier_kind */
	uint8_t counter; /* operand: where its loop counts it (hold.h); REG_NONE: in its word */
	uint32_t index;  /* of the block or edge */
	uint32_t word;   /* of the context; NO_WORD: it has no counter */
};

/* A call or a system call. They are numbered from 1: 0 is no site. */
struct tally_site {
	uint64_t va;
	uint32_t block, insn; /* the instruction's number in the block */
	uint32_t loop;        /* innermost one with counters in the frame, or LOOP_NONE */
	uint8_t length;
	bool syscall;
};

/* How the executions of a loop's header in one activation of the loop are counted. */
enum trip_method {
	TRIP_NONE,       /* they are not: there is no histogram */
	TRIP_HELD,       /* in a register: loops without calls (hold.h) */
	TRIP_DIFFERENCE, /* the header's counter, less what it was at the loop's entry */
	TRIP_FRAME,      /* on the shadow stack: another activation may run meanwhile */
};

struct tally_loop {
	uint8_t method;  /* enum trip_method */
	uint8_t trips;   /* TRIP_HELD: operand */
	uint32_t word;   /* the header's executions; NO_WORD with TRIP_NONE */
	uint32_t before; /* TRIP_DIFFERENCE: what that was at the entry */
	uint32_t slot;   /* TRIP_FRAME: number of its word in the frame */
	uint32_t outer;  /* TRIP_FRAME: the next one outwards in the frame, or LOOP_NONE */
	/* Carriers that it counts in registers, in tally.held; and all its registers. */
	uint32_t first_held, held_count;
	struct regset registers;
};

struct tally {
	const struct cfg *cfg;
	const struct loop_forest *forest;
	const struct liveness *live;
	struct net net;
	struct carrier *carriers; /* of each edge of the net */
	uint32_t *block_edge;     /* of each block: its edge of the net */
	uint32_t *flow_edge;      /* of each edge of the flow graph: the same, or UINT32_MAX */
	struct tally_site *sites; /* site i + 1 */
	struct tally_loop *loops; /* of each loop of the forest */
	uint32_t *held;           /* carriers */
	/* Of each edge of the flow graph: the loop that is left there by the test at its top,
	 * before an iteration begins, or LOOP_NONE. */
	uint32_t *tests;
	uint32_t site_count, slot_count, word_count;
	bool still;  /* it never moves the stack pointer */
	bool framed; /* its activations are on the shadow stack */
	/* Registers that are held: the addresses of the context and, only with that, of the frame.
	 * REG_NONE: there is none to be had. Without a general register for the context, a vector
	 * has it. */
	uint8_t context, frame, context_vector;
	/* The registers that calls pass things in are private, too. */
	bool passes;
};

struct tally_options {
	const struct liveness *live;
	struct regset private;     /* registers that carry nothing from procedure to procedure */
	const bool *without_trips; /* of each loop: TRIP_NONE; NULL: of none */
};

/* False if the procedure cannot be counted: its flow graph is not the whole truth, or it is too
 * large. The result lives in `a`, and needs the graph, the forest and the liveness. */
bool tally_plan(struct tally *out, const struct flow *f, const struct cfg *g,
		const struct loop_forest *forest, const struct tally_options *o, struct arena *a,
		struct arena *tmp);

/* Whether a register has the context in the whole procedure. */
bool tally_holds_context(const struct tally *t);
/* Registers that are held in the whole procedure. */
struct regset tally_held(const struct tally *t);
/* Bytes of a frame of the shadow stack; 0: it has none. */
uint32_t tally_frame_size(const struct tally *t);
