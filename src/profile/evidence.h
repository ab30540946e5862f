/* The input of the findings of a search: plain rows, with names for people, that refer to the
 * resources, experiments and nodes of the same profile. Findings, their wording and the next
 * steps are a function of these rows only (findings/findings.h). So they can be derived again
 * from any file, and tested without a program. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* Classes of samples: what the thread did. In the order of enum sample_class,
 * search/hypothesis.h. */
enum { EVIDENCE_CLASSES = 5 };

/* The whole run. Times are in seconds. */
struct evidence_run {
	double seconds; /* duration of the search */
	/* The bases of shares: elapsed time; elapsed time or, if more, CPU time; time of all
	 * threads that count. Time in which other programs had the CPUs is left out, and so is
	 * `idle`: time in which nothing was done, because nobody brought work. */
	double time, cpu, threads;
	double idle;
	double ran, ready; /* of all threads: on a CPU; runnable, waiting for a CPU */
	double sampled[EVIDENCE_CLASSES]; /* time that all samples of a class represent */
	double spun;        /* of samples of CPU time: threads spin, which is waiting */
	uint32_t cpus;      /* CPUs of the machine */
	uint64_t ignored;   /* threads and objects too short-lived to examine individually */
	bool calls_sampled; /* the time in system calls was measured by samples, not by probes */
};

/* Names of a function or loop for people, in addition to those of its resource. */
struct evidence_name {
	uint32_t resource;
	const char *function; /* the innermost function around it, inlined ones included */
	const char *chain;    /* "main > relax": the function of the machine code, then the inlined
				 calls in it */
};

struct evidence_thread {
	uint32_t resource; /* its own, or the one shared by all short-lived threads of a process */
	int tid;           /* 0: the row stands for several threads */
	const char *name;
	double cpu;  /* s on a CPU */
	double idle; /* s for which it was considered idle, minus s for which it was not */
};

/* An object that threads wait for. */
struct evidence_object {
	const char *kind;  /* a name of search/object.h */
	const char *name;  /* "queue_lock", "0x55e0d9aedeb0 made in open_account (bank.c:31)" */
	uint32_t resource; /* PROFILE_NONE: waiting for it took negligible time */
	uint64_t count, bytes;
	double seconds;   /* waits of all threads, idle ones included */
	double rate;      /* operations per second, while they were counted; 0: in all of the run */
	const char *peer; /* name of the process at the other end; "" if that is not known */
	int peer_pid, peer_root; /* its ancestors of the same name included: the first of them */
};

/* Samples with the same code on the stack. Most chains keep only their innermost part and the
 * parts that are in true experiments; chains that findings may print keep all parts. */
struct evidence_chain {
	/* A range of evidence.parts: resources, outermost first; at least one. */
	uint32_t first, length;
	uint32_t object; /* PROFILE_NONE: none */
	uint32_t node;   /* one of the profile's nodes that the chain represents */
	uint8_t class;   /* what the threads did (EVIDENCE_CLASSES) */
	double seconds;
	uint32_t samples;
};

/* Measured times, in seconds, of code that is in a true experiment, or of all code (the root
 * resource), by thread and object. */
struct evidence_amount {
	uint32_t resource; /* rows are sorted by it, ascending */
	uint32_t thread;
	uint32_t object; /* PROFILE_NONE: none */
	double cpu, wait;
	double calls; /* number of calls or loop entries */
	double seen_cpu, seen_wait;
	double asked; /* waiting for another process, also while the thread was idle */
};

/* Where a lock holder was while other threads waited for the lock. */
struct evidence_holder {
	uint32_t object, thread, node;
	double seconds;
};

/* Iterations of a loop that is entered often, counted for a short time. */
struct evidence_trip {
	uint32_t resource;
	double seconds;
	uint64_t entries, iterations;
};

/* The processes that execute one command. */
struct evidence_command {
	const char *name;     /* "cc1" */
	uint32_t processes;   /* that began during the search */
	double cpu;           /* s */
	double wall;          /* s of all of them */
	double longest;       /* s of the one that ran longest, */
	const char *argument; /* and what tells it apart: "parser.c"; empty if not known */
	double first, last;   /* s of the search: start of the first, end of the last */
	double alone;   /* s for which one process worked, while all others waited for children */
	double closing; /* of that, since several worked for the last time */
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
	VEC(struct evidence_command) commands;
};

struct profile;

static inline bool evidence_exists(const struct evidence *e)
{
	return e->run.seconds > 0;
}

void evidence_release(struct evidence *e);
/* Removes all rows. */
void evidence_clear(struct evidence *e);
/* True if all references are in range and all numbers are finite, and not negative where they
 * must not be. For profiles read from a file. */
bool evidence_is_sound(const struct profile *p);
