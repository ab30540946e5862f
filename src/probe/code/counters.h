/* Probes that count whole functions. */
#pragma once
#include "probe/code/site_plan.h"

/* Numbers the loops of counted functions at these sites. Must be called before the other
 * functions. */
void counters_number_loops(struct target *t, const uint32_t *sites, uint32_t count);
/* Decides what to count in the site's function, if it is to be counted, and how. Any thread may
 * call it. */
void counters_study(struct target *t, struct site_plan *p, const struct site *site);
/* See struct fragment_request; `plan` is a struct site_plan. */
struct emit_probe counters_recover_at(const void *plan, uint32_t distance, struct arena *a);
/* Adds the probes that counters_study() has decided on. */
void counters_add_probes(struct target *t, struct site_plan *p, const struct site *site);
/* After an attempt to make the fragment: decides what to do without, if probes of counters were
 * refused. Returns whether to try again. */
bool counters_gives_up(struct target *t, const struct site_plan *p, struct site *site);
/* Makes the plan again that a counted site's probes were made by. */
bool counters_of_site(struct target *t, const struct site *site, struct arena *a,
		      struct counters *out);
/* Publishes the function in the runtime's tables. */
void counters_publish(struct target *t, const struct site_plan *p, const struct site *site);
