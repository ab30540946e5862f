/* Selects functions by a name, a glob over names, or an address that the user typed. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct choice {
	const char *pattern;   /* NULL selects everything */
	struct text overloads; /* the pattern followed by any parameter list */
	uint64_t address;
	bool by_address;
};

/* `pattern` is NULL, a name or glob, or an address with 0x. */
void choice_init(struct choice *c, const char *pattern);
void choice_release(struct choice *c);

/* True if either name, the demangled or the mangled one, matches. Both may be NULL. A pattern
 * without parentheses also matches a name followed by a parameter list; and the name may be the
 * short one that reports show: without template arguments, parameters and result. */
bool choice_has_name(const struct choice *c, const char *name, const char *linkage);
