/* From the evidence of a search to what is told: which true experiments are worth telling, in
 *words, and what to do next.
 *
 *	known.c       questions to the evidence
 *	candidates.c  which true experiments are told
 *	words.c       how
 *	steps.c       what to do
 *
 * Nothing else is asked: no process, no clock, no image. The same evidence gives the same words,
 * while the program is there and from any file. */
#pragma once
#include "profile/profile.h"

/* Makes the findings and remarks of a profile anew; leaves those of one without evidence alone. */
void findings_make(struct profile *p);
