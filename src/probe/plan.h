/* A procedure's probes, on the way to a fragment; shared by the files that plan them. */
#pragma once
#include "flow/liveness.h"
#include "flow/loops.h"
#include "probe/target.h"
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

/* tally.c */
/* Registers that carry nothing into the site's procedure or out of it. */
struct regset private_registers_of(struct engine *g, const struct site *site);
/* Gives the loops of counted procedures among these sites their numbers; before all else. */
void tally_number_loops(struct target *t, const uint32_t *sites, uint32_t count);
/* Decides what to count in the site's procedure, if it is to be counted, and how; on any thread. */
void tally_study(struct target *t, struct site_plan *p, const struct site *site);
/* Adds the probes for that. */
void tally_add_probes(struct target *t, struct site_plan *p, const struct site *site);
/* After an attempt: whether another one is due, with less to count because some of it was refused.
 */
bool tally_gives_up(struct target *t, const struct site_plan *p, struct site *site);
/* The plan that a counted site's probes were made by, again. */
bool tally_of_site(struct target *t, const struct site *site, struct arena *a, struct tally *out);
/* Tells the runtime about the procedure. */
void tally_publish(struct target *t, const struct site_plan *p, const struct site *site);
