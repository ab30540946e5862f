/* The child of a fork. */
#pragma once
#include "probe/engine/lineage.h"

/* It gets what its parent had, with values of its own. */
void target_inherit(struct target *child, struct target *parent, int tid);
/* It is left alone for now, with what is in its memory; false if it has to inherit at once. */
bool target_inherit_later(struct target *child, struct target *parent);
/* A child that was left alone, stopped now, gets what it has; all is to go with its next batch. */
int target_inherit_now(struct target *child, struct err *e);
