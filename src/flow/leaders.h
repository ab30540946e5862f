/* Finds the leaders of a function without following its control flow: targets of branches,
 * instructions after ones that do not fall through, and landing instructions. */
#pragma once
#include "flow/build.h"

/* A set of addresses of instructions in env->ranges[0]. */
struct place_set {
	uint64_t start, end;
	unsigned align;
	uint8_t *bits;
};

struct place_set places_none(const struct build_env *env, struct arena *a);
bool places_has(const struct place_set *p, uint64_t va);
/* True if va was not in the set; false also if it lies outside the range. */
bool places_add(const struct place_set *p, uint64_t va);

struct place_set leaders_find(const struct build_env *env, struct arena *a);
