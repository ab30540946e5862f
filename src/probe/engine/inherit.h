/* The child of a fork. */
#pragma once
#include "probe/engine/lineage.h"

/* The child gets what its parent has, with values of its own. */
void target_inherit(struct target *child, struct target *parent, int tid);
/* Leaves the child alone for now: it refers to a snapshot of what is in its memory. False if it has
 * to inherit at once. */
bool target_inherit_later(struct target *child, struct target *parent);
/* Prepares a stopped child that was left alone. All that it has inherited is taken out with its
 * next batch. */
int target_inherit_now(struct target *child, struct err *e);
