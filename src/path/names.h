/* Names of functions as people write them, and which symbols they mean. */
#pragma once
#include <stdbool.h>

#include "base/arena.h"
#include "base/text.h"

struct name_pattern {
	const char *pattern;   /* a name or a glob, readable or mangled */
	struct text overloads; /* the pattern followed by any parameter list */
	struct text part; /* a part of every mangled name that can match; empty if none is known */
};

void name_pattern_init(struct name_pattern *p, const char *pattern);
void name_pattern_release(struct name_pattern *p);

/* Whether a symbol (mangled, perhaps with a suffix of the compiler) is meant: `f` means every
 * overload and every instance of a template, and the copies that the compiler made of it
 * (f.constprop.0). Code that was split off (f.cold) is not a function, and is never meant. */
bool name_matches(const struct name_pattern *p, const char *symbol, struct arena *tmp);

/* The readable name of a symbol, in `a`. */
const char *name_readable(struct arena *a, const char *symbol);
/* The same without result and parameters, and with `templates` false without their arguments. */
const char *name_bare(struct arena *a, const char *readable, bool templates);
