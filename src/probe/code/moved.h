/* Which fragment a place in code memory belongs to. */
#pragma once
#include "probe/code/codespace.h"

struct moved_index *moved_index_new(void);
void moved_index_free(struct moved_index *in);
/* Must be called when fragments were added or removed. */
void moved_code_changed(struct target *t);
/* Where a pc is in code memory. */
struct moved_code {
	const struct fragment *fragment; /* one that is in, or a retired one */
	uint64_t start, bias;
	uint32_t site;
};
bool moved_code_at(const struct target *t, uint64_t pc, struct moved_code *out);
/* Where a thread continues from the island at `pc`, and the site it belongs to; 0: there is no
 * island. The program may not have the site's patches any more: they may be gone with their
 * module. */
uint64_t island_leads_to(const struct target *t, uint64_t pc, uint32_t *site);
/* Converts a pc in moved code to the original one, if it is at the start of a moved instruction. */
bool to_original(const struct target *t, uint64_t *pc, bool *probed);
/* The same, but a pc inside a probe becomes that of the nearest instruction before it. A pc outside
 * of our memory stays as it is. False if it is in the runtime, or in memory that belongs to no
 * fragment any more. */
bool to_nearest_original(const struct target *t, uint64_t *pc);
