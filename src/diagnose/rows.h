/* Parts of the search as rows of the profile's resources. */
#pragma once
#include "diagnose/inside.h"

struct rows {
	struct diagnosis *d;
	struct names *names;
	uint32_t *of; /* resource of the profile, by part; PROFILE_NONE: none yet */
	struct hashmap files;
};

/* The row of a part, with all that is above it; made if there is none. */
uint32_t rows_of(struct rows *r, uint32_t part);

/* evidence.c: which chains of samples are kept, and how. */
struct kept_chain {
	uint32_t chain; /* of the samples: the heaviest of those that it stands for */
	double seconds;
	uint32_t samples;
	bool whole; /* with all its parts, because it may be told */
};

struct kept_chains {
	uint8_t *told; /* by part: it is in a true experiment */
	VEC(struct kept_chain) list;
};

void evidence_choose(const struct diagnosis *d, struct kept_chains *out);
void kept_chains_release(struct kept_chains *k);
/* Calls `each` with every part of a kept chain that is kept. */
void kept_chain_parts(const struct diagnosis *d, const struct kept_chains *k,
		      const struct kept_chain *c, void (*each)(void *ctx, uint32_t part),
		      void *ctx);
/* Fills the profile's evidence. */
void evidence_write(struct rows *r, const struct kept_chains *k);
