/* Finds what the user means by a word such as
 *
 *	name   glob*   ns::name   file.c:name   file.c:40   module!any-of-these   0x1234
 *
 * in a process as it is now: functions of all mapped modules, the program's own first, and the
 * innermost loops around a line. Every match is measured separately. */
#pragma once
#include "base/vec.h"
#include "unwind/space.h"

struct selected {
	struct code *code;
	uint64_t va;                    /* start of the function */
	uint64_t loop;                  /* header of the loop, 0: the function itself */
	uint64_t bias;                  /* run-time address - va */
	const char *name;               /* of the function, readable */
	const char *file;               /* "" if not known */
	uint32_t first_line, last_line; /* of the loop; of a function where it begins, and 0 */
};

struct selection {
	VEC(struct selected) list;
	bool awaits_module; /* no mapped module has the name before the `!` */
	struct arena arena; /* for the names */
};

void selection_init(struct selection *s);
void selection_release(struct selection *s);

/* Keeps debugging information that it has opened. */
struct selector;

struct selector *selector_new(void);
/* To be called before the code is freed that was selected from. */
void selector_free(struct selector *s);

/* Adds everything that the word means. If there is nothing, the error suggests similar names. */
int selector_find(struct selector *s, int pid, struct space *space, const char *what,
		  struct selection *out, struct err *e);
