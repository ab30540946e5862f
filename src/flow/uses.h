/* What functions do with the registers that may be private: the facts that private.c joins. */
#pragma once
#include "base/vec.h"
#include "flow/flow.h"

/* A call or jump from one function to another known one, or to itself. */
struct call_edge {
	uint32_t from, to; /* functions */
	uint32_t block;    /* the block of `from` that it leaves; BLOCK_NONE if in none */
	uint64_t inside;   /* the target, if that is not the start of `to`; else 0 */
	bool jump;         /* a jump, not a call */
	bool noreturn;     /* a call that does not return */
	bool doubtful;     /* in code that no known path leads to: it may never happen */
	/* Registers that are read after the call, in whichever block, before they are written; and
	 * those that the very next block reads, if nothing else leads there. */
	uint64_t read_after, read_next;
	uint64_t passed; /* registers that `to` reads with the values that they have here */
};

typedef VEC(struct call_edge) call_edge_list;

/* Sets of candidates, by their numbers (see arch->private_candidates). */
struct uses {
	uint64_t entry;    /* read with the value that they have at the entry */
	uint64_t written;  /* written by instructions of the function */
	uint64_t destroys; /* not preserved; private.c adds what callees destroy */
	uint64_t held;     /* read after a call, at a landing pad, or at an unknown time */
	uint64_t unknown;  /* read in code of the function that no known path leads to */
	uint64_t strange;  /* read right after a call of something unknown */
	uint64_t place;    /* the return address of the first such call */
};

/* Finds uses; each thread has its own. */
struct uses_finder {
	struct flow *flow;
	struct regset split; /* the candidates as a register set */
	uint64_t candidates; /* and by their numbers */
	struct arena graph, tmp;
	call_edge_list edges;
};

void uses_init(struct uses_finder *u, struct flow *f);
void uses_release(struct uses_finder *u);
/* Also adds the call edges of the function to u->edges. */
struct uses uses_find(struct uses_finder *u, uint32_t function);
/* `edges` are those from one function. Adds what they pass on, edges[i].passed, to what is read
 * after the calls among them: a value may be kept over a call for the function that is called next.
 */
void uses_add_passed(struct uses_finder *u, struct call_edge *edges, uint32_t count);
/* For each of some addresses in the function, the registers that may be read from there on. */
void uses_from(struct uses_finder *u, uint32_t function, const uint64_t *places, uint32_t count,
	       uint64_t *reads);
/* The registers that unknown code in [start, end) reads before it writes them; *lowest is the first
 * instruction that does. Data among the code is hardly ever taken for code. */
uint64_t uses_in_range(struct uses_finder *u, uint64_t start, uint64_t end, uint64_t *lowest);
