/* Turns candidates into findings and remarks of the profile. */
#pragma once
#include "findings/candidates.h"

struct wording {
	struct known *k;
	candidate_list list; /* largest share first */
};

/* Adds a remark about a finding or, with PROFILE_NONE, about the whole run. */
void __attribute__((format(printf, 4, 5)))
remark(struct wording *t, uint32_t finding, const char *kind, const char *fmt, ...);

/* Adds an object that threads wait for: "mutex queue_lock". */
void word_object(const struct wording *t, uint32_t object, struct text *out);

/* words.c: adds the finding and its remarks. */
void word_finding(struct wording *t, uint32_t candidate);
/* breakdown.c: adds what the time of the finding is made of, if no part of it has most of it. */
void word_breakdown(struct wording *t, uint32_t finding, const struct candidate *c);
/* The same by object: what threads wait for, what the kernel does, or what allocators do. */
void word_objects(struct wording *t, uint32_t finding, const struct candidate *c);
/* Adds the functions of allocators that a finding is about: "malloc and free". */
void word_allocators(const struct wording *t, const struct candidate *c, struct text *out);
/* Adds the functions that call them, if no part of the finding has most of it. */
void word_callers(struct wording *t, uint32_t finding, const struct candidate *c);
/* Adds the values of the whole run, if there are no findings. */
void word_no_findings(struct wording *t);
/* Adds who waits for whom, if several processes were searched. */
void word_chain(struct wording *t);
/* Adds notes about what limits the findings. */
void word_limits(struct wording *t);

/* commands.c: adds the commands of a program of several processes. */
void word_commands(struct wording *t);
/* True if the program has started so many processes that they are told by command. */
bool runs_commands(const struct evidence *e);

/* steps.c: adds advice on what to do next. */
void steps_add(struct wording *t);
