/* Patches, out of the stopped program and into it. */
#pragma once
#include "probe/code/codespace.h"

/* All patches of these sites. Those that do not go out are `stuck`. */
void patches_undo(struct target *t, const uint32_t *sites, uint32_t count);
/* Sites whose memory could not be written are marked. */
void patches_put(struct target *t, const uint32_t *sites, uint32_t count);
