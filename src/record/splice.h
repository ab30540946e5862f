/* Finishing a path with the callers that its thread has a moment later. */
#pragma once
#include "unwind/walk.h"

/* `path` ended for lack of memory; `now` is where the same thread stood when it was stopped
 * afterwards. A frame that both have (the same procedure, with the same CFA) is still waiting for
 * its callee, so the callers above it are the same: they are put behind it in `path`, whose end
 * becomes that of `now`. False if there is none. */
bool splice_paths(struct walk *path, const struct walk *now);
