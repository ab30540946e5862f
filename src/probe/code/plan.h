/* From subjects to fragments. */
#pragma once
#include "probe/code/codespace.h"

/* Makes `next` of these sites, each in code memory of its own. A site without probes gets none. */
int sites_plan(struct target *t, const uint32_t *sites, uint32_t count, struct batch_result *result,
	       struct err *e);
