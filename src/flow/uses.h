/* What procedures do with the registers that may be private: the facts that private.c joins. */
#pragma once
#include "base/vec.h"
#include "flow/flow.h"

/* Control that goes from one procedure to another that is known, or back to itself. */
struct way {
	uint32_t from, to; /* procedures */
	uint32_t block;    /* that it leaves from; BLOCK_NONE if it is in none */
	uint64_t inside;   /* where it leads to, if not to the start; else 0 */
	bool jump;         /* no call */
	bool final;        /* a call that does not come back */
	bool doubtful;     /* in code that no known path leads to */
	/* Registers that are read before they are written behind the call, in whichever block; and
	 * those in the very next, if nothing else leads there. */
	uint64_t behind, at_once;
	uint64_t passed; /* that are read where it leads to, with the value that they have here */
};

typedef VEC(struct way) way_list;

/* Sets of candidates, by their numbers (see arch->private_candidates). */
struct uses {
	uint64_t entry;    /* read with the value that they have at the entry */
	uint64_t written;  /* by the procedure's own instructions */
	uint64_t destroys; /* does not leave as they were; more when calls are taken in */
	uint64_t held;     /* read behind a call, at a landing pad or nobody knows when */
	uint64_t unknown;  /* read in code of the procedure that no known path leads to */
	uint64_t strange;  /* read right behind a call of something unknown */
	uint64_t place;    /* where the first of these calls returns to */
};

/* For one thread. */
struct uses_finder {
	struct flow *flow;
	struct regset split; /* the candidates, */
	uint64_t candidates; /* and by their numbers */
	struct arena graph, tmp;
	way_list ways;
};

void uses_init(struct uses_finder *u, struct flow *f);
void uses_release(struct uses_finder *u);
/* Adds the ways from the procedure to u->ways. */
struct uses uses_find(struct uses_finder *u, uint32_t procedure);
/* Adds what the procedure's ways pass on, as ways[i].passed, to what is read behind the calls among
 * them: a value may be kept over a call for who is called next. */
void uses_add_passed(struct uses_finder *u, struct way *ways, uint32_t count);
/* What the procedure may read from each of some places in it on. */
void uses_from(struct uses_finder *u, uint32_t procedure, const uint64_t *places, uint32_t count,
	       uint64_t *reads);
/* What code in [start, end) of which nothing is known reads before it writes it; *lowest is the
 * first instruction that does. Data among it is hardly ever taken for code. */
uint64_t uses_in_range(struct uses_finder *u, uint64_t start, uint64_t end, uint64_t *lowest);
