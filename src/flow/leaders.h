/* Where blocks begin in a procedure, as far as that shows without following its control flow: at
 * targets of branches, behind what does not go on, and at landing instructions. */
#pragma once
#include "flow/build.h"

/* Some of the places where instructions of env->ranges[0] may be. */
struct places {
	uint64_t start, end;
	unsigned align;
	uint8_t *bits;
};

struct places places_none(const struct build_env *env, struct arena *a);
bool places_has(const struct places *p, uint64_t va);
/* Returns true if it is new; false also if it lies outside. */
bool places_add(const struct places *p, uint64_t va);

struct places leaders_find(const struct build_env *env, struct arena *a);
