/* Kinds of what threads wait for: synchronisation objects and files. */
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
	OBJECT_FUTEX, /* none of these, or not known yet */
	OBJECT_FILE,
	OBJECT_PIPE,
	OBJECT_SOCKET,
	OBJECT_DEVICE,
	OBJECT_OTHER,
	OBJECT_KINDS,
};

/* Who waits has nothing to do, if others have something to do meanwhile. */
enum idleness {
	IDLE_NEVER,
	IDLE_BESIDE, /* others of the same process: it waits for their work */
	IDLE_ALWAYS, /* others of any process */
};

struct object_kind_row {
	const char *name;
	uint8_t hierarchy; /* SYNC or FILES */
	uint8_t idles;     /* enum idleness of who waits for it for long */
	bool joins;        /* it ends when a thread or process does */
};
extern const struct object_kind_row object_kinds[OBJECT_KINDS];

/* OBJECT_OTHER if there is none of the name. */
enum object_kind object_kind_named(const char *name);
