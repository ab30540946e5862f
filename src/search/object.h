/* The kinds of objects that threads wait for: synchronisation objects and files. */
#pragma once
#include "search/resource.h"

enum object_kind {
	OBJECT_MUTEX,
	OBJECT_RWLOCK,
	OBJECT_LOCK, /* of a program's own lock manager, by the function that waits */
	OBJECT_CONDITION,
	OBJECT_BARRIER,
	OBJECT_SEMAPHORE,
	OBJECT_JOIN,
	OBJECT_SPIN,
	OBJECT_VARIABLE, /* that a loop reads until another thread changes it */
	OBJECT_OPENMP,
	OBJECT_SERIAL, /* what one thread runs between parallel regions */
	OBJECT_MESSAGE,
	OBJECT_GPU, /* by the function of the runtime that waits for it, or copies */
	OBJECT_PROCESS,
	OBJECT_SLEEP,
	OBJECT_SIGNAL,
	OBJECT_EVENT,  /* a descriptor by which others wake a thread: eventfd, signalfd, ... */
	OBJECT_PARKED, /* the thread has nothing to run: a runtime (Go) runs others instead */
	OBJECT_FUTEX,  /* none of the above, or not known yet */
	OBJECT_FILE,
	OBJECT_PIPE,
	OBJECT_SOCKET,
	OBJECT_CONNECTION, /* that the process has opened, by its peer */
	OBJECT_ANSWER,     /* on such a connection, to what it has asked there */
	OBJECT_REQUESTS,   /* on connections that the process has accepted, or will */
	OBJECT_INPUT,      /* from a terminal */
	OBJECT_DEVICE,
	OBJECT_OTHER,
	/* What a thread has others do: the kernel, by a system call or page faults; or an
	 * allocator. */
	OBJECT_CALL,
	OBJECT_KINDS,
};

/* A thread is idle if it has nothing to do while other threads have work. For each kind of object:
 * whether a thread that waits for it long is idle. */
enum idleness {
	IDLE_NEVER,
	IDLE_BESIDE,  /* if threads of the same process have work: it waits for them */
	IDLE_ALWAYS,  /* if threads of any process have work */
	IDLE_ASKING,  /* the same, but not because others wait for work: it has brought them some */
	IDLE_AT_ONCE, /* however long it waits, and whatever others do: it waits for work */
	IDLENESSES,
};

struct object_kind_row {
	const char *name;
	uint8_t hierarchy; /* SYNC or FILES */
	uint8_t idles;     /* enum idleness of a thread that waits for it long */
	bool joins; /* the wait ends when a thread or process ends, or gives the thread work */
};

/* True if waiting for such an object can make the program slow. It does not if the thread has no
 * work, or if what another thread or process does explains it. */
static inline bool object_wait_counts(const struct object_kind_row *k)
{
	return !k->joins && k->idles != IDLE_AT_ONCE;
}

/* True if another process may be at the other end. */
static inline bool object_has_peer(enum object_kind kind)
{
	return kind == OBJECT_PIPE || kind == OBJECT_SOCKET || kind == OBJECT_CONNECTION ||
	       kind == OBJECT_ANSWER;
}

extern const struct object_kind_row object_kinds[OBJECT_KINDS];

/* Returns OBJECT_OTHER if none has this name. */
enum object_kind object_kind_named(const char *name);
