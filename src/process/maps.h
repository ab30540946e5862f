/* The modules mapped into a process, and the one place where run-time addresses ("pc") and
 * link-time addresses ("va") are converted into each other.
 *
 * A mapping says which file offset is at which pc. The module's segments say which va is at which
 * file offset. The load address itself need not be known. A module that is loaded twice (dlmopen)
 * is listed twice. */
#pragma once
#include <sys/stat.h>

#include "base/text.h"
#include "module/module.h"

/* An executable mapping of a file, or of a part of it. */
struct code_mapping {
	uint64_t start, end; /* pc */
	uint64_t offset;     /* in the file, of `start` */
};

struct mapped_module {
	const char *path; /* as the process sees it, which may be in another root; "[vdso]" */
	uint32_t device_major, device_minor;
	uint64_t inode;
	bool deleted; /* the path now leads nowhere, or to another file */
	bool vdso;
	const struct code_mapping *code; /* ascending in pc and in offset */
	uint32_t code_count;
};

struct maps {
	int pid;
	const struct mapped_module *modules; /* in the order of their first code */
	uint32_t module_count;
	const struct maps_index {
		uint64_t start, end; /* pc */
		uint32_t module;
	} * index; /* all code of modules, sorted */
	uint32_t index_count;
	/* Executable memory that belongs to no module, such as JIT-compiled code. Ascending. */
	const struct code_mapping *anonymous;
	uint32_t anonymous_count;
	struct arena arena;
};

/* Appends the text of the maps file of a process (maps_line.h); false if it cannot be read. */
bool maps_read_text(int pid, struct text *out);
/* Reads the mappings of a process; maps_release() when done. */
int maps_read(struct maps *m, int pid, struct err *e);
/* The same from the text of a maps file. Lines that cannot be parsed are left out. */
void maps_parse(struct maps *m, int pid, const char *text);
void maps_release(struct maps *m);

/* The module that has code at pc, or NULL. */
const struct mapped_module *maps_at(const struct maps *m, uint64_t pc);

/* Asks the kernel about single addresses of a process, without reading all of its mappings. Only
 * Linux 6.11 and later answer. */
enum maps_answer { MAPS_SAME, MAPS_OTHER, MAPS_UNKNOWN };
int maps_query_open(int pid); /* a descriptor, or -1 */
/* Whether this file is still mapped at pc, with this offset there. */
enum maps_answer maps_query(int fd, uint64_t pc, const struct mapped_module *file, uint64_t offset);

/* False if an open file, of which fstat() says this, is not the one that is mapped. True on file
 * systems where that cannot be told. */
bool maps_may_be_file(const struct mapped_module *mapped, const struct stat *st);

/* Returns a path, allocated in `a`, that opens exactly the file that is mapped, even if this is in
 * another root (container), deleted or replaced. NULL if there is none. Not for the vdso. */
const char *maps_find_file(struct arena *a, int pid, const struct mapped_module *mapped,
			   struct err *e);
/* Opens that file, or the vdso. */
int maps_open_module(struct module **out, const struct maps *m, const struct mapped_module *mapped,
		     struct err *e);

/* False if the address is not in the module's mapped code. */
bool maps_to_va(const struct mapped_module *mapped, const struct module *module, uint64_t pc,
		uint64_t *va);
bool maps_to_pc(const struct mapped_module *mapped, const struct module *module, uint64_t va,
		uint64_t *pc);
