/* Queries of the evidence of a search. */
#pragma once
#include "base/hashmap.h"
#include "findings/parties.h"
#include "profile/profile.h"
#include "search/hypothesis.h"
#include "search/object.h"

struct known {
	struct profile *p;
	const struct evidence *e;
	struct focus whole;  /* the roots */
	uint8_t *hypothesis; /* of each experiment; HYPOTHESES: an unknown one */
	/* The refinements of experiment i are children[first_child[i]] up to, but without,
	 * children[first_child[i + 1]]. first_amount has the amounts of resources in the same
	 * way. */
	uint32_t *first_child;
	uint32_t *children;
	uint32_t *first_amount;
	uint32_t *name; /* of each resource: its evidence_name, or PROFILE_NONE */
	struct parties parties;
	struct arena arena; /* for strings */
	bool long_names;    /* with template arguments, parameters and results */
	/* Short names of functions, by their hash: the hash of the long one, as shown first. A
	 * second function with the same short name is shown with its long one. */
	struct hashmap shown;
};

/* Returns false if a root is missing in the profile. */
bool known_init(struct known *k, struct profile *p, bool long_names);
void known_release(struct known *k);

/* Runs the body with `a` pointing at each amount of a resource of the code. */
#define amounts_each(a, k, resource)                                                               \
	for (const struct evidence_amount *a = amounts_begin(k, resource),                         \
					  *a##_end = amounts_begin(k, (resource) + 1);             \
	     a < a##_end; a++)
/* Runs the body with `c` pointing at the number of each refinement of an experiment. */
#define children_each(c, k, experiment)                                                            \
	for (const uint32_t *c = (k)->children + (k)->first_child[experiment];                     \
	     c < (k)->children + (k)->first_child[(experiment) + 1]; c++)

static inline const struct evidence_amount *amounts_begin(const struct known *k, uint32_t resource)
{
	return k->e->amounts.data + k->first_amount[resource];
}

/* True if `resource` is `whole`, or below it. */
bool known_within(const struct known *k, uint32_t resource, uint32_t whole);
/* True if an amount belongs to the focus, in the hierarchies that matter to the measure. */
bool known_concerns(const struct known *k, const struct focus *f, enum measure m,
		    const struct evidence_amount *a);
struct focus known_focus(const struct profile_experiment *x);
/* Returns the true experiment of this hypothesis at this focus, or PROFILE_NONE. */
uint32_t known_true(const struct known *k, enum hypothesis_id h, const struct focus *f);

/* True if a chain has this part of the code. */
bool known_passes(const struct known *k, const struct evidence_chain *c, uint32_t part);
/* Returns the seconds that samples through the part represent, for one object or, with
 * PROFILE_NONE, for any. *samples is the number of these samples, *heaviest their heaviest chain,
 * or PROFILE_NONE. */
double known_seconds(const struct known *k, enum hypothesis_id h, uint32_t part, uint32_t object,
		     uint32_t *heaviest, uint64_t *samples);
/* Returns the share of the run that corresponds to these seconds of samples, which are of the class
 * of the hypothesis. */
double known_share(const struct known *k, enum hypothesis_id h, double seconds);
/* Returns the share of thread time in which threads wait for objects of this kind while it is this
 * part of the code that they wait in, or for. */
double known_waited_for(const struct known *k, uint32_t part, enum object_kind kind);
/* Returns how often per second the code of an experiment was entered while it was measured; 0 if
 * that is not known. */
double known_rate(const struct known *k, const struct profile_experiment *x);

/* True if the threads that waited in a part of the code, for the object or for any, have turned out
 * to be idle. It takes a while to find that out, and until then their waiting counts. */
bool known_idle(const struct known *k, uint32_t part, uint32_t object);
/* True if a part of the machine has a thread that is not idle, as far as that is known. */
bool known_worker(const struct known *k, uint32_t machine);

enum object_kind known_kind(const struct known *k, uint32_t object);
/* Returns the number of waits for an object, or operations on it, per second. */
double known_object_rate(const struct known *k, uint32_t object);

/* Returns the function that a part of the code belongs to. */
uint32_t known_function(const struct known *k, uint32_t part);
/* True for a function that has the code of a parallel region. */
bool known_is_region(const struct known *k, uint32_t function);
/* Returns the name of a function as it is shown. */
const char *known_name(struct known *k, const char *function);
/* The name and place of a function or loop. */
struct code_words {
	const char *name;               /* of the function, long */
	const char *function, *chain;   /* as in struct evidence_name, as they are shown */
	const char *file;               /* "" if unknown; without folders */
	uint32_t first_line, last_line; /* 0 if unknown */
	bool loop;
};
struct code_words known_code(struct known *k, uint32_t resource);
/* known_place() says where something is ("multiply, loop at matrix.c:31-34"), known_noun() names
 * the part itself ("the loop at matrix.c:31-34 in multiply"). For a function, both return "multiply
 * (matrix.c:28)". Valid until known_release(). */
const char *known_place(struct known *k, uint32_t resource);
const char *known_noun(struct known *k, uint32_t resource);
/* Returns a path without its folders. */
const char *known_file(const char *path);
