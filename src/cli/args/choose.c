#include "cli/args/choose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "profile/short_name.h"

static bool parse_address(const char *word, uint64_t *out)
{
	char *end;
	if (word[0] != '0' || word[1] != 'x' || !word[2])
		return false;
	errno = 0;
	*out = strtoull(word, &end, 16);
	return !*end && !errno;
}

void choice_init(struct choice *c, const char *pattern)
{
	*c = (struct choice){.pattern = pattern};
	if (!pattern)
		return;
	c->by_address = parse_address(pattern, &c->address);
	if (!strchr(pattern, '('))
		text_printf(&c->overloads, "%s(*", pattern);
}

void choice_release(struct choice *c)
{
	text_release(&c->overloads);
}

static bool has_bare_name(const struct choice *c, const char *name)
{
	struct text bare = TEXT_INIT;
	bare_name(&bare, name);
	bool has = bare.len && pattern_match(c->pattern, bare.data);
	text_release(&bare);
	return has;
}

bool choice_has_name(const struct choice *c, const char *name, const char *linkage)
{
	if (name && pattern_match(c->pattern, name))
		return true;
	if (name && c->overloads.data && pattern_match(c->overloads.data, name))
		return true;
	if (name && has_bare_name(c, name))
		return true;
	return linkage && pattern_match(c->pattern, linkage);
}
