#include "base/pattern.h"

#include <stddef.h>
#include <string.h>

/* Matches `c` against the set that begins after a `[`. Returns the rest of the pattern after the
 * set, or NULL if the set is not closed: the `[` is then an ordinary character. */
static const char *match_set(const char *p, unsigned char c, bool *matched)
{
	bool negated = *p == '!' || *p == '^', found = false;
	p += negated;
	for (bool first = true; *p && (first || *p != ']'); first = false) {
		unsigned char low = (unsigned char)*p++, high = low;
		if (p[0] == '-' && p[1] && p[1] != ']') {
			high = (unsigned char)p[1];
			p += 2;
		}
		found |= low <= c && c <= high;
	}
	if (*p != ']')
		return NULL;
	*matched = found != negated;
	return p + 1;
}

/* Matches one character. Returns the rest of the pattern, or NULL if `c` does not match. */
static const char *match_one(const char *p, char c)
{
	if (*p == '?')
		return p + 1;
	if (*p == '[') {
		bool matched = false;
		const char *rest = match_set(p + 1, (unsigned char)c, &matched);
		if (rest)
			return matched ? rest : NULL;
	}
	if (*p == '\\' && p[1])
		p++;
	return *p == c ? p + 1 : NULL;
}

/* On a mismatch only the latest `*` need take one more character: an earlier one taking more could
 * not reach anything that the latest cannot. So there is no recursion and no exponential case. */
static bool match(const char *p, const char *s)
{
	const char *star = NULL, *star_at = NULL;
	for (;;) {
		if (*p == '*') {
			star = ++p;
			star_at = s;
			continue;
		}
		if (!*s && !*p)
			return true;
		const char *rest = *s && *p ? match_one(p, *s) : NULL;
		if (rest) {
			p = rest;
			s++;
			continue;
		}
		if (!star || !*star_at)
			return false;
		p = star;
		s = ++star_at;
	}
}

bool pattern_match(const char *pattern, const char *name)
{
	return match(pattern, name) || !strcmp(pattern, name);
}
