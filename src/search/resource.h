/* The parts of a program under study, in four hierarchies. The search knows only the trees; the
 * code that adds a part knows its name and meaning. */
#pragma once
#include <stdbool.h>

#include "base/hashmap.h"
#include "base/vec.h"

enum hierarchy {
	CODE,    /* module, function, loops; refined along the call graph */
	MACHINE, /* host, process, thread */
	SYNC,    /* kinds of synchronisation, and objects of each */
	FILES,   /* what I/O blocks on */
	HIERARCHIES,
};

enum { RESOURCE_NONE = UINT32_MAX };

/* Resource h is the root of hierarchy h, and represents all of it. */
struct resource {
	uint32_t parent; /* RESOURCE_NONE for a root */
	uint8_t hierarchy;
	uint64_t key; /* which of its parent's children it is */
};

struct resources {
	VEC(struct resource) list;
	struct hashmap index; /* hash of parent and key -> number */
};

void resources_init(struct resources *r);
void resources_release(struct resources *r);
/* Returns the child of `parent` with this key; it is added if it is new. */
uint32_t resources_child(struct resources *r, uint32_t parent, uint64_t key);
/* True if `part` is `whole`, or below it. */
bool resources_within(const struct resources *r, uint32_t part, uint32_t whole);

/* One resource of each hierarchy: the part of the run in which all of them take part. */
struct focus {
	uint32_t part[HIERARCHIES];
};

static inline struct focus focus_whole(void)
{
	return (struct focus){{CODE, MACHINE, SYNC, FILES}};
}

typedef VEC(uint32_t) resource_list;
