/* The kinds of objects that threads wait for: synchronisation objects and files. */
#pragma once
#include "search/resource.h"

enum object_kind {
	OBJECT_MUTEX,
	OBJECT_RWLOCK,
	OBJECT_CONDITION,
	OBJECT_BARRIER,
	OBJECT_SEMAPHORE,
	OBJECT_JOIN,
	OBJECT_SPIN,
	OBJECT_OPENMP,
	OBJECT_MESSAGE,
	OBJECT_PROCESS,
	OBJECT_SLEEP,
	OBJECT_FUTEX, /* none of the above, or not known yet */
	OBJECT_FILE,
	OBJECT_PIPE,
	OBJECT_SOCKET,
	OBJECT_DEVICE,
	OBJECT_OTHER,
	OBJECT_KINDS,
};

/* When a thread that waits for such an object for long is idle: it has nothing to do while others
 * have. */
enum idleness {
	IDLE_NEVER,
	IDLE_BESIDE, /* if threads of the same process have work: it waits for theirs */
	IDLE_ALWAYS, /* if threads of any process have work */
};

struct object_kind_row {
	const char *name;
	uint8_t hierarchy; /* SYNC or FILES */
	uint8_t idles;     /* enum idleness of a thread that waits for it for long */
	bool joins;        /* the wait ends when a thread or process ends */
};
extern const struct object_kind_row object_kinds[OBJECT_KINDS];

/* OBJECT_OTHER if none has this name. */
enum object_kind object_kind_named(const char *name);
