/* The code in a process's address space, and how to unwind it.
 *
 * A `struct code` is a module with its functions and recipes. One file is one code, however many
 * processes map it and however often (struct codes holds them all and finds them by device, inode
 * and modification time, the vdso by its bytes). A `struct space` is one process's map from
 * run-time pc to code and va. A file is opened when a pc in it is first looked up. */
#pragma once
#include "process/maps.h"
#include "unwind/recipes.h"

struct links;
struct file_identity;

struct code {
	uint32_t id;           /* index in struct codes */
	const char *path;      /* as the process sees it; "[vdso]" */
	struct module *module; /* NULL if the file could not be read; `problem` says why */
	struct flow *flow;
	struct recipes *recipes;
	struct links *links; /* checks its calls */
	const struct arch *arch;
	const char *problem;
	const struct file_identity *identity; /* of the file as it was opened; NULL for the vdso */
	enum { RECORDS_NOT_ASKED, RECORDS_KEPT, RECORDS_NOT_KEPT } records; /* see records.h */
	bool deleted;   /* the file was deleted or replaced */
	bool generated; /* the file is not a module: shared memory with JIT-compiled code */
};

struct codes;

struct codes *codes_new(const struct recipes_options *options);
void codes_free(struct codes *c);
uint32_t codes_count(const struct codes *c);
struct code *codes_get(struct codes *c, uint32_t id);

/* One executable mapping, from a perf MMAP2 record or a line of a maps file. */
struct mapping {
	uint64_t start, end; /* pc */
	uint64_t offset;     /* file offset of `start` */
	uint32_t device_major, device_minor;
	uint64_t inode;
	const char *path; /* or "[vdso]"; without a file (JIT-compiled code) the inode is 0 */
};

struct space;

struct space *space_new(struct codes *c, int pid);
/* A copy for the child after a fork. The codes are shared. */
struct space *space_copy(const struct space *s, int pid);
void space_free(struct space *s);

/* Adds a mapping, which replaces whatever it overlaps. */
void space_map(struct space *s, const struct mapping *m);
/* Removes all mappings: the process executes another program. */
void space_clear(struct space *s);
/* Reads /proc/PID/maps again. Codes that are already open are kept. */
int space_refresh(struct space *s, struct err *e);
/* Reads it, and adds only mappings in places where the space has none. To be used while mappings
 * are reported (space_map()) of an earlier time: those read may be newer than what is looked up,
 * and have replaced what was there then. */
int space_complete(struct space *s, struct err *e);
/* space_refresh() with the text of that file (maps_line.h). */
void space_refresh_by(struct space *s, const char *maps_text);

/* A place in a process's code. */
struct place {
	struct code *code; /* NULL: no module there */
	uint64_t va;
	bool anonymous; /* executable memory without a file: JIT-compiled code */
};

/* A serial number that changes whenever some pc gets another meaning, and that no other space ever
 * has. While it is unchanged, earlier results are still valid. New mappings in free places do not
 * change it. */
uint64_t space_serial(const struct space *s);

/* Whether the process still has at this pc what the space says. `fd` is from maps_query_open(). */
enum maps_answer space_verify(struct space *s, int fd, uint64_t pc);

/* Looks up a pc, without reading the maps again. */
struct place space_find(struct space *s, uint64_t pc);

/* Visits each module that is mapped, with the difference between its run-time addresses and its
 * own. Opens all files that are not open yet. */
typedef void (*code_visitor)(void *ctx, struct code *code, uint64_t bias);
void space_codes(struct space *s, code_visitor visit, void *ctx);

/* Whether all mapped code keeps frame records. Opens all files that are not open yet. */
bool space_keeps_records(struct space *s);
