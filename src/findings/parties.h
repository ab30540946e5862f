/* Who waits for whom: processes that wait for answers of others, or at pipes from them, and what
 * those do meanwhile. Processes of one name that a first one of them has started are one party: the
 * workers of a server. */
#pragma once
#include "base/hashmap.h"
#include "profile/profile.h"

struct party {
	int first; /* pid */
	const char *name;
	double computed, waited; /* s of its threads: on CPUs; waiting with work to do */
	uint32_t awaited;        /* what it waited longest for, besides parties; PROFILE_NONE */
	double awaited_seconds;
};

/* One party waits for another. */
struct asking {
	uint32_t from, to; /* parties; `to` may be PROFILE_NONE: it is not in the search */
	uint32_t object;   /* one of those that it waits for */
	double seconds;
};

struct parties {
	VEC(struct party) list;
	VEC(struct asking) askings;
	struct hashmap at; /* pid -> party */
	double stretch;    /* time that a second of CPU time took: others had the CPUs as well */
};

void parties_find(struct parties *s, const struct profile *p);
void parties_release(struct parties *s);

/* Returns the party at the other end of an object; PROFILE_NONE: none of the search. */
uint32_t party_at_end(const struct parties *s, const struct evidence_object *o);
/* Returns true if the object's peer is in the search, and did something for most of the time in
 * which it was waited for: that explains the waiting. */
bool party_explains(const struct parties *s, const struct evidence_object *o);
/* Says who waits for whom, from the party for which nobody waits to the one that everybody waits
 * for: "nginx (12) waits 71 % of its busy time for gunicorn (34), which computes 90 %". `say` adds
 * the name of an object. Adds nothing if no party of the search waits for another one. */
void parties_tell(const struct parties *s, const struct profile *p,
		  void (*say)(void *ctx, uint32_t object, struct text *out), void *ctx,
		  struct text *out);
