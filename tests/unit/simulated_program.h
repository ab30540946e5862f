/* A program that does not exist, for the search to study: functions and loops that call each
 * other, threads, objects, and what the threads do, as stacks with their shares of time. Time is
 * virtual. The same seed gives the same run. */
#pragma once
#include "search/search.h"

enum { SIMULATED_CHAIN = 96 };

/* What a thread does with a share of its time. */
struct simulated_stack {
	uint8_t class;                   /* enum sample_class */
	uint32_t thread;                 /* resource; or 0: the first one */
	uint32_t object;                 /* resource of SYNC or FILES; or 0: none is known */
	bool small;                      /* of SAMPLE_IO: moves little */
	double share;                    /* of its thread's time */
	double from, until;              /* s: when it does it; until 0: to the end */
	uint32_t chain[SIMULATED_CHAIN]; /* resources, the outermost first */
	uint32_t length;
};

struct simulated_code {
	uint32_t resource, caller; /* the caller: an index, of those that simulation_grow() made */
	double overhead;           /* share of the program's time that probes in it take */
	resource_list parts;
};

struct simulated_probe {
	bool begun, sampled;
	uint8_t hypothesis;
	struct focus focus;
	struct reading reading;
	VEC(uint32_t) stacks; /* those in its focus */
};

struct simulation {
	struct search *search;
	uint64_t random;
	double now, noise;    /* s; standard deviation of a rate that is measured for 1 s */
	double sampled_above; /* cost of probes from which on samples are used instead; 0: never */
	bool unprobed;        /* samples measure everything */
	bool alike;           /* a runtime gives the threads work */
	VEC(struct simulated_code) code;
	VEC(struct simulated_stack) stacks;
	VEC(struct simulated_probe) probes; /* of each experiment */
	VEC(resource_list) children;        /* of each resource, but CODE */
	resource_list threads, entries;
	struct hashmap code_index; /* resource -> code */
	uint32_t host, process;
	uint32_t joining; /* a thread that waits for others to end, which is no time of its own */
	uint32_t asked;   /* times that the parts of a function or loop were asked for */
	uint32_t commits, changes; /* changes: begins and ends */
	uint32_t most_begun;       /* undecided with probes, at one time */
	double most_overhead;      /* lasting longer than a turn */
	uint32_t uncommitted;
};

void simulation_init(struct simulation *p, const struct search_options *o, uint64_t seed);
void simulation_release(struct simulation *p);
uint32_t simulation_random(struct simulation *p, uint32_t below);
double simulation_uniform(struct simulation *p); /* 0 .. 1 */

uint32_t simulation_function(struct simulation *p);
uint32_t simulation_loop(struct simulation *p, uint32_t within);
void simulation_call(struct simulation *p, uint32_t from, uint32_t to);
void simulation_entry(struct simulation *p, uint32_t function);
void simulation_overhead(struct simulation *p, uint32_t code, double share);
uint32_t simulation_thread(struct simulation *p);
uint32_t simulation_object(struct simulation *p, enum hierarchy h, uint64_t kind, uint64_t key);
void simulation_does(struct simulation *p, const struct simulated_stack *x);

/* A random call graph with loops, below one entry. */
void simulation_grow(struct simulation *p, uint32_t functions);
/* The code that leads to the one with this index, the outermost first. */
uint32_t simulation_chain(const struct simulation *p, uint32_t code, uint32_t *chain);

/* Up to this time, a turn each 20 ms. */
void simulation_run(struct simulation *p, double until);
/* What the value of an experiment would be at present, if it was measured without noise. */
double simulation_truth(struct simulation *p, enum hypothesis_id h, const struct focus *f);
