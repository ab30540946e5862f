/* The search history graph: which experiments led to which. It may have circles, because programs
 * recurse, and experiments with several parents. */
#pragma once
#include "profile/profile.h"

struct lineage {
	/* Of experiment i: from children[child_at[i]] up to children[child_at[i + 1]], in order:
	 * true ones first, larger before smaller, what was not tested last. */
	uint32_t *child_at, *children;
	uint32_t *parent_at, *parents; /* in the same way, by number */
	uint32_t *tops, top_count;     /* all others are below these, by hypothesis and in order */
	bool *leads; /* to an experiment, or is one, that is true or was measured in vain */
};

void lineage_build(struct lineage *h, const struct profile *p);
void lineage_release(struct lineage *h);

static inline uint32_t lineage_children(const struct lineage *h, uint32_t experiment)
{
	return h->child_at[experiment + 1] - h->child_at[experiment];
}

static inline uint32_t lineage_parents(const struct lineage *h, uint32_t experiment)
{
	return h->parent_at[experiment + 1] - h->parent_at[experiment];
}

/* It was never measured. */
static inline bool experiment_is_untested(const struct profile_experiment *x)
{
	return x->state != PROFILE_TRUE && x->state != PROFILE_FALSE && x->begun < 0;
}
