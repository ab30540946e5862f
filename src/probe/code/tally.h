/* Probes that count whole procedures. */
#pragma once
#include "probe/code/site_plan.h"

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
