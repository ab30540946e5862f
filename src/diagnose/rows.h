/* The parts of the search as rows of the profile's resources. */
#pragma once
#include "diagnose/inside.h"

struct rows {
	struct diagnosis *d;
	struct finding_names *names;
	uint32_t *of; /* resource of the profile, by part; PROFILE_NONE: none yet */
	struct hashmap files;
};

/* Returns the row of a part. If there is none, it is added, with all parts above it. */
uint32_t rows_of(struct rows *r, uint32_t part);

/* evidence.c: which chains of samples are kept, and how. */
struct kept_chain {
	uint32_t chain; /* in samples.chains: the heaviest of those merged into this one */
	double seconds;
	uint32_t samples;
	bool whole; /* it keeps all its parts, because it may be reported as a call path */
};

struct kept_chains {
	uint8_t *true_parts; /* by part: 1 if a true experiment is about it */
	VEC(struct kept_chain) list;
};

void evidence_choose(const struct diagnosis *d, struct kept_chains *out);
void kept_chains_release(struct kept_chains *k);
/* Calls `each` with every part that a kept chain keeps. */
void kept_chain_parts(const struct diagnosis *d, const struct kept_chains *k,
		      const struct kept_chain *c, void (*each)(void *ctx, uint32_t part),
		      void *ctx);
/* Fills the profile's evidence. */
void evidence_write(struct rows *r, const struct kept_chains *k);
