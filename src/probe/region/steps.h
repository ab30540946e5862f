/* Recipes as the runtime reads them: how to get from a return address to the caller's frame. */
#pragma once
#include "probe/region/target.h"

/* The step from the frame of a function that is stopped at va. */
uint64_t step_at(struct target *t, struct code *code, uint64_t va);
/* Adds the steps of all frames of a walk to the runtime's table. */
void steps_learn(struct target *t, const struct walk *w);
/* Makes the runtime forget all steps, because modules were mapped or unmapped: new paths are walked
 * by us again. */
void steps_forget(struct target *t);
