/* Turns the evidence of a search into findings: which true experiments are worth reporting, in
 * which words, and what to do next.
 *
 *	known.c       queries of the evidence
 *	candidates.c  which true experiments are reported
 *	words.c       how they are worded
 *	commands.c    what processes of several commands spend their time in
 *	breakdown.c   what the time of a finding is made of
 *	steps.c       what to do next
 *	wording.c     remarks, for all of these
 *
 * Nothing else is used: no process, no clock, no module. The same evidence gives the same words,
 * while the program runs and from any file. */
#pragma once
#include "profile/profile.h"

/* Makes the findings and remarks of a profile again. Without evidence, a profile keeps its own.
 * Names of C++ functions are shown without template arguments, parameters and results, unless
 * `long_names`. */
void findings_make(struct profile *p, bool long_names);
