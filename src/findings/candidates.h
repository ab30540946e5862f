/* Which true experiments are worth telling.
 *
 * Every sample is explained by the innermost part of its stack that is true. A part is told if it
 * explains most of its own samples, or as many as make a hypothesis true; where samples are few, if
 * none of its parts is true: who is in a system call but does not wait there is seen computing.
 * What waits is told for each object that takes a good part of it. Of a hypothesis and one that
 * refines it, at the same place, the more specific one is told. */
#pragma once
#include "findings/known.h"

struct candidate {
	uint8_t hypothesis;
	uint32_t experiment;
	uint32_t part;   /* of the code; the root: none in particular */
	uint32_t object; /* that is waited for; PROFILE_NONE: none in particular */
	double share;    /* of the run */
	double seconds;  /* of samples */
	uint32_t chain;  /* the heaviest one through the part; PROFILE_NONE: none */
	bool spread;     /* no part of it stands out, though parts of it are other candidates */
	bool local;      /* of one process or thread, and of its time: not of the whole */
};

typedef VEC(struct candidate) candidate_list;

/* The most important first. */
void candidates_find(const struct known *k, candidate_list *out);
