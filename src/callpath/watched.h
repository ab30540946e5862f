/* The processes and threads that are being recorded, and their rows in the profile.
 *
 * A process gets its row when it is first reported, a thread with its first sample: a program may
 * start threads by the thousand, and those that are never sampled take no room in the profile.
 * Processes and threads that have ended are forgotten; their rows stay.
 *
 * A run of a day may have millions of short-lived ones. With `pools`, those that come after the
 * first OWN_ROWS share rows: threads of one process with one name, and processes of one parent with
 * one name. So the profile does not grow with the length of the run. */
#pragma once
#include "base/hashmap.h"
#include "profile/profile.h"
#include "unwind/space.h"

enum { OWN_ROWS = 10000 };

typedef VEC(uint32_t) node_list;

struct watched_process {
	int pid;
	uint32_t row;       /* in the profile */
	uint32_t parent;    /* row, or PROFILE_NONE */
	bool shares_row;    /* with other processes */
	uint32_t live;      /* threads */
	bool named;         /* the row has the name of the program that runs now */
	uint64_t refreshed; /* ns, CLOCK_MONOTONIC: when its maps were last read */
	uint64_t pause;     /* ns before they may be read again */
	bool unsure;        /* reports of mappings may have been lost since */
	struct space *space;
};

struct watched_thread {
	int pid, tid;
	uint32_t row;    /* PROFILE_NONE until its first sample */
	char name[16];   /* empty if not known */
	bool shares_row; /* with other threads */
	/* Nodes of its last complete stack, and of its last partial one, from the root: see
	 * insert_path() in stacks.c. */
	node_list path[2];
};

struct watched {
	struct profile *profile;
	struct codes *codes;
	struct hashmap process_at, thread_at;    /* pid or tid -> index; GONE if it has ended */
	VEC(struct watched_process *) processes; /* NULL: free */
	VEC(struct watched_thread *) threads;
	VEC(uint32_t) free_processes, free_threads;
	uint32_t live; /* threads */
	bool pools;
	struct hashmap process_pools, thread_pools; /* to the rows that are shared */
};

void watched_init(struct watched *w, struct profile *p, struct codes *c);
void watched_release(struct watched *w);

/* The process or thread, added if it is not known. A new process has an empty space. */
struct watched_process *watched_process(struct watched *w, int pid);
struct watched_thread *watched_thread(struct watched *w, int pid, int tid);

void watched_fork(struct watched *w, int parent, int pid);
void watched_exec(struct watched *w, int pid);
void watched_name(struct watched *w, int pid, int tid, const char *name);
/* Reports were lost, perhaps of mappings. */
void watched_lost(struct watched *w);
/* Reads the current name of a process. */
void watched_name_process(struct watched *w, int pid);
/* Returns true if it was the last thread of its process. */
bool watched_exit(struct watched *w, int tid);

/* Whether none of the processes exists any more, even if their ends were not reported. */
bool watched_is_over(const struct watched *w);

/* The thread's row, added now if it has none. */
uint32_t watched_row(struct watched *w, struct watched_thread *t);
