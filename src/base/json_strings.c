#include "base/json_strings.h"

#include <stdio.h>
#include <string.h>

/* `at` is behind the opening quote; returns the place of the closing one, or of the end. */
static const char *end_of_string(const char *at)
{
	while (*at && *at != '"')
		at += at[0] == '\\' && at[1] ? 2 : 1;
	return at;
}

static bool is_key(const char *after)
{
	return after[strspn(after, " \t\r\n")] == ':';
}

void json_each_string(const char *text, json_on_string on, void *ctx)
{
	char key[64] = "", value[256];
	unsigned depth = 0;
	for (const char *at = text; *at; at++) {
		depth += *at == '{' || *at == '[';
		depth -= depth && (*at == '}' || *at == ']');
		if (*at != '"')
			continue;
		const char *begin = at + 1;
		at = end_of_string(begin);
		if (!*at)
			return;
		if (is_key(at + 1)) {
			snprintf(key, sizeof(key), "%.*s", (int)(at - begin), begin);
			continue;
		}
		snprintf(value, sizeof(value), "%.*s", (int)(at - begin), begin);
		if (!on(ctx, depth, key, value))
			return;
	}
}
