/* Names of parts. Code is named by source lines, processes and threads by their numbers and names,
 * objects by their variable, file or place. */
#pragma once
#include "diagnose/session.h"
#include "profile/places.h"

struct finding_names;

/* While the search runs, modules are opened a second time: the engine must not see the symbols that
 * come from debugging information. */
struct finding_names *names_new(const struct diagnosis *d, bool running);
void names_free(struct finding_names *n);

/* Recovers the source structure that is needed to name these parts: of code, and of the places
 * where objects were made. Call it once for all of them. When the search has ended, it is recovered
 * for all of the profile's code as well. */
void names_prepare(struct finding_names *n, const uint32_t *parts, uint32_t count);
/* What was recovered of a module of the profile, or NULL. */
const struct structure *names_structure(const struct finding_names *n, uint32_t module);

/* The name of a function or loop. */
struct code_name {
	const char *function; /* the innermost function around it, inlined ones included */
	const char *chain;    /* "main > relax": the function and the inlined calls in it */
	const char *file;     /* "" if unknown; without folders */
	const char *path;     /* the same with folders */
	uint32_t first_line, last_line; /* 0 if unknown */
	bool loop;
};
struct code_name names_code(struct finding_names *n, uint32_t part);
/* One component of a resource's path, of any hierarchy. */
const char *names_component(struct finding_names *n, uint32_t part);
/* The name of an object: "queue_lock", "0x55e0d9aedeb0 made in open_account (bank.c:31)",
 * "0x55e0d9aedeb0 used in deposit" */
const char *names_object(struct finding_names *n, uint32_t object);
/* "the loop matrix.c:31-34 of multiply", "multiply (matrix.c:28)" */
const char *names_sentence(struct finding_names *n, uint32_t part);
