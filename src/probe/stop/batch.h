/* Carrying out a batch: everything that was added and removed. */
#pragma once
#include "probe/code/plan.h"

/* Carries out the batch in one stop of the target. If the target is stopped already, it stays
 * so. */
int batch_commit(struct target *t, struct batch_result *result, struct err *e);
