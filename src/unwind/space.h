/* Which code is where in a process, and how to unwind it.
 *
 * A `struct code` is an image with its procedures and recipes; one file is one code, however many
 * processes map it and however often (struct codes holds them all and finds them by device, inode
 * and time of change, the vdso by its bytes). A `struct space` is one process's map from run-time
 * pc to code and va. Files are opened when a pc in them is first asked for. */
#pragma once
#include "process/maps.h"
#include "unwind/recipes.h"

struct links;

struct code {
	uint32_t id;         /* index in its codes */
	const char *path;    /* as the process sees it; "[vdso]" */
	struct image *image; /* NULL if it could not be read: `problem` says why */
	struct flow *flow;
	struct recipes *recipes;
	struct links *links; /* what its calls lead to */
	const struct arch *arch;
	const char *problem;
	enum { RECORDS_NOT_ASKED, RECORDS_KEPT, RECORDS_NOT_KEPT } records; /* see records.h */
	bool deleted;   /* the path no longer leads to it */
	bool generated; /* the file is no image: shared memory with JIT output in it */
};

struct codes;

struct codes *codes_new(const struct recipes_options *options);
void codes_free(struct codes *c);
uint32_t codes_count(const struct codes *c);
struct code *codes_get(struct codes *c, uint32_t id);

/* One executable mapping of a file, as a perf MMAP2 record or a line of a maps file tells it. */
struct mapping {
	uint64_t start, end; /* pc */
	uint64_t offset;     /* in the file, of `start` */
	uint32_t device_major, device_minor;
	uint64_t inode;
	const char *path; /* "[vdso]"; anything that is no file (JIT output) has inode 0 */
};

struct space;

struct space *space_new(struct codes *c, int pid);
/* What a fork gives the child. Codes are shared. */
struct space *space_copy(const struct space *s, int pid);
void space_free(struct space *s);

/* Adds a mapping; what it overlaps is gone from there. */
void space_map(struct space *s, const struct mapping *m);
/* Forgets everything: the process executes another program. */
void space_clear(struct space *s);
/* Reads /proc/PID/maps anew. Codes already opened are kept. */
int space_refresh(struct space *s, struct err *e);

/* A place in a process's code. */
struct place {
	struct code *code; /* NULL: no image there */
	uint64_t va;
	bool anonymous; /* executable memory that is no file: JIT output */
};

/* Changes whenever some pc means something else than before, and is never that of another space:
 * tells whether what was found earlier still holds. That more is found than before changes
 * nothing. */
uint64_t space_serial(const struct space *s);

/* Finds a pc. Does not refresh. */
struct place space_find(struct space *s, uint64_t pc);

/* Whether all code that is mapped keeps frame records. Opens what has not been opened yet. */
bool space_keeps_records(struct space *s);
