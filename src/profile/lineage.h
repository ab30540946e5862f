/* The search history graph: which experiments were refined to which. It may have cycles, because
 * programs recurse, and experiments may have several parents. */
#pragma once
#include "profile/profile.h"

struct experiment_tree {
	/* The children of experiment i are children[child_at[i]] up to, excluding,
	 * children[child_at[i + 1]]: true ones first, larger values before smaller ones,
	 * untested ones last. */
	uint32_t *child_at, *children;
	uint32_t *parent_at, *parents; /* likewise, by index */
	uint32_t *tops, top_count; /* experiments above all others, grouped by hypothesis, in the
				      same order */
	bool *leads; /* true for an experiment that is, or leads to, one that is true or was tested
			without a decision */
};

void lineage_build(struct experiment_tree *h, const struct profile *p);
void lineage_release(struct experiment_tree *h);

static inline uint32_t lineage_children(const struct experiment_tree *h, uint32_t experiment)
{
	return h->child_at[experiment + 1] - h->child_at[experiment];
}

static inline uint32_t lineage_parents(const struct experiment_tree *h, uint32_t experiment)
{
	return h->parent_at[experiment + 1] - h->parent_at[experiment];
}

/* True if it was never measured. */
static inline bool experiment_is_untested(const struct profile_experiment *x)
{
	return x->state != PROFILE_TRUE && x->state != PROFILE_FALSE && x->begun < 0;
}
