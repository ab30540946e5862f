/* The flat view: everything measured in a function, loop or line, over all its callers, as one
 * tree: module > file > function > inlined call > loop > line. In the total of a recursive
 * function each sample counts once. */
#pragma once
#include "profile/tree.h"

enum flat_kind { FLAT_MODULE, FLAT_FILE, FLAT_FUNCTION, FLAT_INLINE, FLAT_LOOP, FLAT_LINE };

struct flat_row {
	uint32_t parent, first_child, next; /* PROFILE_NONE if none */
	uint32_t scope;                     /* PROFILE_NONE for modules and files */
	uint32_t module;
	const char *name; /* path of a module or file; otherwise the scope's name */
	uint8_t kind;     /* enum flat_kind */
	/* Measured in its own code, without callees. The code of a function or inlined call
	 * includes its loops and inlined calls; the code of a loop excludes inner loops. Work of
	 * the kernel for an instruction, including blocked time, counts for the instruction. */
	uint64_t self, self_samples;
	/* With callees; each sample counts once. */
	uint64_t total, total_samples;
};

struct flat {
	/* Parents before children; children by total, largest first. */
	VEC(struct flat_row) rows;
};

/* The tree must have been built with lines. */
void flat_build(struct flat *f, const struct tree *t);
void flat_release(struct flat *f);
