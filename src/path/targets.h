/* What session.c and hot.c share: which functions are in which process. */
#pragma once
#include "path/session.h"

/* A function in one process. */
struct inserted {
	uint32_t subject, function;
	struct selected what; /* its names are not kept */
	bool active;
};

/* A process under study. */
struct path_target {
	struct target *target;
	uint32_t generation;
	int pid;
	VEC(struct inserted) in;
	VEC(uint32_t) function_of; /* subject -> function, or PROFILE_NONE */
};

/* What the user asked for. */
struct path_word {
	const char *text; /* of the profile's arena */
	bool found;       /* at some time, in some process */
	bool removed;
};

/* The cost since it was last compared with the limit. */
struct cost_window {
	struct path_cost cost;
	uint64_t begin;      /* ns */
	bool first;          /* after probes went in */
	VEC(uint64_t) calls; /* of each function when it began */
};

struct path_private {
	VEC(struct path_target) targets;
	VEC(struct path_word) words;
	uint32_t generations;
	struct cost_window window;
	uint64_t next_read; /* ns */
	bool asked;         /* the user names a function at this moment */
};

/* hot.c: which functions cost more to measure than the user allows. */
struct too_hot {
	uint32_t function;
	char reason[400];
};
void hot_begin(struct path_session *s, bool first);
/* Adds what was spent since the last call. */
void hot_measure(struct path_session *s);
/* Whether it is time to look; and whether there is enough to judge by. */
bool hot_is_due(const struct path_session *s);
bool hot_is_measured(struct path_session *s);
/* What measuring takes of the run time. */
double hot_share(const struct path_session *s);
/* The function that costs most, and its part of `share`; 0: none does. */
double hot_find(struct path_session *s, double share, struct too_hot *out);
