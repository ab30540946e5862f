/* Call paths into the profile. Consecutive samples of a thread have most of their callers in
 * common: each thread keeps the nodes of its last path, and only what differs is looked up. So a
 * recursion of 100,000 calls costs a comparison for each, not a search. */
#pragma once
#include "record/watched.h"
#include "unwind/walk.h"

/* Images of the profile and the codes they come from. */
struct images {
	struct profile *profile;
	VEC(uint32_t) of_code;    /* by the code's id; PROFILE_NONE if not in the profile */
	VEC(struct code *) codes; /* by image */
};

void images_init(struct images *i, struct profile *p);
void images_release(struct images *i);

/* The image of a code in the profile, added if it is new; PROFILE_NONE for NULL. */
uint32_t images_find(struct images *i, struct code *c);

/* The node of the innermost frame. */
uint32_t insert_path(struct images *i, struct watched_thread *t, const struct walk *w);
