#include "path/names.h"

#include <string.h>

#include "base/pattern.h"
#include "module/demangle.h"
#include "profile/short_name.h"

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* The last word of the name itself, which mangled names contain as it is. That does not hold for
 * `operator+`, nor for names that mangling abbreviates (std). */
static void find_part(struct name_pattern *p)
{
	size_t end = strcspn(p->pattern, "(<"), start = end;
	while (start && is_word(p->pattern[start - 1]))
		start--;
	bool glob = start && strchr("*?]\\", p->pattern[start - 1]);
	if (glob || strpbrk(p->pattern, "[\\") || strstr(p->pattern, "operator"))
		return;
	text_addn(&p->part, p->pattern + start, end - start);
}

void name_pattern_init(struct name_pattern *p, const char *pattern)
{
	*p = (struct name_pattern){.pattern = pattern};
	if (!strchr(pattern, '('))
		text_printf(&p->overloads, "%s(*", pattern);
	find_part(p);
}

void name_pattern_release(struct name_pattern *p)
{
	text_release(&p->overloads);
	text_release(&p->part);
}

/* The length of a symbol without the suffix of the compiler. */
static size_t base_length(const char *symbol)
{
	size_t n = strcspn(symbol, ".");
	return n ? n : strlen(symbol);
}

/* The length of an operator's name at s; 0 if there is none. */
static size_t operator_length(const char *s)
{
	size_t n = strlen("operator");
	if (strncmp(s, "operator", n) != 0 || is_word(s[n]))
		return 0;
	size_t signs = strspn(s + n, "<>=!+-*/%^&|~[],");
	if (signs)
		return n + signs;
	return !strncmp(s + n, "()", 2) ? n + 2 : n + strcspn(s + n, "(<");
}

/* Where a readable name itself begins and ends: after its result, before its parameters. */
static void find_bare(const char *s, size_t *start, size_t *end)
{
	static const char anonymous[] = "(anonymous namespace)";
	unsigned depth = 0;
	size_t i = 0, begin = 0;
	while (s[i]) {
		size_t whole = depth ? 0 : operator_length(s + i);
		if (!whole && !depth && !strncmp(s + i, anonymous, strlen(anonymous)))
			whole = strlen(anonymous);
		if (whole) {
			i += whole;
			continue;
		}
		if (!depth && s[i] == '(')
			break;
		depth += s[i] == '<' || s[i] == '{' || s[i] == '(';
		depth -= depth && (s[i] == '>' || s[i] == '}' || s[i] == ')');
		i++;
		if (!depth && s[i - 1] == ' ' && s[i] != '<') /* not as in "operator<< <char>" */
			begin = i;
	}
	*start = begin;
	*end = i;
}

static size_t without_arguments(const char *s, size_t start, size_t end)
{
	unsigned depth = 0;
	for (size_t i = end; i > start && s[end - 1] == '>' && i - start > 1; i--) {
		depth += s[i - 1] == '>';
		depth -= s[i - 1] == '<';
		if (!depth)
			return i - 1 > start ? i - 1 : end;
	}
	return end;
}

const char *name_bare(struct arena *a, const char *readable, bool templates)
{
	size_t start, end;
	find_bare(readable, &start, &end);
	if (!templates && !strstr(readable, "operator"))
		end = without_arguments(readable, start, end);
	return end > start ? arena_strndup(a, readable + start, end - start) : readable;
}

/* By the short name that reports show. */
static bool shown_matches(const struct name_pattern *p, const char *readable)
{
	struct text shown = TEXT_INIT;
	bare_name(&shown, readable);
	bool matches = shown.len && pattern_match(p->pattern, shown.data);
	text_release(&shown);
	return matches;
}

static bool readable_matches(const struct name_pattern *p, const char *readable, struct arena *tmp)
{
	return pattern_match(p->pattern, readable) ||
	       (p->overloads.data && pattern_match(p->overloads.data, readable)) ||
	       pattern_match(p->pattern, name_bare(tmp, readable, true)) ||
	       pattern_match(p->pattern, name_bare(tmp, readable, false)) ||
	       shown_matches(p, readable);
}

bool name_matches(const struct name_pattern *p, const char *symbol, struct arena *tmp)
{
	size_t n = base_length(symbol);
	if (strstr(symbol + n, ".cold"))
		return false;
	if (pattern_match(p->pattern, symbol))
		return true;
	if (p->part.len && !strstr(symbol, p->part.data))
		return false;
	const char *base = symbol[n] ? arena_strndup(tmp, symbol, n) : symbol;
	if (symbol[n] && pattern_match(p->pattern, base))
		return true;
	const char *readable = demangle(tmp, base);
	return readable != base && readable_matches(p, readable, tmp);
}

const char *name_readable(struct arena *a, const char *symbol)
{
	size_t n = base_length(symbol);
	const char *base = arena_strndup(a, symbol, n);
	const char *name = short_name(a, demangle(a, base));
	return symbol[n] ? arena_printf(a, "%s%s", name, symbol + n) : name;
}
