/* Turns the evidence of a search into findings: which true experiments are worth reporting, in
 * which words, and what to do next.
 *
 *	known.c       queries of the evidence
 *	candidates.c  which true experiments are reported
 *	words.c       how they are worded
 *	steps.c       what to do next
 *
 * Nothing else is used: no process, no clock, no module. The same evidence gives the same words,
 * while the program runs and from any file. */
#pragma once
#include "profile/profile.h"

/* Makes the findings and remarks of a profile again. Without evidence, a profile keeps its own. */
void findings_make(struct profile *p);
