/* Which true experiments are worth reporting.
 *
 * Every sample is explained by the innermost part of its stack for which the hypothesis is true. A
 * part is reported if it explains most of its own samples, or as many as make the hypothesis true.
 * Where there are few samples, a part is reported if none of its parts is true: a thread that makes
 * system calls but hardly blocks in them appears to be computing. Waiting is reported for each
 * object that takes a large share of it. If a hypothesis and one that refines it are true at the
 * same place, the more specific one is reported. */
#pragma once
#include "findings/known.h"

struct candidate {
	uint8_t hypothesis;
	uint32_t experiment;
	uint32_t part;   /* resource of the code; the root: no part in particular */
	uint32_t object; /* the object that is waited for; PROFILE_NONE: none in particular */
	double share;    /* of the run */
	double seconds;  /* that its samples represent */
	uint32_t chain;  /* the heaviest one through the part; PROFILE_NONE: none */
	bool spread;     /* parts of it are candidates, too: `share` is without them */
	bool local;      /* true of the time of one process or thread, but not of the whole run */
	/* If local: how many like it there are, i.e. threads or processes of one command of whose
	 * time it is true; the least and the most of their shares; the one that came last. */
	uint32_t like;
	double least, most;
	uint32_t machine;
};

typedef VEC(struct candidate) candidate_list;

/* Returns the function of the innermost parallel region that a candidate is in, or PROFILE_NONE. */
uint32_t region_of(const struct known *k, const struct candidate *c);

/* Returns the name of the program that a process or thread executes, as a part of the machine. */
const char *command_of(const struct known *k, uint32_t machine);

/* Finds all candidates, largest share first. */
void candidates_find(const struct known *k, candidate_list *out);
