/* The probes of a function while its fragment is planned; shared by the files that plan. */
#pragma once
#include "flow/liveness.h"
#include "flow/loops.h"
#include "probe/code/codespace.h"
#include "tally/code.h"

struct site_plan {
	struct arena *a, *tmp; /* the plan is in `a`; `tmp` is scratch */
	const struct cfg *cfg;
	struct loop_forest forest;
	struct liveness live;
	struct spot_list spots;
	struct tally tally;
	struct tally_probes counting; /* the probes that count it */
	struct emit_probe recover;    /* see struct fragment_request */
	/* The owner of a probe is a subject or, from TALLY_OWNERS on, an owner of tally/code.h. */
	struct tally_probes probes;
};

enum { TALLY_OWNERS = 1 << 30 };

static inline bool is_counting(const struct spot_probe *p)
{
	return p->owner >= TALLY_OWNERS;
}
