/* Fusing contexts with source structure: each node of a profile gets the innermost scope (line,
 * loop, inlined call or function) that contains its address (Tallent et al., PLDI 2009, section 4).
 *
 * Structure is recovered only for functions that were sampled. */
#pragma once
#include "profile/profile.h"

struct flow;
struct structure;

struct fuse_options {
	/* Returns the opened module for a module of the profile, or NULL to have it opened by
	 * its path. The recorder already has the modules open, including those whose files are
	 * gone. */
	struct module *(*module)(void *ctx, uint32_t module);
	/* Returns the module's functions if they are already known, or NULL. May itself be NULL. */
	struct flow *(*flow)(void *ctx, uint32_t module);
	/* Returns the structure of all code that was measured in the module if it already
	 * exists, or NULL. The caller keeps ownership. May itself be NULL. */
	const struct structure *(*structure)(void *ctx, uint32_t module);
	/* Called before the structure of a module is recovered, which may take a while. May be
	 * NULL. */
	void (*recovers)(void *ctx, uint32_t module);
	void *ctx;
};

/* Adds scopes for all nodes and counters that have none.
 *
 * The counters of a loop get the innermost source loop that begins at its header, or none if there
 * is no such loop; the counters of a function get their function.
 *
 * A module whose file is missing or is not the recorded one (the build id differs or, without build
 * ids, size or time) cannot be analysed: its nodes get function scopes named by address, and
 * profile_module.problem says why and what to do.
 *
 * Code in no module becomes one function of a module that is added for it. `o` may be NULL. */
void profile_fuse(struct profile *p, const struct fuse_options *o);
