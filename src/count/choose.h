/* Which modules the user wants counted. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `modules`: "main", "all", or names and patterns separated by commas, of which "main" may be one.
 */
struct count_choice {
	const char *modules;
	uint64_t matched; /* the set of words that chose something, of the first 64 */
};

bool count_chooses(struct count_choice *c, int pid, const char *path);
/* Whether a module can be chosen at all. */
bool count_may_choose(const char *path);
/* Why a module was not chosen. */
const char *count_why_not(const char *path);
/* The next word that chose nothing, from word number *at on; false if there is none. */
bool count_chose_nothing(const struct count_choice *c, uint32_t *at, char *word, size_t size);
