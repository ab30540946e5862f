/* The probes of a function while its fragment is planned; shared by the files that plan. */
#pragma once
#include "counters/code.h"
#include "flow/liveness.h"
#include "flow/loops.h"
#include "probe/code/codespace.h"

struct site_plan {
	struct arena *a, *tmp; /* the plan is in `a`; `tmp` is scratch */
	const struct cfg *cfg;
	struct loop_forest forest;
	struct liveness live;
	struct spot_list spots;
	struct counters counters;
	struct counters_probes counting; /* the probes that count it */
	struct counters_numbers numbers;
	/* The owner of a probe is a subject or, from COUNTER_OWNERS on, an owner of
	 * counters/code.h. */
	struct counters_probes probes;
};

enum { COUNTER_OWNERS = 1 << 30 };

static inline bool is_counting(const struct spot_probe *p)
{
	return p->owner >= COUNTER_OWNERS;
}
