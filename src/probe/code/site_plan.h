/* A procedure's probes, on the way to a fragment; shared by the files that plan them. */
#pragma once
#include "flow/liveness.h"
#include "flow/loops.h"
#include "probe/code/codespace.h"
#include "tally/code.h"

struct site_plan {
	struct arena *a, *tmp; /* it is in the one; the other is scratch */
	const struct cfg *cfg;
	struct loop_forest forest;
	struct liveness live;
	struct spot_list spots;
	struct tally tally;
	struct tally_probes counting; /* what counts it */
	struct emit_probe recover;    /* see fragment_request */
	/* Their owners are subjects, or from TALLY_OWNERS on those of tally/code.h. */
	struct tally_probes probes;
};

enum { TALLY_OWNERS = 1 << 30 };

static inline bool is_counting(const struct spot_probe *p)
{
	return p->owner >= TALLY_OWNERS;
}
