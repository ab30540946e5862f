/* A profile with something in every table, and whether two profiles are the same. Tests include
 * <cmocka.h> first. */
#pragma once
#include "profile/profile.h"

void fill_profile(struct profile *p);
/* What is added when recording has ended. */
void add_scopes(struct profile *p);
uint32_t add_resource(struct profile *p, uint32_t parent, uint8_t hierarchy, uint8_t kind,
		      const char *name);
void add_experiment(struct profile *p, const char *hypothesis, uint32_t code, uint8_t state);

/* A fact, or "". */
const char *fact_of(const struct profile *p, const char *name);
/* Compares everything, in whatever order it is where that does not matter. */
void assert_same_profile(const struct profile *a, const struct profile *b);
