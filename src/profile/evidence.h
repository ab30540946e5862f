/* What the findings of a search are made of: plain rows, with names for people, that refer to the
 * resources, experiments and nodes of the same profile. Findings, their words and the next steps
 * are a function of these and nothing else (findings/findings.h), so they can be made again from
 * any file, and tested without a program. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* Samples by what the thread did; the order is that of search/hypothesis.h. */
enum { EVIDENCE_CLASSES = 3 };

/* Of the whole run; s. */
struct evidence_run {
	double seconds; /* that it was searched */
	/* What shares are of: time that passed, the same or time on processors where that is more,
	 * time of all threads that count. Without what others had the processors for. */
	double time, cpu, threads;
	double ran, ready;                /* of all threads: on a processor, and waiting for one */
	double sampled[EVIDENCE_CLASSES]; /* what all samples stand for */
	uint32_t cpus;                    /* of the machine */
	uint64_t ignored;                 /* threads and objects that came and went too fast */
	bool calls_sampled; /* there were too many system calls to watch: samples tell the time */
};

/* A procedure or loop in words, beside what its resource has. */
struct evidence_name {
	uint32_t resource;
	const char *procedure; /* the innermost around it, inlined ones included */
	const char *chain;     /* "main > relax": the machine's procedure and inlined calls in it */
};

struct evidence_thread {
	uint32_t resource; /* its own, or that of all short-lived ones of a process */
	int tid;           /* 0: stands for several */
	const char *name;
	double cpu;  /* s on a processor */
	double idle; /* s for which it did not count, less those for which it did */
};

/* What threads wait for. */
struct evidence_object {
	const char *kind;  /* a name of search/object.h */
	const char *name;  /* "queue_lock", "0x55e0d9aedeb0 made in open_account (bank.c:31)" */
	uint32_t resource; /* PROFILE_NONE: it took no noticeable time */
	uint64_t count, bytes;
	double seconds; /* of all threads, counted or not */
	double rate;    /* a second, where it was not counted to the end; else 0 */
};

/* Samples with the same code on the stack. Of code that is neither innermost nor in a true
 * experiment, only chains that findings may tell have all. */
struct evidence_chain {
	uint32_t first, length; /* in evidence.parts: resources, outermost first; at least one */
	uint32_t object;        /* PROFILE_NONE: none */
	uint32_t node;          /* of the profile: one of those that it stands for */
	uint8_t class;          /* what the threads did */
	double seconds;
	uint32_t samples;
};

/* What was measured of code that is in a true experiment, or of all (the root), by thread and
 * object; s. */
struct evidence_amount {
	uint32_t resource; /* these do not fall from row to row */
	uint32_t thread;
	uint32_t object; /* PROFILE_NONE: none */
	double cpu, wait;
	double calls; /* how often it began */
	double seen_cpu, seen_wait;
};

/* Where a thread was while others waited for what it held. */
struct evidence_holder {
	uint32_t object, thread, node;
	double seconds;
};

/* Iterations of a loop that is entered often, counted for a moment. */
struct evidence_trip {
	uint32_t resource;
	double seconds;
	uint64_t entries, iterations;
};

struct evidence {
	struct evidence_run run; /* seconds 0: there is no evidence */
	VEC(struct evidence_name) names;
	VEC(struct evidence_thread) threads;
	VEC(struct evidence_object) objects;
	VEC(struct evidence_chain) chains;
	VEC(uint32_t) parts;
	VEC(struct evidence_amount) amounts;
	VEC(struct evidence_holder) holders;
	VEC(struct evidence_trip) trips;
};

struct profile;

static inline bool evidence_exists(const struct evidence *e)
{
	return e->run.seconds > 0;
}

void evidence_release(struct evidence *e);
/* Forgets all rows. */
void evidence_clear(struct evidence *e);
/* Whether all references lead somewhere and all numbers are some, of a profile read from a file. */
bool evidence_is_sound(const struct profile *p);
