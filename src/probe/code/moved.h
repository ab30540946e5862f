/* Which fragment a place in code memory belongs to. */
#pragma once
#include "probe/code/codespace.h"

struct moved_index *moved_index_new(void);
void moved_index_free(struct moved_index *in);
/* Fragments have come or gone. */
void moved_code_changed(struct target *t);
/* Where in code memory a pc is. */
struct moved_code {
	const struct fragment *fragment; /* that is in, or a retired one */
	uint64_t start, bias;
	uint32_t site;
};
bool moved_code_at(const struct target *t, uint64_t pc, struct moved_code *out);
/* Where a thread goes on from the island at `pc`, and whose that is; 0: there is none. It is not
 * known whether the program has the site's patches: they may have gone with their image. */
uint64_t island_leads_to(const struct target *t, uint64_t pc, uint32_t *site);
/* Makes a pc in moved code the original one, if it is at the start of a moved instruction. */
bool to_original(const struct target *t, uint64_t *pc, bool *probed);
/* The same for a pc in a probe: of the nearest instruction before it. Others stay what they are.
 * False if it is in the runtime, or in memory that no fragment has any more. */
bool to_nearest_original(const struct target *t, uint64_t *pc);
