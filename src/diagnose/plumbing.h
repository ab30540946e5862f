/* Plumbing is code that all waits go through: the C library, thread and message-passing libraries
 * and, in programs that have these linked in, their best known functions. A program waits where its
 * own code calls plumbing. */
#pragma once
#include "diagnose/code.h"

bool is_plumbing(struct code_parts *c, uint32_t part);
/* True if the function at va is plumbing. */
bool is_plumbing_at(const struct code *code, uint64_t va);
/* Libraries whose own functions are of no interest, but which one the program has called is. */
enum runtime {
	RUNTIME_NONE,
	RUNTIME_TEAM, /* of OpenMP: it runs teams of threads (teams.h) */
	RUNTIME_GPU,  /* drives a GPU or the like */
};
enum runtime runtime_of(const struct code *code);
/* True if the function of the part waits by spinning, without the kernel. */
bool is_spinning(struct code_parts *c, uint32_t part);
