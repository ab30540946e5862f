/* Carrying out what was added and removed. */
#pragma once
#include "probe/code/plan.h"

/* Stops the target once, if it is not stopped already. */
int batch_commit(struct target *t, struct batch_result *result, struct err *e);
