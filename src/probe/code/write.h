/* Takes patches out of the stopped program, and puts them in. */
#pragma once
#include "probe/code/codespace.h"

/* Takes out all patches of these sites. A site with a patch that cannot be taken out is `stuck`. */
void patches_undo(struct target *t, const uint32_t *sites, uint32_t count);
/* Puts in the patches of these sites. A site whose memory cannot be written is `unwritable`. */
void patches_put(struct target *t, const uint32_t *sites, uint32_t count);
