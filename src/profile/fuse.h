/* Fusing contexts with source structure: each node of a profile gets the innermost scope (line,
 * loop, inlined call or procedure) of its address (Tallent et al., PLDI 2009, section 4).
 *
 * Structure is recovered for the procedures that were sampled and no others. */
#pragma once
#include "profile/profile.h"

struct flow;
struct structure;

struct fuse_options {
	/* The opened image of a profile's image, or NULL to have it opened by path. The recorder
	 * has them open already, also those whose files are gone. */
	struct image *(*image)(void *ctx, uint32_t image);
	/* Its procedures, if they are known already. NULL: they are not, of any image if the
	 * callback is NULL. */
	struct flow *(*flow)(void *ctx, uint32_t image);
	/* The structure of all that was measured in the image, if there is one already; it stays
	 * the caller's. NULL: there is none, of any image if the callback is NULL. */
	const struct structure *(*structure)(void *ctx, uint32_t image);
	void *ctx;
};

/* Adds scopes for all nodes and tallies without; a tally's is the innermost loop of the source that
 * its header begins, or its procedure. A loop that is not found there stays without. Images that
 * are missing or are not the ones recorded (build id, else size and time differ) are skipped: their
 * nodes get a procedure scope named by address, and profile_image.problem says why and what to do.
 * Code in no image becomes one procedure of an image that is added for it. `o` may be NULL. */
void profile_fuse(struct profile *p, const struct fuse_options *o);
