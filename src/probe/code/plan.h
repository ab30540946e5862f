/* From subjects to fragments. */
#pragma once
#include "probe/code/codespace.h"

/* Makes `next` of these sites, in code memory of their own. Without anything to probe a site has
 * none. */
int sites_plan(struct target *t, const uint32_t *sites, uint32_t count, struct batch_result *result,
	       struct err *e);
