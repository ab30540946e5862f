/* The static view: everything measured in a procedure, loop or line, whoever called it, as one tree
 * image > file > procedure > inlined call > loop > line. What a recursive procedure spends is
 * counted once in its total. */
#pragma once
#include "profile/tree.h"

enum flat_kind { FLAT_IMAGE, FLAT_FILE, FLAT_PROCEDURE, FLAT_INLINE, FLAT_LOOP, FLAT_LINE };

struct flat_row {
	uint32_t parent, first_child, next; /* PROFILE_NONE if none */
	uint32_t scope;                     /* PROFILE_NONE for images and files */
	uint32_t image;
	const char *name; /* path of an image or file; otherwise as the scope's */
	uint8_t kind;     /* enum flat_kind */
	/* In its own code: of a procedure or inlined call with its loops and inlined calls; of a
	 * loop without inner loops; callees count in neither. What the kernel does for an
	 * instruction, waiting included, is the instruction's own. */
	uint64_t self, self_samples;
	/* With all that it calls, each sample once. */
	uint64_t total, total_samples;
};

struct flat {
	VEC(struct flat_row)
	rows; /* parents before children; children by total, largest first */
};

/* The tree must have been built with lines. */
void flat_build(struct flat *f, const struct tree *t);
void flat_release(struct flat *f);
