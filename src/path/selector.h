/* Shared by the files that select functions: select.c by name and address, select_line.c by line;
 * select_near.c says what is wrong if nothing is found. */
#pragma once
#include "base/hashmap.h"
#include "module/debug.h"
#include "path/names.h"
#include "path/select.h"

/* A module and where it is mapped. */
struct mapped_code {
	struct code *code;
	uint64_t bias;
};

/* Debugging information of some code, opened when it is first needed. */
struct code_debug {
	struct debug *debug; /* NULL: there is none */
	bool tried;
	struct debug_unit *unit; /* the last one used */
	uint32_t unit_number;
};

/* The user's word, taken apart. */
struct wanted {
	const char *text;   /* all of it */
	const char *module; /* NULL: any */
	const char *file;   /* NULL: any */
	const char *name;   /* NULL: by line or address */
	uint32_t line;
	uint64_t address;
	bool by_address;
	struct name_pattern pattern;
};

struct selector {
	VEC(struct code_debug) sources;  /* by the code's id */
	VEC(struct mapped_code) modules; /* the program's own first */
	struct arena tmp;
	/* The current search. */
	int pid;
	struct space *space;
	struct wanted wanted;
	struct selection *out;
	struct hashmap seen;       /* what is selected already */
	const char *elsewhere;     /* the name was found, but in this file */
	const char *only_resolver; /* the name is that of an IFUNC which is not resolved */
};

struct debug *selector_debug(struct selector *s, struct code *c);
/* The unit at va, or NULL; valid until the next call. */
const struct debug_unit *selector_unit(struct selector *s, struct code *c, uint64_t va);

/* Whether `wanted` (a path, its end, or a glob) means the file. */
bool file_is_meant(const char *wanted, const char *path);
/* Adds a function or a loop, unless it is there already. */
void selector_add(struct selector *s, const struct selected *what);

/* Adds the loops around wanted.line. An error if the line is known but in no loop. */
int select_by_line(struct selector *s, const struct mapped_code *m, struct err *e);
/* Sets the error for a word that means nothing. */
int select_refuse(struct selector *s, struct err *e);
