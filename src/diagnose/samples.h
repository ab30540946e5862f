/* Call stacks. They are taken by perf while the program runs or, where perf is not permitted, by
 * stopping the program; and in every stop for a change of probes. They become the profile that
 * reports are made from, samples for the search, and amounts of what probes cannot measure. */
#pragma once
#include "callpath/sink.h"
#include "diagnose/allocation.h"
#include "diagnose/commands.h"
#include "diagnose/spinning.h"
#include "diagnose/teams.h"
#include "diagnose/wait_function.h"
#include "search/search.h"

/* Where the thread that holds a contended lock was. */
struct lock_holder {
	uint32_t object, thread;
	uint32_t node;  /* of the profile: its innermost frame */
	double seconds; /* for which others were seen waiting at the same time */
};

/* All samples with the same parts of the search on the stack, and the same object. */
struct chain {
	uint32_t first, length; /* parts, outermost first, in samples.parts */
	uint32_t object;        /* LEDGER_NONE: the thread ran */
	uint32_t node;          /* of the profile: the node of one of its samples */
	uint8_t class;          /* enum sample_class */
	double seconds;
	uint32_t count;
};

/* Where a thread was last seen. */
struct last_place {
	uint32_t node;
	uint32_t object; /* that it waited for; LEDGER_NONE: it ran */
	double time;
};

/* What has happened to a process, as the sampler reports it. */
struct process_news {
	enum process_happening what;
	int pid;
};

struct samples {
	struct engine *engine;
	struct search *search;
	struct code_parts *code;
	struct machine *machine;
	struct commands *commands;
	struct waits *waits;
	struct ledger *ledger;
	struct sink *sink;
	struct sampler *sampler; /* NULL: perf is not permitted */
	uint32_t metric;         /* of the profile: CPU time */
	resource_list chain;     /* of the current sample */
	VEC(struct chain) chains;
	resource_list parts;
	struct hashmap chain_at;
	double seconds[SAMPLE_CLASSES]; /* of all samples that count, also those without a chain */
	double spun;                    /* s of CPU time in samples of threads that spin */
	VEC(uint32_t) stamps;           /* by part: the last sample that had it */
	uint32_t stamp;
	VEC(struct last_place) last; /* by thread */
	VEC(struct lock_holder) holders;
	struct hashmap holder_at;
	struct wait_functions wait_functions;
	struct allocations allocations;
	struct spin_objects spinning;
	struct teams teams;
	struct team_place place;   /* of the current sample */
	bool serial;               /* of it: others of the team wait for the thread */
	const struct frame *entry; /* of it: by which the program has called the runtime last */
	const char *allocator; /* of it: the allocator's function that the program has called, or
				  NULL */
	struct hashmap ran;    /* tid -> ms of CPU time, when it was last looked at */
	double looked;         /* s: when the program was last looked at */
	VEC(struct process_news) news; /* not handled yet */
};

void samples_init(struct samples *s, struct engine *g);
/* Opens perf. *note says why that is not permitted, or what perf cannot measure here. */
void samples_open(struct samples *s, unsigned hz, char *note, size_t size);
void samples_release(struct samples *s);

/* Processes the samples that are available. */
void samples_take(struct samples *s);
/* Without a sampler: stops the program to read its call stacks, if that is due. */
void samples_look(struct samples *s, double now);
/* Processes the stacks from stops since the last call. */
void samples_take_walks(struct samples *s);
void samples_finish(struct samples *s);
