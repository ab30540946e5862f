/* Functions that begin by making a frame record, as all do in code that keeps frame pointers: until
 * they return, the frame pointer leads to their caller. */
#pragma once
#include "flow/flow.h"
#include "unwind/recipe.h"

/* Fills in the recipe for the calls in the function at `start`; false if it does not begin so. */
bool prologue_describes(const struct module *m, const struct arch *arch, uint64_t start,
			struct recipe *out);
