/* What the user means by a word such as
 *
 *	name   glob*   ns::name   file.c:name   file.c:40   image!any-of-these   0x1234
 *
 * in a process as it is now: procedures of all images that are mapped, the program's own first, and
 * the innermost loops around a line. Every match is one of its own. */
#pragma once
#include "base/vec.h"
#include "unwind/space.h"

struct selected {
	struct code *code;
	uint64_t va;                    /* start of the procedure */
	uint64_t loop;                  /* header of the loop, 0: the procedure itself */
	uint64_t bias;                  /* run-time address - va */
	const char *name;               /* of the procedure, readable */
	const char *file;               /* "" if not known */
	uint32_t first_line, last_line; /* of the loop; of a procedure where it begins, and 0 */
};

struct selection {
	VEC(struct selected) list;
	bool awaits_image;  /* none that is mapped has the name before the `!` */
	struct arena arena; /* of the names */
};

void selection_init(struct selection *s);
void selection_release(struct selection *s);

/* Keeps debugging information that it has opened. */
struct selector;

struct selector *selector_new(void);
/* Before the codes that were selected from. */
void selector_free(struct selector *s);

/* Adds what is meant; an error with near matches if that is nothing. */
int selector_find(struct selector *s, int pid, struct space *space, const char *what,
		  struct selection *out, struct err *e);
