/* Candidates become findings and remarks of the profile. */
#pragma once
#include "findings/candidates.h"

struct telling {
	struct known *k;
	candidate_list list; /* the most important first */
};

/* Adds a remark about a finding, or, with PROFILE_NONE, about the whole. */
void __attribute__((format(printf, 4, 5)))
remark(struct telling *t, uint32_t finding, const char *kind, const char *fmt, ...);

/* words.c */
void words_of(struct telling *t, uint32_t candidate);
/* The whole, without findings. */
void words_of_nothing(struct telling *t);
/* What limits what was found. */
void words_of_search(struct telling *t);

/* steps.c: what to do next. */
void steps_add(struct telling *t);
