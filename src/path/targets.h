/* What session.c and hot.c share: which functions are in which process. */
#pragma once
#include "path/session.h"

/* A function in one process. */
struct inserted {
	uint32_t subject, function;
	struct selected what; /* its strings are no longer valid */
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
	const char *text; /* in the profile's arena */
	bool found;       /* at some time, in some process */
	bool removed;
};

/* The overhead since it was last compared with the limit. */
struct overhead_window {
	struct path_overhead overhead;
	uint64_t begin;      /* ns */
	bool first;          /* the first after probes were inserted */
	VEC(uint64_t) calls; /* of each function when the window began */
};

struct path_private {
	VEC(struct path_target) targets;
	VEC(struct path_word) words;
	uint32_t generations;
	struct overhead_window window;
	uint64_t next_read; /* ns */
	bool asked;         /* the user is naming a function at this moment */
};

/* hot.c: which functions take more overhead than the user allows. */
struct too_hot {
	uint32_t function;
	char reason[400];
};
/* Begins a window. `first`: probes were just inserted. */
void hot_begin(struct path_session *s, bool first);
/* Adds the overhead since the last call. */
void hot_measure(struct path_session *s);
/* Whether it is time to check; and whether there is enough run time to judge by. */
bool hot_is_due(const struct path_session *s);
bool hot_is_measured(struct path_session *s);
/* The overhead as a share of run time. */
double hot_share(const struct path_session *s);
/* The function with the largest overhead, and its part of `share`; 0: there is none. */
double hot_find(struct path_session *s, double share, struct too_hot *out);
