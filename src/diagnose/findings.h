/* From the search's history to what is worth telling. Files: findings.c chooses, words.c says it,
 * steps.c what to do. */
#pragma once
#include "diagnose/inside.h"
#include "diagnose/names.h"

/* A true experiment that is worth telling. */
struct candidate {
	uint8_t hypothesis;
	uint32_t experiment;
	uint32_t part;   /* of the code; CODE: none in particular */
	uint32_t object; /* that is waited for; LEDGER_NONE: none in particular */
	double share;    /* of the run */
	double seconds;  /* of samples */
	uint32_t chain;  /* the heaviest one through the part; UINT32_MAX: none */
	bool spread;     /* no part of it stands out, though parts of it are other candidates */
	bool local;      /* of one process or thread, and of its time: not of the whole */
};

typedef VEC(struct candidate) candidate_list;

struct telling {
	struct diagnosis *d;
	struct names *names;
	candidate_list list; /* the most important first */
};

/* Whether a chain goes through a part. */
bool chain_has(const struct diagnosis *d, const struct chain *c, uint32_t part);
/* The share of the run that samples of a class are, if these seconds of them are. */
double share_of_run(const struct diagnosis *d, enum hypothesis_id h, double seconds);

/* The true experiment of this kind at this focus, if there is one; or EXPERIMENT_NONE. */
uint32_t find_true(const struct diagnosis *d, enum hypothesis_id h, const struct focus *f);

/* words.c */
void words_of(struct telling *t, uint32_t candidate);
/* The whole, without findings. */
void words_of_nothing(struct telling *t);
/* What limits what was found. */
void words_of_search(struct telling *t);
void __attribute__((format(printf, 4, 5)))
remark(struct telling *t, uint32_t finding, const char *kind, const char *fmt, ...);

/* steps.c: at most three. */
void add_steps(struct telling *t);
