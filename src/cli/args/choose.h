/* Choosing procedures by what the user typed: a name, a glob over names, or an address. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct choice {
	const char *pattern;   /* NULL chooses everything */
	struct text overloads; /* the pattern with any parameter list behind it */
	uint64_t address;
	bool by_address;
};

/* `pattern` may be NULL, a glob, or an address with 0x. */
void choice_init(struct choice *c, const char *pattern);
void choice_release(struct choice *c);

/* True if either name, the readable or the mangled one, matches. Both may be NULL. A pattern
 * without parentheses also matches names with a parameter list behind what it matches. */
bool choice_has_name(const struct choice *c, const char *name, const char *linkage);
